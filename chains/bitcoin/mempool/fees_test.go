package mempool_test

import (
	"maps"
	"testing"

	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// Estimates are requested in one batch, are cached, and never rise with the target.
func TestEstimatesNeverRiseWithTheTarget(t *testing.T) {
	n := coretest.Start(t)
	n.SetEstimates(map[int]float64{2: 0.0003, 3: 0.0002, 6: 0.00025, 144: 0.00001234, 7: 0.0001})
	src := open(t, n.URL())
	ask := func(mode string, targets ...int) map[int]float64 {
		t.Helper()
		return must[map[int]float64](t)(src.EstimateFees(t.Context(), targets, mode))
	}
	want := map[int]float64{2: 30_000, 3: 20_000, 6: 20_000, 144: 1234}
	if got := ask("", 1, 2, 3, 6, 144, 1008); !maps.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if c := n.Calls("estimatesmartfee"); c != 28 {
		t.Errorf("%d calls of estimatesmartfee", c)
	}
	if got := ask("", 7, 2); !maps.Equal(got, map[int]float64{7: 10_000, 2: 30_000}) || n.Calls("estimatesmartfee") != 28 {
		t.Errorf("%v after %d requests", got, n.Calls("estimatesmartfee"))
	}
	if got := ask("", 100); len(got) != 0 || n.Calls("estimatesmartfee") != 29 {
		t.Errorf("%v after %d requests", got, n.Calls("estimatesmartfee"))
	}
	if got := ask("CONSERVATIVE", 2); got[2] != 30_000 || n.Calls("estimatesmartfee") != 57 {
		t.Errorf("%v after %d requests", got, n.Calls("estimatesmartfee"))
	}
	for _, target := range []int{0, -1, 1009} {
		_, err := src.EstimateFees(t.Context(), []int{target}, "")
		wantError(t, err, model.Usage, "bad_value", "")
	}
	_, err := src.EstimateFees(t.Context(), []int{2}, "cheap")
	wantError(t, err, model.Usage, "bad_value", "invalid mode of fee estimates: expected economical, conservative or unset")

	least := must[model.MinimumFees](t)(src.MinimumFees(t.Context()))
	if least != (model.MinimumFees{Mempool: 1000, Relay: 1000, Increment: 1000}) {
		t.Errorf("%+v", least)
	}
	n.Set(func(f *coretest.Faults) { f.Starting = "Loading wallet…" })
	_, err = open(t, n.URL()).EstimateFees(t.Context(), []int{2}, "")
	wantError(t, err, model.BadSource, "starting", "")
	n.Set(func(f *coretest.Faults) { f.Starting, f.Lacks = "", []string{"estimatesmartfee"} })
	_, err = open(t, n.URL()).EstimateFees(t.Context(), []int{2}, "")
	wantError(t, err, model.NotFound, "unsupported", "")
}
