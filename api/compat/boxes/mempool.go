package boxes

import (
	"iter"
	"slices"

	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/model"
)

// HasMempool reports whether the view has unconfirmed transactions, possibly none at the moment.
func (v *View) HasMempool() bool { return v.pool != nil }

// Pending yields the unconfirmed transactions in the order of arrival.
func (v *View) Pending() iter.Seq[*pending.Tx] {
	if v.pool == nil {
		return func(func(*pending.Tx) bool) {}
	}
	return v.pool.Arrivals(0)
}

// PendingCount returns the number of unconfirmed transactions.
func (v *View) PendingCount() int {
	if v.pool == nil {
		return 0
	}
	return v.pool.Count()
}

// PendingTx returns an unconfirmed transaction by its id; nil if the mempool does not have it.
func (v *View) PendingTx(id model.Hash) *pending.Tx {
	if v.pool == nil {
		return nil
	}
	return v.pool.Tx(id)
}

// PendingOf yields the unconfirmed transactions that pay to a value of an index or spend from it.
func (v *View) PendingOf(index string, value []byte) iter.Seq[*pending.Tx] {
	if v.pool == nil || v.pool.Index(index) < 0 {
		return func(func(*pending.Tx) bool) {}
	}
	return v.pool.Value(v.pool.Index(index), value)
}

// PendingAsset yields the unconfirmed transactions whose inputs or outputs have a token.
func (v *View) PendingAsset(id sigma.ID) iter.Seq[*pending.Tx] {
	if v.pool == nil {
		return func(func(*pending.Tx) bool) {}
	}
	return v.pool.Asset(id[:])
}

// Parsed returns the parsed transaction. The error of one that has left the node is reported by [pending.HasLeft].
func (v *View) Parsed(t *pending.Tx) (*Tx, error) { return v.pendingTx(t) }

// PendingBoxes returns the boxes with a value of an index that unconfirmed transactions create, in the order of
// arrival, with their unconfirmed spenders.
func (v *View) PendingBoxes(index string, value []byte) ([]Box, error) {
	return v.pendingBoxes(v.PendingOf(index, value), func(o pending.Output) bool { return o.Has(v.pool.Index(index), value) })
}

// pendingBoxes returns the outputs of unconfirmed transactions that match. Transactions that have left the node are left out.
func (v *View) pendingBoxes(txs iter.Seq[*pending.Tx], match func(pending.Output) bool) (boxes []Box, err error) {
	for t := range txs {
		for i := range t.NumOutputs() {
			if !match(t.Output(i)) {
				continue
			}
			b, err := v.pendingBox(t, i)
			if pending.HasLeft(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			boxes = append(boxes, b)
		}
	}
	return boxes, nil
}

func every(pending.Output) bool { return true }

// pendingBox returns an output of an unconfirmed transaction.
func (v *View) pendingBox(t *pending.Tx, index int) (b Box, err error) {
	tx, err := v.pendingTx(t)
	if err != nil {
		return b, err
	}
	b = Box{Tx: tx, Pos: index, Unconfirmed: true}
	b.Spend, err = v.PendingSpend(&b)
	return b, err
}

// PendingSpend returns the input of an unconfirmed transaction that spends a box; nil: none does.
func (v *View) PendingSpend(b *Box) (*Spend, error) {
	if v.pool == nil {
		return nil, nil
	}
	out := pending.Outpoint{Tx: b.Tx.ID, Index: uint32(b.Pos)}
	if b.Genesis {
		out.Index = uint32(b.Pk.Index())
	}
	in := v.pool.Spender(out)
	if in == nil {
		return nil, nil
	}
	tx, err := v.pendingTx(in.Tx)
	if pending.HasLeft(err) {
		return nil, nil
	}
	return &Spend{tx, int(in.Index)}, err
}

// pendingSpent reports which of the outputs of the chain unconfirmed transactions spend.
func (v *View) pendingSpent(pks []model.UtxoPk) ([]bool, error) {
	txs := make([]model.TxPk, len(pks))
	for i, pk := range pks {
		txs[i] = pk.Tx()
	}
	ids, err := v.Q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	spent := make([]bool, len(pks))
	for i, pk := range pks {
		spent[i] = v.pool.Spender(pending.Outpoint{Tx: ids[i], Index: uint32(pk.Index())}) != nil
	}
	return spent, nil
}

// PendingBox returns an unconfirmed box by its id; nil if no unconfirmed transaction creates it.
func (v *View) PendingBox(id sigma.ID) (*Box, error) {
	boxes, err := v.PendingBoxes(BoxIndex, id[:])
	if err != nil || len(boxes) == 0 {
		return nil, err
	}
	return &boxes[0], nil
}

// Inputs returns the boxes with ids, confirmed or not; nil for an unknown one. They have no spenders.
func (v *View) Inputs(ids []sigma.ID) ([]*Box, error) {
	found, err := v.BoxesOf(ids)
	if err != nil {
		return nil, err
	}
	var pks []model.UtxoPk
	for _, pk := range found {
		if pk != nil {
			pks = append(pks, *pk)
		}
	}
	confirmed, err := v.UnspentBoxes(pks)
	if err != nil {
		return nil, err
	}
	boxes := make([]*Box, len(ids))
	for i, pk := range found {
		if pk != nil {
			boxes[i], confirmed = &confirmed[0], confirmed[1:]
		} else if boxes[i], err = v.PendingBox(ids[i]); err != nil {
			return nil, err
		}
	}
	return boxes, nil
}

// PendingBoxesWith returns the boxes with a token that unconfirmed transactions create, in the order of arrival.
func (v *View) PendingBoxesWith(token sigma.ID) ([]Box, error) {
	return v.pendingBoxes(v.PendingAsset(token), func(o pending.Output) bool {
		return slices.ContainsFunc(o.Assets(), func(a pending.Asset) bool { return string(a.ID) == string(token[:]) })
	})
}

// AllPendingBoxes returns the boxes that unconfirmed transactions create.
func (v *View) AllPendingBoxes() ([]Box, error) { return v.pendingBoxes(v.Pending(), every) }

// PendingSpendOf returns the input of an unconfirmed transaction that spends the box with an id; nil: none does.
func (v *View) PendingSpendOf(id sigma.ID) (*Spend, error) {
	found, err := v.Inputs([]sigma.ID{id})
	if err != nil || found[0] == nil {
		return nil, err
	}
	return v.PendingSpend(found[0])
}

// InputsOf returns the boxes that a transaction spends, confirmed or not; nil for an unknown one.
func (v *View) InputsOf(t *Tx) ([]*Box, error) {
	ids := make([]sigma.ID, len(t.Inputs))
	for i := range ids {
		ids[i] = t.Inputs[i].Box
	}
	return v.Inputs(ids)
}

// PendingOutputs returns the boxes that an unconfirmed transaction creates.
func (v *View) PendingOutputs(t *pending.Tx) ([]Box, error) {
	return v.pendingBoxes(slices.Values([]*pending.Tx{t}), every)
}

// PendingSpentOf returns the number of boxes of the chain with a value that unconfirmed transactions spend.
func (v *View) PendingSpentOf(h *Holder) (n int, err error) {
	if v.pool == nil {
		return 0, nil
	}
	at := v.pool.Index(h.Index.Name)
	for t := range v.PendingOf(h.Index.Name, h.Value) {
		inputs := t.Inputs()
		for i := range inputs {
			if v.pool.Tx(inputs[i].Outpoint.Tx) == nil && inputs[i].Spends().Has(at, h.Value) {
				n++
			}
		}
	}
	return n, nil
}
