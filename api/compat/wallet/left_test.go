package wallet_test

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// Transactions that have left the node, but not yet the server, whose bytes were dropped to save memory, are left out
// of lists. They fail nothing else: scripts without an address keep the others, and outputs that they spend are not lost.
func TestTransactionsThatLeftTheNodeAreLeftOut(t *testing.T) {
	for name, indexes := range map[string][]string{"with addresses": {"address", "script_hash"}, "without": {"script_hash"}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.pending, r.bare, r.options.Indexes = true, true, indexes
				if len(indexes) == 1 {
					delete(r.options.Keep, "address")
				}
			})
			for len(r.miner.pool) < 12 {
				r.step(t)
			}
			// Two transactions have scripts that are new, of which the first one leaves.
			fresh := [][]byte{{0x60, 1, 7}, {0x6a, 1, 7}, {0x60, 1, 8}}
			r.miner.scripts = append(r.miner.scripts, fresh...)
			var pair []*wire.MsgTx
			for i, o := range newNaive(r.miner.chain, r.miner.pool).unspentOutputs()[:2] {
				tx := wire.NewMsgTx(2)
				tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: o.tx.TxHash(), Index: uint32(o.index)}, nil, nil))
				for _, script := range fresh[:3-i] {
					tx.AddTxOut(wire.NewTxOut(o.out().Value/3, script))
				}
				pair = append(pair, tx)
			}
			r.miner.pool = append(r.miner.pool, pair...)
			r.src.set(r.db.Tip(), r.miner.pool)
			await(t, r.follower, r.db, r.src)
			first, second := model.Hash(pair[0].TxHash()), model.Hash(pair[1].TxHash())
			left := map[model.Hash]bool{}
			var all, leave []model.Hash
			for _, tx := range r.miner.pool {
				id := model.Hash(tx.TxHash())
				all = append(all, id)
				if id == first || id != second && r.miner.rng.IntN(2) == 0 {
					left[id] = true
					leave = append(leave, id)
				}
			}
			r.leaving.Leave(leave...)
			n := newNaive(r.miner.chain, r.miner.pool)
			child := func(id model.Hash) bool { // of one that left: the script that it spends can be unknown
				return slices.ContainsFunc(n.txs[id].TxIn, func(in *wire.TxIn) bool { return left[model.Hash(in.PreviousOutPoint.Hash)] })
			}
			view(t, r.wallet, func(v *wallet.View) {
				txs, err := v.Txs(append(all, model.Hash(r.miner.chain.Tip().Transactions[0].TxHash())))
				if err != nil {
					t.Fatal(err)
				}
				if last := txs[len(txs)-1]; !last.Place.Confirmed {
					t.Errorf("the confirmed transaction of a list is %+v", last)
				}
				listed := map[model.Hash]bool{}
				for _, tx := range txs {
					listed[tx.ID] = true
				}
				for _, id := range all {
					if listed[id] && left[id] || !listed[id] && !left[id] && !child(id) {
						t.Errorf("transaction %v: listed %v, left %v", id, listed[id], left[id])
					}
					if _, err := v.Tx(id); (err == nil) != listed[id] {
						t.Errorf("transaction %v: listed %v, error %v", id, listed[id], err)
					} else if _, code := code(err); err != nil && code != "unknown_tx" {
						t.Error(err)
					}
				}
				for _, script := range r.miner.scripts {
					compareLeft(t, v, n, script, left)
				}
			})
		})
	}
}

// compareLeft compares a script with its naive answers, if one of its transactions is known.
func compareLeft(t *testing.T, v *wallet.View, n *naive, script []byte, left map[model.Hash]bool) {
	s, err := v.Script(wallet.KeyOf(script))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := n.mempool(script)
	history, _ := n.history(script)
	got := wallet.InStatusOrder(s.Mempool())
	unspent := collect(t, s.Unspent())
	known := slices.ContainsFunc(want, func(e wallet.Entry) bool { return !left[e.Tx] || e.Sent > 0 })
	if len(got) > 0 || known || len(history) > 0 {
		sameList(t, "mempool", got, want)
		same(t, "unspent outputs", len(unspent), len(n.unspent(script)))
	}
	var spent []wallet.Unspent
	for _, tx := range n.pool {
		for _, in := range tx.TxIn {
			place := n.places[model.Hash(in.PreviousOutPoint.Hash)]
			if o := n.prevout(in); place.Confirmed && string(o.PkScript) == string(script) {
				spent = append(spent, wallet.Unspent{
					Tx: model.Hash(in.PreviousOutPoint.Hash), Index: in.PreviousOutPoint.Index, Value: uint64(o.Value),
					Height: place.Height, Coinbase: place.Position == 0,
				})
			}
		}
	}
	found, err := s.SpentUnconfirmed()
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b wallet.Unspent) int {
		return slices.Compare(append(a.Tx[:], byte(a.Index)), append(b.Tx[:], byte(b.Index)))
	}
	slices.SortFunc(found, order)
	slices.SortFunc(spent, order)
	sameList(t, "spent outputs", found, spent)
}
