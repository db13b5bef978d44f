package answers

import (
	"strconv"

	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Reader makes answers from an overlay, with the indexes of a database.
type Reader struct {
	*query.Query
	*pending.Overlay
	formats []*schema.Index // of the positions of the overlay; nil: not in the database
}

// NewReader returns a reader of an overlay beside a snapshot of its database.
func NewReader(q *query.Query, o *pending.Overlay) *Reader {
	r := &Reader{Query: q, Overlay: o}
	for _, name := range o.Indexes() {
		x, err := q.Layout.Lookup(name, q.Tip, nil)
		if err != nil {
			x = nil // it was dropped a moment ago
		}
		r.formats = append(r.formats, x)
	}
	return r
}

// Decimal formats an amount as in answers.
func Decimal(amount uint64) string { return strconv.FormatUint(amount, 10) }

// Output returns the answer for an output that a transaction creates or spends; with spentBy, the unconfirmed input that
// spends it.
func (r *Reader) Output(at pending.Outpoint, o pending.Output, spentBy bool) query.PendingOutputAnswer {
	a := query.PendingOutputAnswer{
		Tx: r.Chain.FormatHash(at.Tx), Index: int(at.Index), Value: Decimal(o.Value), Keys: map[string]any{},
	}
	for position, value := range o.Keys() {
		x := r.formats[position]
		if x == nil {
			continue
		}
		if x.Kind == model.ManyValued {
			list, _ := a.Keys[x.Name].([]string)
			a.Keys[x.Name] = append(list, x.Format(value))
		} else {
			a.Keys[x.Name] = x.Format(value)
		}
	}
	for _, asset := range o.Assets() {
		a.Assets = append(a.Assets, query.PendingAssetAnswer{Asset: r.Chain.FormatAsset(asset.ID), Amount: asset.Amount.String()})
	}
	if spentBy {
		a.SpentBy = new(query.Optional[query.PendingSpentByAnswer])
		if in := r.Spender(at); in != nil {
			a.SpentBy.Value = &query.PendingSpentByAnswer{Tx: r.Chain.FormatHash(in.Tx.ID), Input: int(in.Index)}
		}
	}
	return a
}

// Spend returns the answer for an input.
func (r *Reader) Spend(in *pending.Input) query.PendingSpendAnswer {
	return query.PendingSpendAnswer{
		Tx: r.Chain.FormatHash(in.Outpoint.Tx), Index: int(in.Outpoint.Index), Value: Decimal(in.Spends().Value),
		SpentBy: query.PendingSpentByAnswer{Tx: r.Chain.FormatHash(in.Tx.ID), Input: int(in.Index)},
	}
}
