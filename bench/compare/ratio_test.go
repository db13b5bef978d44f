package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"birthmark/internal/testseed"
)

func TestRatioOfRounds(t *testing.T) {
	for _, c := range []struct {
		old, new []float64
		higher   bool
		mean     float64
		verdict  Verdict
	}{
		{[]float64{10}, []float64{5}, false, 2, Unknown},
		{[]float64{10}, []float64{5}, true, 0.5, Unknown},
		{[]float64{10, 20, 40}, []float64{5, 10, 20}, false, 2, Better},
		{[]float64{10, 20, 40}, []float64{5, 10, 20}, true, 0.5, Worse},
		{[]float64{7, 8, 9}, []float64{7, 8, 9}, true, 1, Equal},
		{[]float64{10, 10, 10, 10}, []float64{8, 12.5, 8, 12.5}, false, 1, Unknown},
		{[]float64{0, 10}, []float64{5, 5}, false, 2, Unknown}, // one round remains
		{[]float64{0}, []float64{0}, false, 0, Missing},
		{nil, nil, false, 0, Missing},
	} {
		r := Of(c.old, c.new, c.higher)
		if math.Abs(r.Mean-c.mean) > 1e-9 || r.Verdict() != c.verdict {
			t.Errorf("%v, %v: %+v %s, expected %v %s", c.old, c.new, r, r.Verdict(), c.mean, c.verdict)
		}
	}
	// The interval by hand: logs ln 2 and ln 4, mean 1.5 ln 2, standard error ln 2 / 2.
	r := Of([]float64{2, 4}, []float64{1, 1}, false)
	around := 12.706 * math.Ln2 / 2
	low, high := math.Exp(1.5*math.Ln2-around), math.Exp(1.5*math.Ln2+around)
	if math.Abs(r.Low/low-1) > 1e-9 || math.Abs(r.High/high-1) > 1e-9 {
		t.Errorf("%+v, expected %v to %v", r, low, high)
	}
}

// Load that hits both programs of a round alike does not change the ratio, and exchanging the programs inverts it.
func TestRatioIgnoresTheSpeedOfARound(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.New(t), 0))
	for range 200 {
		n := 1 + rng.IntN(40)
		old, new, slowOld, slowNew := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			old[i], new[i] = 1+rng.Float64(), 1+rng.Float64()
			slow := 1 + 10*rng.Float64()
			slowOld[i], slowNew[i] = slow*old[i], slow*new[i]
		}
		r, s, back := Of(old, new, false), Of(slowOld, slowNew, false), Of(new, old, false)
		for _, pair := range [][2]float64{{r.Mean, s.Mean}, {r.Low, s.Low}, {r.High, s.High}, {r.Mean * back.Mean, 1}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*math.Max(1, pair[1]) {
				t.Fatalf("%v, expected %v (%+v, %+v, %+v)", pair[0], pair[1], r, s, back)
			}
		}
		if n > 1 && !(r.Low <= r.Mean && r.Mean <= r.High) {
			t.Fatalf("%+v", r)
		}
	}
}
