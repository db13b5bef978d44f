package query

import (
	"testing"

	"birthmark/internal/testseed"
	"birthmark/model"
)

// A txSet returns the same count as a map, for duplicates in any order.
func TestTxSetCountsDifferentTransactions(t *testing.T) {
	rng := testseed.Rand(t)
	for _, blocks := range []int{1, 40, 2_000_000} {
		var s txSet
		known := map[model.TxPk]bool{}
		for range 20 * freshTxs {
			tx, err := model.NarrowPointers.Tx(model.HeightPk(rng.IntN(blocks)), rng.IntN(3000))
			if err != nil {
				t.Fatal(err)
			}
			s.add(tx)
			known[tx] = true
		}
		if got := s.count(); got != uint64(len(known)) {
			t.Errorf("%d blocks: %d transactions, expected %d", blocks, got, len(known))
		}
	}
	if none := new(txSet); none.count() != 0 {
		t.Errorf("an empty set counts %d", none.count())
	}
}

// A set of a million transactions takes at most 5 bytes per transaction.
func TestTxSetIsSmall(t *testing.T) {
	var s txSet
	const txs = 1 << 20
	for i := range txs { // five per block, not in order
		tx, err := model.NarrowPointers.Tx(model.HeightPk(i*7919%txs/5), 500*(i%5))
		if err != nil {
			t.Fatal(err)
		}
		s.add(tx)
	}
	bytes := 8 * cap(s.fresh)
	for _, r := range s.runs {
		bytes += cap(r.bytes)
	}
	if bytes > 5*txs {
		t.Errorf("%d transactions take %d bytes", txs, bytes)
	}
}
