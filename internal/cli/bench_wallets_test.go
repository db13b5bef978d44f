package cli

import (
	"slices"
	"strings"
	"testing"

	"birthmark/bench"
	"birthmark/bench/benchcmd"
)

// Every kind of request is answered from a generated database that has what the protocols need.
func TestBenchWalletProtocols(t *testing.T) {
	slow(t)
	t.Parallel()
	ordinary := slices.DeleteFunc(bench.ElectrumKinds(), func(kind string) bool { return strings.HasSuffix(kind, "_long") })
	for protocol, kinds := range map[string][]string{
		"esplora": bench.EsploraKinds(), "electrum": ordinary, "electrum --no-cache": {"electrum_history", "electrum_status"},
	} {
		var a benchcmd.ServeAnswer
		ask(t, &a, benchTo(t, protocol+" --txs 1500 --block-txs 50 --samples 30 --connections 8 --seconds 1 --rps 400 --mix "+strings.Join(kinds, ","))...)
		checkLoad(t, protocol, &a.LoadAnswer)
		if len(a.Kinds) != len(kinds) {
			t.Errorf("%s: %v", protocol, a.Kinds)
		}
		for kind, of := range a.Kinds {
			if of.Count == 0 {
				t.Errorf("no answers of %s", kind)
			}
		}
		x := a.Indexes["script_hash"]
		if !x.Balance || !x.History || !x.Unspent {
			t.Errorf("%s: index script_hash: %+v", protocol, x)
		}
	}
}

// Every client is notified of every block.
func TestBenchNotifications(t *testing.T) {
	slow(t)
	t.Parallel()
	var a benchcmd.NotifyAnswer
	ask(t, &a, benchTo(t, "electrum --notify --txs 3000 --block-txs 50 --unconfirmed 200 --connections 5 --subscriptions 40 --blocks 2")...)
	if a.Unconfirmed != 200 || a.Clients != 5 || a.Subscriptions != 200 || a.Txs < 2000 || a.Txs > 2900 || len(a.Blocks) != 2 {
		t.Fatalf("%+v", a.Result)
	}
	for i, b := range a.Blocks {
		if b.Headers.Count != 5 || b.Statuses.Count == 0 || b.Txs < 2 || !rising(b.Headers) || !rising(b.Statuses) || !(b.Append > 0) {
			t.Errorf("block %d: %+v", i, b)
		}
	}
	wantFailure(t, exitUsage, "bad_value", `^--subscriptions needs --notify`, "bench", "electrum", "--subscriptions", "5")
	wantFailure(t, exitUsage, "bad_value", `^--notify and --rps cannot be combined`, "bench", "electrum", "--notify", "--rps", "5")
}
