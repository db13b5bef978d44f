package electrum_test

import (
	"context"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/electrum"
	"birthmark/api/compat/wallet"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
)

// Only the hash of a long history without a midstate waits for a place among the scans.
func TestOnlyLongScansWait(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), electrum.Options{Limits: electrum.Limits{ConcurrentScans: 1}})
	long, short := w.miner.scripts[0], w.miner.scripts[1]
	w.miner.chain.PayTo = short
	coinbase := w.miner.chain.Mine().Transactions[0]
	// A chain of 10,001 transactions, each of which spends the one before.
	const txs = 10_001
	made := []*wire.MsgTx{bitcointest.Spend(coinbase, 0, wire.NewTxOut(1000, long))}
	for len(made) < txs {
		made = append(made, bitcointest.Spend(made[len(made)-1], 0, wire.NewTxOut(1000, long)))
	}
	w.miner.chain.Mine(made...)
	w.sync()
	c := wallet.New(w.served)
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that a wait fails at once
	status := func(ctx context.Context, script []byte, mid *wallet.Midstate) (next *wallet.Midstate, failed error) {
		err := c.View(t.Context(), func(v *wallet.View) error {
			next, failed = w.server.Status(ctx, v, wallet.KeyOf(script), mid)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return next, failed
	}
	mid, err := status(t.Context(), long, nil)
	if err != nil || mid == nil {
		t.Fatalf("with a free place: %v", err)
	}
	release := w.server.HoldScans()
	if _, err := status(ended, long, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a long history without a place: %v", err)
	}
	if _, err := status(ended, long, mid); err != nil {
		t.Errorf("a long history with a midstate: %v", err)
	}
	if _, err := status(ended, short, nil); err != nil {
		t.Errorf("a short history: %v", err)
	}
	release()
	if _, err := status(t.Context(), long, nil); err != nil {
		t.Errorf("after the release: %v", err)
	}
}
