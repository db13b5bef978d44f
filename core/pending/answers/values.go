package answers

import (
	"cmp"
	"iter"
	"slices"

	"birthmark/core/pending"
	"birthmark/core/schema"
)

// Values are the values of an index that a text names: one value, or those of a wallet.
type Values struct {
	position int // of the index in the overlay; -1 if it does not have the index
	list     [][]byte
	set      map[string]struct{} // of list; nil: one value
}

// Values returns the values of an index that a text names. A value of a wallet that only an unconfirmed transaction has
// counts as used: values after it are in the result, too.
func (r *Reader) Values(index, text string) (*Values, error) {
	x, list, err := r.ValuesOf(index, text, func(x *schema.Index, value []byte) bool {
		for range r.Overlay.Value(r.Overlay.Index(x.Name), value) {
			return true
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	v := &Values{position: r.Overlay.Index(x.Name), list: list}
	if len(list) != 1 {
		v.set = make(map[string]struct{}, len(list))
		for _, value := range list {
			v.set[string(value)] = struct{}{}
		}
	}
	return v, nil
}

// Has reports whether an output has one of the values.
func (v *Values) Has(o pending.Output) bool {
	if v.set == nil {
		return o.Has(v.position, v.list[0])
	}
	for index, value := range o.Keys() {
		if _, ok := v.set[string(value)]; ok && index == v.position {
			return true
		}
	}
	return false
}

// TxsOf yields the transactions after number after that pay to one of the values or spend from it, in the order of
// arrival.
func (r *Reader) TxsOf(v *Values, after uint64) iter.Seq[*pending.Tx] {
	if v.set == nil {
		return r.ValueAfter(v.position, v.list[0], after)
	}
	var txs []*pending.Tx
	for _, value := range v.list {
		txs = slices.AppendSeq(txs, r.ValueAfter(v.position, value, after))
	}
	slices.SortFunc(txs, func(a, b *pending.Tx) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return slices.Values(slices.Compact(txs))
}

// amounts returns the amounts that the values receive and send in a transaction.
func (v *Values) amounts(t *pending.Tx) (received, sent uint64) {
	for i := range t.NumOutputs() {
		if o := t.Output(i); v.Has(o) {
			received += o.Value
		}
	}
	for i := range t.Inputs() {
		if o := t.Inputs()[i].Spends(); v.Has(o) {
			sent += o.Value
		}
	}
	return received, sent
}
