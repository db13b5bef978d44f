package served

import (
	"testing"
	"time"

	"birthmark/core"
	"birthmark/model"
)

func at(d time.Duration) core.Progress {
	return core.Progress{Elapsed: d, Height: model.HeightPk(d / time.Second), TxsPerSecond: d.Seconds()}
}

// The samples cover the whole sync evenly, and their number is bounded.
func TestRatesReachFromTheBeginningToNow(t *testing.T) {
	const every = 200 * time.Millisecond
	for _, long := range []time.Duration{0, time.Second, time.Minute, 10 * time.Minute, 5 * time.Hour} {
		var r Rates
		for d := time.Duration(0); d <= long; d += every {
			r.Add(at(d))
		}
		all := r.All()
		apart := max(firstInterval, 2*long/maxRates+firstInterval)
		if len(all) == 0 || len(all) > maxRates || all[0].Elapsed != 0 {
			t.Fatalf("%v: %d moments", long, len(all))
		}
		for i := 1; i < len(all); i++ {
			if gap := all[i].Elapsed - all[i-1].Elapsed; gap < firstInterval || gap > 2*apart {
				t.Errorf("%v: %v between moments %d and %d", long, gap, i-1, i)
			}
		}
		last := all[len(all)-1]
		if long-last.Elapsed > 2*apart || last.TxsPerSecond != last.Elapsed.Seconds() || last.Height != uint32(last.Elapsed/time.Second) {
			t.Errorf("%v: the last moment is %+v", long, last)
		}
	}
}

func TestRatesOfARestartedSync(t *testing.T) {
	var r Rates
	for _, d := range []time.Duration{0, 5 * time.Second, 9 * time.Second} {
		r.Add(at(d))
	}
	r.Add(at(time.Second))
	done := at(8 * time.Second)
	done.Done = true
	r.Add(done)
	if all := r.All(); len(all) != 1 || all[0].Elapsed != time.Second {
		t.Errorf("samples %+v, expected one after a second", all)
	}
	var none *Rates
	none.Add(at(0))
	if none.All() != nil {
		t.Error("a nil Rates has samples")
	}
}
