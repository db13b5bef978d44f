package electrum

import (
	"encoding/json"
	"slices"
	"testing"

	"birthmark/api/compat/wallet"
	"birthmark/api/jsonappend"
	"birthmark/internal/testseed"
)

func TestHistogram(t *testing.T) {
	for _, c := range []struct {
		rates []wallet.Rate
		want  string
	}{
		{nil, "[]"},
		{[]wallet.Rate{{PerVByte: 12.34, VSize: 5}}, "[[12.3,5]]"},
		{[]wallet.Rate{{PerVByte: 9, VSize: 100_000}, {PerVByte: 8, VSize: 1}, {PerVByte: 8, VSize: 2}, {PerVByte: 0.19, VSize: 3}},
			"[[8.0,100003],[0.1,3]]"},
		{[]wallet.Rate{{PerVByte: 9, VSize: 100_001}, {PerVByte: 9, VSize: 7}, {PerVByte: 1, VSize: 110_000}, {PerVByte: 0.5, VSize: 1}},
			"[[9.0,100008],[0.5,110001]]"},
	} {
		if got := string(jsonappend.Append(nil, histogramOf(slices.Values(c.rates)))); got != c.want {
			t.Errorf("%v: %s, expected %s", c.rates, got, c.want)
		}
	}
}

// Rates strictly fall, no size is lost, and each bin but the last is full.
func TestHistogramOfManyTransactions(t *testing.T) {
	rng := testseed.Rand(t)
	var rates []wallet.Rate
	total := uint64(0)
	for rate := 300.0; rate > 0.05; rate *= 0.999 {
		r := wallet.Rate{PerVByte: rate, VSize: 100 + rng.Uint64N(5000)}
		rates, total = append(rates, r), total+r.VSize
	}
	var bins [][2]float64
	if err := json.Unmarshal(jsonappend.Append(nil, histogramOf(slices.Values(rates))), &bins); err != nil {
		t.Fatal(err)
	}
	sum, least := 0.0, float64(firstBin)
	for i, b := range bins {
		if i > 0 && b[0] >= bins[i-1][0] {
			t.Errorf("rate %v after %v", b[0], bins[i-1][0])
		}
		if sum += b[1]; b[1] <= least && i < len(bins)-1 {
			t.Errorf("bin %d has %v, expected more than %v", i, b[1], least)
		}
		least *= binGrowth
	}
	if uint64(sum) != total || len(bins) < 10 {
		t.Errorf("%d bins of %v vbytes, expected %d", len(bins), sum, total)
	}
}
