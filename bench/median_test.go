package bench

import (
	"reflect"
	"testing"
	"time"
)

func TestMedianOfEachFigure(t *testing.T) {
	run := func(f float64) *Result {
		return &Result{
			Txs: 10, TxsPerSecond: f, SettledTxsPerSecond: 2 * f, BlocksPerSecond: -f, EntitiesPerSecond: f, CPUMicrosPerTx: 100 - f, RowsPerTx: 5,
			BytesPerTx: f, PeakRSS: int64(f), Stages: map[string]float64{"write": f, "read": -f}, Quarters: [4]float64{f, -f, f, 1},
			BytesWrittenPerTx: 3 * f, BytesReadPerTx: f, ReadsPerTx: f / 2, LookupsPerTx: -f, CacheMissesPerTx: map[string]float64{"outputs": f},
		}
	}
	if got := Median([]*Result{run(9), run(1), run(3)}); !reflect.DeepEqual(got, run(3)) {
		t.Errorf("of three: %+v", got)
	}
	if got := Median([]*Result{run(2), run(4)}); !reflect.DeepEqual(got, run(3)) {
		t.Errorf("of two: %+v", got)
	}
	mixed := []*Result{run(1), run(2), run(3)}
	mixed[0].BytesPerTx = 50
	if got := Median(mixed); got.BytesPerTx != 3 || got.TxsPerSecond != 2 {
		t.Errorf("mixed: %+v", got)
	}
	one := run(7)
	if Median([]*Result{one}) != one {
		t.Error("the median of one run differs from the run")
	}
}

func TestLatencies(t *testing.T) {
	if got := Percentiles(nil, 1); got != (Latencies{}) {
		t.Errorf("of none: %+v", got)
	}
	if got := Percentiles([]time.Duration{7 * time.Millisecond}, time.Microsecond); got != (Latencies{1, 7000, 7000, 7000, 7000}) {
		t.Errorf("of one: %+v", got)
	}
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration((i*7)%200+1)*time.Second)
	}
	if got := Percentiles(took, time.Second); got != (Latencies{200, 100, 180, 198, 200}) {
		t.Errorf("of 1 to 200: %+v", got)
	}
}
