package wallet_test

import (
	"sync/atomic"
	"testing"

	"birthmark/api/compat/wallet"
	"birthmark/core/meter"
)

// payer counts the points of a client.
type payer struct{ points atomic.Int64 }

func (p *payer) Pay(points int64) error { p.points.Add(points); return nil }
func (*payer) Release()                 {}

// Two clients that read a script at the same time have one list of its unconfirmed transactions: its memory counts once, and
// until both have ended. Each of them pays for all transactions.
func TestRequestsShareAListOfUnconfirmedTransactions(t *testing.T) {
	r := newRig(t, func(r *rig) { r.pending = true })
	shared := 0
	for range 100 {
		r.step(t)
		for _, script := range r.miner.scripts {
			shared += r.shared(t, wallet.KeyOf(script))
		}
		if shared >= 10 {
			return
		}
	}
	t.Errorf("%d lists were shared", shared)
}

// shared reads a script for two clients at the same time, and returns 1 if it has a list that requests share.
func (r *rig) shared(t *testing.T, key wallet.Key) (shared int) {
	t.Helper()
	budget := meter.NewBudget(1 << 30)
	var clients [2]payer
	var meters [2]*meter.Meter
	var views [2]*wallet.View
	var scripts [2]*wallet.Script
	for i := range meters {
		meters[i] = meter.New(&clients[i], 0, 1, budget)
	}
	read := func(i int, then func() error) error {
		return r.wallet.View(meter.With(t.Context(), meters[i]), func(v *wallet.View) (err error) {
			views[i] = v
			if scripts[i], err = v.Script(key); err != nil {
				return err
			}
			return then()
		})
	}
	err := read(0, func() error { return read(1, func() error { return nil }) })
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(scripts[0].Mempool()))
	if n > 1 && wallet.SameMempool(views[0], views[1]) {
		shared = 1
		if !scripts[0].SharesList(scripts[1]) || r.wallet.SharedLists() != 1 {
			t.Errorf("%d unconfirmed transactions are in two lists", n)
		}
		for i := range clients {
			if paid := clients[i].points.Load(); paid < n {
				t.Errorf("client %d paid %d points for %d transactions", i, paid, n)
			}
		}
	}
	for i, m := range meters {
		if used := budget.Used(); shared == 1 && used != n*wallet.ListedBytes {
			t.Errorf("%d requests hold %d bytes, expected %d", len(meters)-i, used, n*wallet.ListedBytes)
		}
		m.End()
	}
	if budget.Used() != 0 || r.wallet.SharedLists() != 0 {
		t.Errorf("after both requests %d bytes and %d lists are held", budget.Used(), r.wallet.SharedLists())
	}
	return shared
}
