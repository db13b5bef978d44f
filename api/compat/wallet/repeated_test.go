package wallet_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/storage/memory"
)

// A coinbase that two blocks have (BIP 30) is in a history once, at the place at which a proof leads to it. The status is
// the same with and without the midstate from before the second block.
func TestRepeatedCoinbasesAreListedOnce(t *testing.T) {
	db := open(t, memory.New(), options(t))
	c := newChain(t, serve(db))
	chain := bitcointest.NewChain()
	script := chain.PayTo
	first := chain.Mine().Transactions[0]
	chain.Mine()
	var mid *wallet.Midstate
	check := func(name string, want ...uint32) {
		t.Helper()
		syncTo(t, db, chain)
		view(t, c, func(v *wallet.View) {
			s, err := v.Script(wallet.KeyOf(script))
			if err != nil {
				t.Fatal(err)
			}
			var heights, reversed, unspent []uint32
			for _, e := range collect(t, s.History(nil, false)) {
				heights = append(heights, e.Height)
				p, err := v.Place(e.Tx)
				if err != nil || p.Height != e.Height || p.Position != e.Position {
					t.Errorf("%s: %+v is at %+v, %v", name, e, p, err)
				}
			}
			for _, e := range collect(t, s.History(nil, true)) {
				reversed = append([]uint32{e.Height}, reversed...)
			}
			for _, u := range collect(t, s.Unspent()) {
				unspent = append(unspent, u.Height)
			}
			sameList(t, name, heights, want)
			sameList(t, name+", newest first", reversed, want)
			sameList(t, name+", unspent", unspent, want)
			whole, _, _, err := s.Status(nil)
			if err != nil {
				t.Fatal(err)
			}
			status, _, next, err := s.Status(mid)
			if err != nil || status != whole {
				t.Errorf("%s: the status from the midstate is %x, %v, the whole one %x", name, status, err, whole)
			}
			mid = next
		})
	}
	check("once", 1, 2)
	chain.MineCoinbase(func(tx *wire.MsgTx) { *tx = *first })
	check("twice", 2, 3)
	chain = chain.Fork(2)
	chain.MineEmpty(2)
	check("after a fork", 1, 2, 3, 4)
}
