package electrum_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/electrum"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
)

// answered counts the answers to a method.
type answered struct {
	electrum.Observer
	method string
	n      atomic.Int32
}

func (o *answered) Answered(method string, _ int, _ time.Duration) {
	if method == o.method {
		o.n.Add(1)
	}
}

// Long answers wait for a place, of which there are a few: 400 clients that request them at the same time do not delay
// short answers.
func TestOnlyLongAnswersWait(t *testing.T) {
	const method = "blockchain.scripthash.get_history"
	o, opts := &answered{Observer: &observer{}, method: method}, limits()
	opts.LongAnswers, opts.Observer = 1, o
	w := newWorld(t, testseed.Rand(t), opts)
	long, short := w.miner.scripts[0], w.miner.scripts[1]
	w.miner.chain.PayTo = short
	made := []*wire.MsgTx{bitcointest.Spend(w.miner.chain.Mine().Transactions[0], 0, wire.NewTxOut(1000, long))}
	for len(made) < 2000 { // each spends the one before
		made = append(made, bitcointest.Spend(made[len(made)-1], 0, wire.NewTxOut(1000, long)))
	}
	w.miner.chain.Mine(made...)
	w.sync()
	release := w.server.HoldPlaces()
	waiting, other := connect(t, w.addr), connect(t, w.addr)
	waiting.send(`{"id":1,"method":%q,"params":[%q]}`, method, scriptHash(long))
	for range 50 {
		var balance map[string]any
		if code := other.call(&balance, "blockchain.scripthash.get_balance", scriptHash(short)); code != 0 {
			t.Fatalf("a short answer has error %d", code)
		}
	}
	time.Sleep(200 * time.Millisecond) // enough to read a long answer
	if n := o.n.Load(); n > 0 {
		t.Errorf("%d long answers without a place", n)
	}
	release()
	waiting.line()
	var history []map[string]any
	if code := other.call(&history, method, scriptHash(long)); code != 0 || len(history) != len(made) {
		t.Errorf("after the release: error %d, %d transactions", code, len(history))
	}
}
