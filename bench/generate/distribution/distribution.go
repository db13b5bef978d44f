package distribution

import "math"

// Spans are how often there are how many of something. Each span is a share of the draws, the least number that falls to
// it, at least 1, and the greatest: evenly in their logarithms. Shares sum up to 1.
type Spans [][3]float64

// Draw is a number of one of the spans.
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

// LogNormal is what is as often so many times more than the median as so many times less: the age of what is spent.
type LogNormal struct {
	Median float64
	Sigma  float64 // of the logarithm
}

// Draw is above 0.
func (l LogNormal) Draw(r Random) float64 { return l.Median * math.Exp(l.Sigma*r.NormFloat64()) }

// Zipf is how often each of the most used is: the one of rank n, from 1, as n to the power of Flat-1.
type Zipf struct {
	Size int     // ranks
	Flat float64 // from 0, not included, where the first is used most by far, to 1, where all are used the same
}

// Draw is a rank less one: from 0, the most used.
func (z Zipf) Draw(r Random) int {
	most := math.Pow(float64(z.Size+1), z.Flat) - 1
	return min(int(math.Pow(1+most*r.Float64(), 1/z.Flat)), z.Size) - 1
}
