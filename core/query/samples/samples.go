// Package samples reads the balance of a value over time, for charts.
package samples

import (
	"context"
	"iter"
	"slices"

	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Limits bound the cost and the size of an [Answer].
type Limits struct {
	Points int // of the answer, without the ends of the range
	Txs    int // transactions of the history that are read, newest first
}

// Answer is the balance of a value in a range of blocks.
type Answer struct {
	Points []Point // with ascending heights; empty: no transaction in the range, or an unknown balance
	Txs    int     // transactions that were read
	Whole  bool    // the points begin with the range or with the value; else it has older transactions
}

// Point is the balance of a value after the block at a height.
type Point struct {
	Height  uint32
	Balance uint64
}

// passed is the number of rows that are counted at once.
const passed = 1024

// Of returns the balance of a value before r, after the blocks of r that change it, and after the last block of r. If there are more than the limit, the heights are divided into parts of equal size, and each part has the
// balance after its last change.
//
// Without the option history, it reads every output of the value. Without the option balance, the balance is the sum of
// the whole history: it is unknown if that is longer than the limit.
func Of(ctx context.Context, qs query.Queries, index, value string, r query.Range, l Limits) (*Answer, error) {
	a := &Answer{}
	err := qs.From(ctx, func(q *query.Query) error {
		x, _, birth, err := q.Value(index, value)
		if err != nil {
			return err
		}
		s, err := q.Span(r)
		if err != nil || birth == nil || birth.Utxo > s.Last {
			a.Whole = err == nil
			return err
		}
		kept := x.Active.Has(schema.FeatureBalance)
		read := setops.Span{First: s.First, Last: setops.Everywhere.Last}
		if !kept {
			read.First = 0
		}
		later := &changes{limit: l.Points, width: 1, span: s}
		if a.Txs, a.Whole, err = later.read(q, x, *birth, read, l.Txs); err != nil || !kept && !a.Whole {
			return err
		}
		balance := later.sum // at the tip
		if kept {
			account, err := q.Account(x, *birth)
			if err != nil {
				return err
			}
			received := account.Received.Big()
			balance = received.Sub(received, account.Sent.Big()).Uint64()
		}
		a.Points = later.points(balance, birth.Utxo, q.Tip.Height, a.Whole)
		return nil
	})
	return a, err
}

// changes are the changes of a balance after blocks, which are added from the tip downward. Sums are modulo 2^64.
type changes struct {
	limit int
	width uint32 // blocks of a part; a power of 2
	span  setops.Span

	found []Point // newest first; Balance is the sum of the changes after the block
	sum   uint64  // of all changes
	after uint64  // of the changes after the span
	start uint64  // of the changes from the start of the span
}

// read adds up to limit transactions of s. whole reports whether these are all.
func (c *changes) read(
	q *query.Query, x *schema.Index, birth model.BirthPk, s setops.Span, limit int,
) (txs int, whole bool, err error) {
	history, err := newestFirst(q, x, birth, s, limit+1)
	if err != nil {
		return 0, false, err
	}
	for t, err := range history {
		if err == nil && txs > 0 && txs%passed == 0 {
			err = q.Pass(passed)
		}
		if err != nil {
			return txs, false, err
		}
		if txs == limit {
			return txs, false, nil
		}
		txs++
		c.add(t)
	}
	return txs, true, nil
}

// newestFirst yields the history of a value.
func newestFirst(
	q *query.Query, x *schema.Index, birth model.BirthPk, s setops.Span, limit int,
) (iter.Seq2[schema.TxAmounts, error], error) {
	if x.Active.Has(schema.FeatureHistory) {
		return q.StoredHistory(x, birth, s, true), nil
	}
	txs, err := q.TxAmounts(x, birth, s, true, limit)
	return func(yield func(schema.TxAmounts, error) bool) {
		for _, t := range txs {
			if !yield(t, nil) {
				return
			}
		}
	}, err
}

func (c *changes) add(t schema.TxAmounts) {
	height := uint32(t.Tx.Height())
	in := c.span.HasTx(t.Tx)
	if n := len(c.found); in && (n == 0 || c.found[n-1].Height/c.width != height/c.width) {
		c.found = append(c.found, Point{height, c.sum})
		for len(c.found) > c.limit {
			c.width *= 2
			c.found = slices.CompactFunc(c.found, func(a, b Point) bool { return a.Height/c.width == b.Height/c.width })
		}
	}
	c.sum += t.Received - t.Sent
	if in {
		c.start = c.sum
	} else if model.UtxoPk(t.Tx) > c.span.Last {
		c.after, c.start = c.sum, c.sum
	}
}

// points returns the balances, oldest first, of a value with a balance at the tip. whole: the changes reach the start of
// the span.
func (c *changes) points(balance uint64, birth model.UtxoPk, tip model.HeightPk, whole bool) (points []Point) {
	if first := c.span.First; whole && birth < first {
		points = append(points, Point{uint32(first.Height()) - 1, balance - c.start})
	}
	for _, p := range slices.Backward(c.found) {
		points = append(points, Point{p.Height, balance - p.Balance})
	}
	last := uint32(min(c.span.Last.Height(), tip))
	if n := len(points); n > 0 && points[n-1].Height < last {
		points = append(points, Point{last, balance - c.after})
	}
	return points
}
