package cli

import (
	"testing"

	"birthmark/bench"
	"birthmark/internal/cli/benchcmd"
)

// Every kind of request is answered from a generated database that has what the API needs.
func TestBenchEsplora(t *testing.T) {
	slow(t)
	t.Setenv(asProgram, "-1")
	mix := ""
	for _, kind := range bench.EsploraKinds() {
		mix += "," + kind
	}
	var a benchcmd.ServeAnswer
	ask(t, &a, benchTo(t, "esplora --txs 1500 --block-txs 50 --samples 30 --connections 8 --seconds 1 --mix "+mix[1:])...)
	checkLoad(t, "esplora", &a.LoadAnswer)
	if len(a.Kinds) != len(bench.EsploraKinds()) {
		t.Errorf("%v", a.Kinds)
	}
	for kind, of := range a.Kinds {
		if of.Count == 0 {
			t.Errorf("no answers of %s", kind)
		}
	}
	x := a.Indexes["script_hash"]
	if !x.Balance || !x.History || !x.Unspent {
		t.Errorf("index script_hash: %+v", x)
	}
}
