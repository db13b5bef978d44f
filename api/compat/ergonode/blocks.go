package ergonode

import (
	"bytes"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/model"
)

// headers returns the headers of the blocks from a height to another one.
func (v *view) headers(from, to int) any {
	return exchange.Stream(func(yield func(*boxes.HeaderJSON, error) bool) {
		for h := from; h <= to; h++ {
			b, err := v.Block(model.HeightPk(h))
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(b.HeaderJSON(), nil) {
				return
			}
		}
	})
}

// blockIDs returns the ids of the blocks from the height that is the offset on.
func blockIDs(r *request) answer {
	p := pageOf(r, "headers", someItems)
	p.offset = numberOr(r, "offset", 1)
	return func(v *view) (any, error) {
		ids := []boxes.ID{}
		from, to := max(p.offset, 1), min(p.offset+p.limit-1, v.Height())
		if from > to {
			return ids, nil
		}
		err := v.EachID(model.HeightPk(from), model.HeightPk(to), func(id model.Hash) { ids = append(ids, boxes.ID(id)) })
		return ids, err
	}
}

func blocksAt(r *request) answer {
	n := numberArg(r, "height", 32)
	return func(v *view) (any, error) {
		if n < 1 || n > v.Height() {
			return []boxes.ID{}, nil
		}
		b, err := v.Block(model.HeightPk(n))
		if err != nil {
			return nil, err
		}
		return []boxes.ID{boxes.ID(b.ID)}, nil
	}
}

func header(r *request) answer {
	return aboutBlock(r, func(_ *view, b *boxes.Block) (any, error) { return b.HeaderJSON(), nil })
}

func (v *view) txsIn(b *boxes.Block) ([]*boxes.Tx, error) {
	pks, err := v.TxPks(b)
	if err != nil {
		return nil, err
	}
	return v.Txs(pks)
}

func blockTxs(r *request) answer {
	return aboutBlock(r, func(v *view, b *boxes.Block) (any, error) {
		txs, err := v.txsIn(b)
		if err != nil {
			return nil, err
		}
		to := &blockTxsValue{boxes.ID(b.ID), make([]*boxes.TxJSON, len(txs)), int(b.Header.Version), 0}
		for i, t := range txs {
			to.Txs[i] = t.JSON(nil)
			to.Size += t.Size
		}
		to.Size = boxes.SectionSize(b, to.Size)
		return to, nil
	})
}

// proofFor returns the Merkle proof of a transaction in a block.
func proofFor(r *request) answer {
	find, tx := model.Hash(idArg(r, "id")), idArg(r, "tx")
	return func(v *view) (any, error) {
		b, err := v.block(find)
		if err != nil {
			return nil, err
		}
		txs, err := v.txsIn(b)
		if err != nil {
			return nil, err
		}
		leaves := boxes.Leaves(b.Header.Version, txs)
		for i := range txs {
			if !bytes.Equal(leaves[i], tx[:]) {
				continue
			}
			to := &merkleValue{boxes.ID(tx), [][2]any{}}
			for _, step := range boxes.Proof(leaves, i) {
				side := 0
				if step.Right {
					side = 1
				}
				to.Levels = append(to.Levels, [2]any{jsonappend.Hex(step.Sibling), side})
			}
			return to, nil
		}
		return nil, errNotFound
	}
}

func lastHeaders(r *request) answer {
	n := numberArg(r, "count", 32)
	if n > maxItems {
		r.Refuse(bad("No more than %d headers can be requested", maxItems))
	}
	return func(v *view) (any, error) { return v.headers(max(1, v.Height()-n+1), v.Height()), nil }
}

// chainSlice returns the headers above fromHeight up to toHeight, and at least the last of them, like getChainSliceR in
// BlocksApiRoute.scala of ergoplatform/ergo. Without a block at toHeight, the
// last one is at the tip.
func chainSlice(r *request) answer {
	from, to := heightOr(r, "fromHeight", 1), heightOr(r, "toHeight", maxItems)
	switch {
	case to < from:
		r.Refuse(bad("toHeight < fromHeight"))
	case to-from > maxItems:
		r.Refuse(bad("No more than %d headers can be requested", maxItems))
	}
	return func(v *view) (any, error) {
		last := v.Height()
		if to >= 1 {
			last = min(to, last)
		}
		return v.headers(max(1, min(max(from+1, last-maxItems+1), last)), last), nil
	}
}
