package query

import (
	"slices"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// aheadTxs is the number of transactions that [Ahead] computes at once, and aheadBytes is the memory for each.
var aheadTxs = 1 << 16

const aheadBytes = 100

// Ahead has the next transactions of a history that an index does not store. Each page of such a history reads all outputs of
// the value, and the pages of a list of a million transactions would read them a thousand times.
type Ahead struct {
	tip        model.Point
	x          *schema.Index
	births     []model.BirthPk
	descending bool
	span       setops.Span
	txs        []schema.TxAmounts // the first ones of span
	base       uint64             // balance before them, or after them if descending is set
	whole      bool               // span has no others
	held       bool               // the meter counts the memory
}

// ReadAhead makes the histories that the view computes continue from a, which can be that of an earlier view.
func (v *View) ReadAhead(a *Ahead) {
	if a.tip != v.Tip {
		*a = Ahead{tip: v.Tip, held: a.held}
	}
	v.at.ahead = a
}

// history is [Query.computedHistory]. The result is valid until the next call.
func (a *Ahead) history(
	q *Query, x *schema.Index, births []model.BirthPk, s setops.Span, descending bool, limit int,
) (txs []schema.TxAmounts, base uint64, err error) {
	if !a.skipTo(x, births, s, descending) || len(a.txs) < limit && !a.whole {
		if !a.held {
			if q.R.Hold(int64(aheadBytes*aheadTxs)) != nil { // other answers need the memory
				return q.computedHistory(x, births, s, descending, limit)
			}
			a.held = true
		}
		n := max(limit, aheadTxs)
		if txs, base, err = q.computedHistory(x, births, s, descending, n); err != nil {
			return nil, 0, err
		}
		*a = Ahead{a.tip, x, births, descending, s, txs, base, len(txs) < n, true}
	}
	return a.txs[:min(limit, len(a.txs))], a.base, nil
}

// skipTo removes the transactions before s. It returns false if s is not the end of the same history.
func (a *Ahead) skipTo(x *schema.Index, births []model.BirthPk, s setops.Span, descending bool) bool {
	same := a.x == x && slices.Equal(a.births, births) && a.descending == descending
	if !same || !descending && a.span.Last != s.Last || descending && a.span.First != s.First {
		return false
	}
	for len(a.txs) > 0 && !s.HasTx(a.txs[0].Tx) {
		if change := a.txs[0].Received - a.txs[0].Sent; descending {
			a.base -= change
		} else {
			a.base += change
		}
		a.txs = a.txs[1:]
	}
	a.span = s
	return true
}
