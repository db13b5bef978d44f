package ergonode

import (
	"encoding/json"
	"iter"
	"slices"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/model"
)

// pendingPage returns the parameters of a list of unconfirmed transactions or boxes.
func pendingPage(r *request) page { return pageOf(r, "transactions", someItems) }

func pendingTxs(r *request) answer {
	p := pendingPage(r)
	return func(v *view) (any, error) { return v.pending(v.Pending(), p), nil }
}

func pendingOfTree(r *request) answer {
	p := pendingPage(r)
	hash := ergo.TreeHash(treeArg(r))
	return func(v *view) (any, error) { return v.pending(v.PendingOf(boxes.TreeIndex, hash[:]), p), nil }
}

// pendingRows is the number of unconfirmed transactions that are read together.
const pendingRows = 128

// pending returns a window of unconfirmed transactions with the boxes that they spend, as the node does since 6.0.1.
func (v *view) pending(txs iter.Seq[*pending.Tx], p page) any {
	var all []*pending.Tx
	for t := range txs {
		if p.offset > 0 {
			p.offset--
		} else if len(all) < p.limit {
			all = append(all, t)
		}
	}
	return exchange.Stream(func(yield func(*boxes.TxJSON, error) bool) {
		for part := range slices.Chunk(all, pendingRows) {
			txs, inputs, err := v.parsed(part)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range txs {
				if !yield(t.JSON(inputs[:len(t.Inputs)]), nil) {
					return
				}
				inputs = inputs[len(t.Inputs):]
			}
		}
	})
}

// parsed returns parsed transactions, except for ones that have left the node, and the boxes that they spend.
func (v *view) parsed(all []*pending.Tx) (txs []*boxes.Tx, inputs []*boxes.Box, err error) {
	var spent []sigma.ID
	for _, t := range all {
		tx, err := v.Parsed(t)
		if pending.HasLeft(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		txs = append(txs, tx)
		for j := range tx.Inputs {
			spent = append(spent, tx.Inputs[j].Box)
		}
	}
	inputs, err = v.Inputs(spent)
	return txs, inputs, err
}

func pendingIDs(*request) answer {
	return func(v *view) (any, error) {
		ids := []boxes.ID{}
		for t := range v.Pending() {
			ids = append(ids, boxes.ID(t.ID))
		}
		return ids, nil
	}
}

// pendingTx returns an unconfirmed transaction with the boxes that it spends.
func pendingTx(r *request) answer {
	id := model.Hash(idArg(r, "id"))
	return func(v *view) (any, error) {
		t := v.PendingTx(id)
		if t == nil {
			return nil, errNotFound
		}
		txs, inputs, err := v.parsed([]*pending.Tx{t})
		if err == nil && len(txs) == 0 {
			err = errNotFound
		}
		if err != nil {
			return nil, err
		}
		return txs[0].JSON(inputs), nil
	}
}

func pendingThere(r *request) answer {
	id := model.Hash(idArg(r, "id"))
	return func(v *view) (any, error) {
		if v.PendingTx(id) == nil {
			return nil, errNotFound
		}
		return exchange.JSON{}, nil
	}
}

// pendingAmong returns the ids of the request that unconfirmed transactions have.
func pendingAmong(r *request) answer {
	ids := bodyIDs(r)
	return func(v *view) (any, error) {
		return boxes.IDs(slices.DeleteFunc(ids, func(id sigma.ID) bool { return v.PendingTx(model.Hash(id)) == nil })), nil
	}
}

func pendingInput(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		by, err := v.PendingSpendOf(id)
		if err == nil && by == nil {
			err = errNotFound
		}
		if err != nil {
			return nil, err
		}
		spent, err := v.Inputs([]sigma.ID{id})
		if err != nil {
			return nil, err
		}
		in := boxes.InputOf(&by.Tx.Inputs[by.Index], spent[0])
		return &in, nil
	}
}

func pendingOutput(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		b, err := v.PendingBox(id)
		if err == nil && b == nil {
			err = errNotFound
		}
		if err != nil {
			return nil, err
		}
		return asJSON(b), nil
	}
}

// outputs returns a window of unconfirmed boxes.
func outputs(all []boxes.Box, p page) any {
	all = all[min(p.offset, len(all)):]
	return plain(all[:min(p.limit, len(all))])
}

func pendingOutputsOfTree(r *request) answer {
	hash := ergo.TreeHash(treeArg(r))
	p := pendingPage(r)
	return func(v *view) (any, error) {
		all, err := v.PendingBoxes(boxes.TreeIndex, hash[:])
		return outputs(all, p), err
	}
}

func pendingOutputsWith(r *request) answer {
	id := idArg(r, "id")
	p := pendingPage(r)
	return func(v *view) (any, error) {
		all, err := v.PendingBoxesWith(id)
		return outputs(all, p), err
	}
}

// pendingOutputsByRegisters returns the unconfirmed boxes that have all registers of the body.
func pendingOutputsByRegisters(r *request) answer {
	var texts map[string]string
	if err := json.Unmarshal(r.Content(), &texts); err != nil || len(texts) == 0 {
		r.Refuse(bad(`the body is not an object of registers in hex, such as {"R4":"0e00"}`))
	}
	want, err := boxes.ParseRegisters(texts)
	if err != nil {
		r.Refuse(err)
	}
	p := pendingPage(r)
	return func(v *view) (any, error) {
		all, err := v.AllPendingBoxes()
		return outputs(slices.DeleteFunc(all, func(b boxes.Box) bool { return !want.In(b.Box()) }), p), err
	}
}
