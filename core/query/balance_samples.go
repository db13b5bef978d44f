package query

import (
	"context"
	"iter"
	"slices"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// SampleLimits bound the cost and the size of [BalanceSamples].
type SampleLimits struct {
	Points int // of the answer, without the ends of the range
	Txs    int // transactions of the history that are read, newest first
}

// BalanceSamples are balances of a value in a range of blocks.
type BalanceSamples struct {
	Points []BalancePoint // with ascending heights; empty: no transaction in the range, or an unknown balance
	Txs    int            // transactions that were read
	Within int            // of these, in the range
	Whole  bool           // the points begin with the range or with the value; else it has older transactions
}

// BalancePoint is the balance of a value after the block at a height.
type BalancePoint struct {
	Height  uint32
	Balance uint64
}

// samplesPass is the number of transactions that are counted at once.
const samplesPass = 1024

// BalanceSamples returns the balance of a value before r, after the blocks of r that change it, and after the last block
// of r. If there are more than the limit, the heights are divided into parts of equal size, and each part has the
// balance after its last change.
//
// Without the option history, it reads every output of the value. Without the option balance, the balance is the sum of
// the whole history: it is unknown if that is longer than the limit.
func (qs Queries) BalanceSamples(
	ctx context.Context, index, value string, r Range, l SampleLimits,
) (*BalanceSamples, error) {
	a := &BalanceSamples{}
	err := qs.From(ctx, func(q *Query) error {
		h, err := q.holder(index, value)
		if err != nil {
			return err
		}
		x, first := h.index, h.first()
		s, err := q.Span(r)
		if err != nil || first == nil || *first > s.Last {
			a.Whole = err == nil
			return err
		}
		kept := x.Active.Has(schema.FeatureBalance)
		read := setops.Span{First: s.First, Last: setops.Everywhere.Last}
		if !kept {
			read.First = 0
		}
		later := &balanceChanges{limit: l.Points, width: 1, span: s}
		if a.Txs, a.Whole, err = later.read(q, x, h.births, read, l.Txs); err != nil || !kept && !a.Whole {
			return err
		}
		balance := later.sum // at the tip
		if kept {
			accounts, err := q.accounts(x, h.births)
			if err != nil {
				return err
			}
			balance = 0
			for _, account := range accounts {
				received := account.Received.Big()
				balance += received.Sub(received, account.Sent.Big()).Uint64()
			}
		}
		a.Within = later.within
		a.Points = later.points(balance, *first, q.Tip.Height, a.Whole)
		return nil
	})
	return a, err
}

// balanceChanges are the changes of a balance after blocks, which are added from the tip downward. Sums are modulo 2^64.
type balanceChanges struct {
	limit int
	width uint32 // blocks of a part; a power of 2
	span  setops.Span

	found []BalancePoint // newest first; Balance is the sum of the changes after the block
	sum   uint64         // of all changes
	after uint64         // of the changes after the span
	start uint64         // of the changes from the start of the span

	within int // transactions in the span
}

// read adds up to limit transactions of s. whole reports whether these are all.
func (c *balanceChanges) read(
	q *Query, x *schema.Index, births []model.BirthPk, s setops.Span, limit int,
) (txs int, whole bool, err error) {
	history, err := q.newestFirst(x, births, s, limit+1)
	if err != nil {
		return 0, false, err
	}
	for t, err := range history {
		if err == nil && txs > 0 && txs%samplesPass == 0 {
			err = q.Pass(samplesPass)
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

// newestFirst yields the history of values.
func (q *Query) newestFirst(
	x *schema.Index, births []model.BirthPk, s setops.Span, limit int,
) (iter.Seq2[schema.TxAmounts, error], error) {
	if x.Active.Has(schema.FeatureHistory) {
		return q.StoredHistoryOf(x, births, s, true), nil
	}
	txs, _, err := q.computedHistory(x, births, s, true, limit)
	return func(yield func(schema.TxAmounts, error) bool) {
		for _, t := range txs {
			if !yield(t, nil) {
				return
			}
		}
	}, err
}

func (c *balanceChanges) add(t schema.TxAmounts) {
	height := uint32(t.Tx.Height())
	in := c.span.HasTx(t.Tx)
	if n := len(c.found); in && (n == 0 || c.found[n-1].Height/c.width != height/c.width) {
		c.found = append(c.found, BalancePoint{height, c.sum})
		for len(c.found) > c.limit {
			c.width *= 2
			c.found = slices.CompactFunc(c.found, func(a, b BalancePoint) bool { return a.Height/c.width == b.Height/c.width })
		}
	}
	c.sum += t.Received - t.Sent
	if in {
		c.within++
		c.start = c.sum
	} else if model.UtxoPk(t.Tx) > c.span.Last {
		c.after, c.start = c.sum, c.sum
	}
}

// points returns the balances, oldest first, of a value with a balance at the tip. whole: the changes reach the start of
// the span.
func (c *balanceChanges) points(balance uint64, birth model.UtxoPk, tip model.HeightPk, whole bool) (points []BalancePoint) {
	if first := c.span.First; whole && birth < first {
		points = append(points, BalancePoint{uint32(first.Height()) - 1, balance - c.start})
	}
	for _, p := range slices.Backward(c.found) {
		points = append(points, BalancePoint{p.Height, balance - p.Balance})
	}
	last := uint32(min(c.span.Last.Height(), tip))
	if n := len(points); n > 0 && points[n-1].Height < last {
		points = append(points, BalancePoint{last, balance - c.after})
	}
	return points
}
