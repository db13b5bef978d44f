package ergonode

import (
	"slices"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/model"
)

func indexedHeight(*request) answer {
	return func(v *view) (any, error) { return &heightValue{v.Height(), v.Height()}, nil }
}

// block returns a block by its id.
func (v *view) block(id model.Hash) (*boxes.Block, error) {
	b, err := v.BlockOf(id)
	if err == nil && b == nil {
		err = errNotFound
	}
	return b, err
}

// aboutBlock returns an answer about the block of the argument id.
func aboutBlock(r *request, about func(*view, *boxes.Block) (any, error)) answer {
	id := model.Hash(idArg(r, "id"))
	return func(v *view) (any, error) {
		b, err := v.block(id)
		if err != nil {
			return nil, err
		}
		return about(v, b)
	}
}

func blockByID(r *request) answer {
	return aboutBlock(r, func(v *view, b *boxes.Block) (any, error) { return v.blockOf(b) })
}

// blocksByID returns the blocks with ids, without unknown ones.
func blocksByID(r *request) answer {
	ids := bodyIDs(r)
	return func(v *view) (any, error) {
		return exchange.Stream(func(yield func(*blockValue, error) bool) {
			for _, id := range ids {
				b, err := v.BlockOf(model.Hash(id))
				if err == nil && b == nil {
					continue
				}
				var block *blockValue
				if err == nil {
					block, err = v.blockOf(b)
				}
				if !yield(block, err) {
					return
				}
			}
		}), nil
	}
}

func txByID(r *request) answer {
	id := model.Hash(idArg(r, "id"))
	return func(v *view) (any, error) {
		pk, ok, err := v.TxOf(id)
		if err == nil && !ok {
			err = errNotFound
		}
		if err != nil {
			return nil, err
		}
		return v.tx(pk)
	}
}

// tx returns a transaction of the chain.
func (v *view) tx(pk model.TxPk) (any, error) {
	txs, err := v.FullTxs([]model.TxPk{pk})
	if err != nil {
		return nil, err
	}
	return v.txOf(&txs[0])
}

func txByIndex(r *request) answer {
	n := uint64(numberArg(r, "index", 64))
	return func(v *view) (any, error) {
		if n >= v.TxCount() {
			return nil, errNotFound
		}
		pk, err := v.TxAt(n)
		if err != nil {
			return nil, err
		}
		return v.tx(pk)
	}
}

func boxByIndex(r *request) answer {
	n := uint64(numberArg(r, "index", 64))
	return func(v *view) (any, error) {
		if n >= v.Boxes() {
			return nil, errNotFound
		}
		pk, err := v.BoxAt(n)
		if err != nil {
			return nil, err
		}
		return v.box(pk)
	}
}

// box returns a box of the chain.
func (v *view) box(pk model.UtxoPk) (any, error) {
	all, err := v.AllBoxes([]model.UtxoPk{pk})
	if err != nil {
		return nil, err
	}
	return v.boxOf(&all[0])
}

// newest returns the first number and the size of the window of a range, which begins at the newest.
func (p *page) newest(total uint64) (first, n uint64) {
	offset, limit := min(uint64(p.offset), total), uint64(p.limit)
	n = min(limit, total-offset)
	return total - offset - n, n
}

// txRange returns the ids of a window of all transactions, newest first.
func txRange(r *request) answer {
	p := pageOf(r, "transactions", fewItems)
	return func(v *view) (any, error) {
		pks, err := v.TxNumbers(p.newest(v.TxCount()))
		if err != nil {
			return nil, err
		}
		slices.Reverse(pks)
		ids, err := v.Q.TxIDs(pks)
		return boxes.IDs(ids), err
	}
}

// boxRange returns the ids of a window of all boxes, newest first.
func boxRange(r *request) answer {
	p := pageOf(r, "boxes", fewItems)
	return func(v *view) (any, error) {
		first, n := p.newest(v.Boxes())
		pks, err := v.BoxNumbers(first, n)
		if err != nil {
			return nil, err
		}
		slices.Reverse(pks)
		ids, err := v.BoxIDs(pks)
		return boxes.IDs(ids), err
	}
}

// txsOf lists the transactions of an address.
func txsOf(of func(*request) finder) func(*request) answer {
	return windowOf(of, "transactions", func(v *view, h *holder, p page) (any, error) {
		t, err := v.Totals(h.Holder, false)
		if err != nil {
			return nil, err
		}
		var txs []model.TxPk
		if h.Birth != nil {
			l, err := v.History(h.Holder, false, true)
			if err != nil {
				return nil, err
			}
			if txs, err = v.TxWindow(l, p.offset, p.limit); err != nil {
				return nil, err
			}
		}
		return listed(v, v.txs(txs), t.Txs), nil
	})
}
