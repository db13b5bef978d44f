package compare

import "math"

// Ratio is how much better the new program is than the old one: 2 is twice as fast, or half the CPU time.
type Ratio struct {
	Mean float64 `json:"ratio"`
	Low  float64 `json:"low"` // of the 95% confidence interval; 0 with one round, which has no interval
	High float64 `json:"high"`
}

// Verdict is the conclusion from an interval.
type Verdict string

// The verdicts of a [Ratio].
const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Equal   Verdict = "equal"   // all measurements of both programs are equal
	Unknown Verdict = "unknown" // the interval contains 1, or there was one round
	Missing Verdict = "missing" // no round has the figure of both programs
)

// Of returns the ratio of figures, which belong together by round. If higher is set, larger figures are better. Rounds
// with a figure that is not positive have no ratio and are left out; the ratio is 0 if none has one.
func Of(old, new []float64, higher bool) Ratio {
	var logs []float64
	for i := range old {
		if !(old[i] > 0) || !(new[i] > 0) {
			continue
		}
		l := math.Log(old[i] / new[i])
		if higher {
			l = -l
		}
		logs = append(logs, l)
	}
	n := float64(len(logs))
	if n == 0 {
		return Ratio{}
	}
	mean, squares := 0.0, 0.0
	for _, l := range logs {
		mean += l / n
	}
	if len(logs) == 1 {
		return Ratio{Mean: math.Exp(mean)}
	}
	for _, l := range logs {
		squares += (l - mean) * (l - mean)
	}
	around := student(len(logs)-1) * math.Sqrt(squares/(n-1)/n)
	return Ratio{math.Exp(mean), math.Exp(mean - around), math.Exp(mean + around)}
}

// Verdict returns the conclusion from the interval of r.
func (r Ratio) Verdict() Verdict {
	switch {
	case r.Mean == 0:
		return Missing
	case r.Low == 0:
		return Unknown
	case r.Low == 1 && r.High == 1:
		return Equal
	case r.Low > 1:
		return Better
	case r.High < 1:
		return Worse
	}
	return Unknown
}

// quantiles are the 97.5% quantiles of Student's t distribution with 1, 2, … degrees of freedom.
var quantiles = []float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
	2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// student returns the 97.5% quantile of the distribution with a number of degrees of freedom. Above 30 it is that of
// 30, which is at most 5% too large.
func student(freedom int) float64 { return quantiles[min(freedom, len(quantiles))-1] }
