package wallet_test

import (
	"slices"
	"testing"

	"birthmark/api/compat/wallet"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// A coinbase that repeats an earlier one (BIP 30) is once in the history of its script, in the status and in the unspent
// outputs: at its latest place, where it also is by its id. Totals count both.
func TestARepeatedTransactionIsListedOnce(t *testing.T) {
	o := options(t)
	db := open(t, memory.New(), o)
	w := newChain(t, serve(db))
	chain := bitcointest.NewChain()
	chain.MineEmpty(4)
	key := wallet.KeyOf(chain.PayTo)

	var known *wallet.Midstate
	// check compares the answers with the coinbases of blocks at heights.
	check := func(what string, counted int, heights ...int) {
		t.Helper()
		syncTo(t, db, chain)
		var want []wallet.Entry
		for _, h := range heights {
			want = append(want, wallet.Entry{Tx: model.Hash(chain.Blocks()[h].Transactions[0].TxHash()), Height: uint32(h)})
		}
		view(t, w, func(v *wallet.View) {
			s, err := v.Script(key)
			if err != nil {
				t.Fatal(err)
			}
			places := func(entries []wallet.Entry) (all []wallet.Entry) {
				for _, e := range entries {
					all = append(all, wallet.Entry{Tx: e.Tx, Height: e.Height})
				}
				return all
			}
			sameList(t, what, places(collect(t, s.History(nil, false))), want)
			newest := slices.Clone(want)
			slices.Reverse(newest)
			sameList(t, what+", newest first", places(collect(t, s.History(nil, true))), newest)
			for i, e := range want {
				sameList(t, what+", after one", places(collect(t, s.History(&e.Tx, false))), want[i+1:])
				if p, err := v.Place(e.Tx); err != nil || p.Height != e.Height {
					t.Errorf("%s: %v is in the history at height %d, and by its id at %d, %v", what, e.Tx, e.Height, p.Height, err)
				}
			}
			var unspent []wallet.Entry
			for _, u := range collect(t, s.Unspent()) {
				unspent = append(unspent, wallet.Entry{Tx: u.Tx, Height: u.Height})
			}
			sameList(t, what+", unspent", unspent, want)
			for name, midstate := range map[string]*wallet.Midstate{"": nil, " from a midstate": known} {
				status, ok, next, err := s.Status(midstate)
				if expected, _ := statusOf(want); err != nil || !ok || status != expected {
					t.Errorf("%s: status%s %x, %v, expected %x", what, name, status, err, expected)
				}
				known = next
			}
			if confirmed, _, err := s.Stats(); err != nil || confirmed.Txs != uint64(counted) {
				t.Errorf("%s: %d transactions in the totals, %v, expected %d", what, confirmed.Txs, err, counted)
			}
		})
	}
	check("before", 4, 1, 2, 3, 4)
	base := chain.Fork(4)
	chain.Repeat(2)
	chain.MineEmpty(1)
	check("repeated", 6, 1, 3, 4, 5, 6)
	chain.Repeat(2)
	check("repeated twice", 7, 1, 3, 4, 6, 7)
	chain = base
	chain.MineEmpty(4)
	check("after a reorganization", 8, 1, 2, 3, 4, 5, 6, 7, 8)
}
