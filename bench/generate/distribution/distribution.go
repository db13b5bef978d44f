package distribution

import "math"

// Spans are a distribution of counts. Each span has a share of the draws, a minimum of at least 1, and a maximum;
// counts are uniform in their logarithms. Shares sum up to 1.
type Spans [][3]float64

// Draw returns a number of one of the spans.
func (s Spans) Draw(r Random) int {
	u := r.Float64()
	for _, span := range s {
		share, from, to := span[0], span[1], span[2]
		if u < share {
			return int(min(from*math.Pow((to+1)/from, u/share), to))
		}
		u -= share
	}
	return int(s[len(s)-1][2])
}

// LogNormal is the log-normal distribution: the age of spent outputs.
type LogNormal struct {
	Median float64
	Sigma  float64 // of the logarithm
}

// Draw returns a number above 0.
func (l LogNormal) Draw(r Random) float64 { return l.Median * math.Exp(l.Sigma*r.NormFloat64()) }

// Zipf is the distribution of uses over ranks: that of rank n, from 1, is proportional to n to the power of Flat-1.
type Zipf struct {
	Size int     // ranks
	Flat float64 // above 0 (the first rank dominates) up to 1 (uniform)
}

// Draw returns a rank minus one: 0 is the most used.
func (z Zipf) Draw(r Random) int {
	most := math.Pow(float64(z.Size+1), z.Flat) - 1
	return min(int(math.Pow(1+most*r.Float64(), 1/z.Flat)), z.Size) - 1
}
