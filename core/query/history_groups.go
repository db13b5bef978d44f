package query

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"birthmark/core/query/blocktime"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// GroupedHistory returns a page of the periods of r in which transactions pay to a value or spend from it. unit is one of
// [blocktime.Units].
//
// [blocktime.Periods] defines the blocks of a period. If the index stores histories, a page reads the transactions of
// its periods, else every output of the value.
func (qs Queries) GroupedHistory(ctx context.Context, index, value, unit string, r Range, p Page) (*HistoryAnswer, error) {
	return read(ctx, qs, func(q *Query) (*HistoryAnswer, error) {
		if !slices.Contains(blocktime.Units, unit) {
			return nil, model.Errorf(model.Usage, "bad_value", "period %q: expected %s", unit, strings.Join(blocktime.Units, ", "))
		}
		h, err := q.holder(index, value)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "history by "+unit, h.index.Name, h.scope(), r.String())
		if err != nil {
			return nil, err
		}
		s, base, err := l.historySpan(r)
		a := &HistoryAnswer{Index: h.index.Name, Value: h.text, Derived: h.answer(false), Txs: []HistoryTxAnswer{}, GroupBy: unit}
		if err != nil || h.first() == nil {
			return a, err
		}
		hashes, err := q.Hashes([]model.TxPk{h.first().Tx()})
		if err != nil {
			return nil, err
		}
		first := firstSeen(*h.first(), hashes)
		if a.FirstSeen = &first; s.Empty() || q.Tip.IsOrigin() {
			return a, nil
		}
		groups, base, err := l.groups(h.index, h.births, s, unit, base)
		if err != nil {
			return nil, err
		}
		for _, g := range groups[:min(len(groups), l.limit)] {
			after := base.amount
			if change := g.received.Sub(g.sent).Lo; p.Descending {
				base.amount -= change
			} else {
				base.amount += change
				after = base.amount
			}
			answer := PeriodAnswer{From: g.From, To: g.To, Received: g.received.String(), Sent: g.sent.String(), TxCount: g.txs.count()}
			if base.known {
				answer.Balance = strconv.FormatUint(after, 10)
			}
			a.Periods = append(a.Periods, answer)
		}
		if len(groups) > l.limit {
			a.Next, err = l.next(historyPosition(groups[l.limit-1].last, base.amount, base.known))
		}
		return a, err
	})
}

// group is the transactions of a value in a period.
type group struct {
	blocktime.Period
	received, sent schema.Int128
	txs            txSet
	last           model.TxPk // in the order of the list
}

// groups returns the first periods of s with transactions of a value, up to one more than the limit, and the balance next
// to them, if it is known or takes a bounded number of rows.
func (l *list) groups(
	x *schema.Index, births []model.BirthPk, s setops.Span, unit string, base historyBase,
) (groups []*group, _ historyBase, err error) {
	times, err := blocktime.New(&l.q.Reader)
	if err != nil {
		return nil, base, err
	}
	ps := &blocktime.Periods{Times: times, Unit: unit}
	if !x.Active.Has(schema.FeatureHistory) {
		groups, base.amount, err = l.computedGroups(x, births, s, ps)
		base.known = true
		return groups, base, err
	}
	if !base.after {
		if base.amount, base.known, err = l.q.storedBase(x, births, s, l.Descending); err != nil {
			return nil, base, err
		}
	}
	var g *group
	for batch, err := range Batches(l.q, l.q.StoredHistoryOf(x, births, s, l.Descending), OccurrenceBatch, OccurrenceBatch) {
		if err != nil {
			return nil, base, err
		}
		for _, t := range batch {
			if h := max(t.Tx.Height(), ps.Begin()); g == nil || h < g.First || h > g.Period.Last {
				if len(groups) > l.limit {
					return groups, base, nil
				}
				p, err := l.q.period(ps, h)
				if err != nil {
					return nil, base, err
				}
				g = &group{Period: p}
				groups = append(groups, g)
			}
			g.received, g.sent = g.received.Add(schema.Int128Of(t.Received, 1)), g.sent.Add(schema.Int128Of(t.Sent, 1))
			g.txs.add(t.Tx)
			g.last = t.Tx
		}
	}
	return groups, base, nil
}

// periodRows is the number of rows that a period counts as: about as many blocks are read for its ends.
const periodRows = 16

// period returns the period of the block at h.
func (q *Query) period(ps *blocktime.Periods, h model.HeightPk) (blocktime.Period, error) {
	if err := q.Pass(periodRows); err != nil {
		return blocktime.Period{}, err
	}
	return ps.Of(h)
}

// computedGroups reads the outputs of values. base: see [Query.computedHistory].
func (l *list) computedGroups(
	x *schema.Index, births []model.BirthPk, s setops.Span, ps *blocktime.Periods,
) (groups []*group, base uint64, err error) {
	found := map[model.HeightPk]*group{} // by first block
	add := func(tx model.TxPk, received, sent uint64) error {
		if l.Descending && model.UtxoPk(tx) <= s.Last || !l.Descending && model.UtxoPk(tx) < s.First {
			base += received - sent
		}
		if !s.HasTx(tx) {
			return nil
		}
		p, err := ps.Of(tx.Height())
		if err != nil {
			return err
		}
		g := found[p.First]
		if g == nil {
			if err := l.q.Pass(periodRows); err != nil {
				return err
			}
			g = &group{Period: p, last: tx}
			found[p.First] = g
			groups = append(groups, g)
		}
		if (tx < g.last) == l.Descending {
			g.last = tx
		}
		g.received, g.sent = g.received.Add(schema.Int128Of(received, 1)), g.sent.Add(schema.Int128Of(sent, 1))
		g.txs.add(tx)
		return nil
	}
	for batch, err := range l.q.batches(l.q.OccurrencesOf(x, births, setops.Span{Last: s.Last}, false)) {
		if err != nil {
			return nil, 0, err
		}
		values, spenders, err := l.q.AmountsAndSpenders(batch)
		if err != nil {
			return nil, 0, err
		}
		for i, pk := range batch {
			if err := add(pk.Tx(), values[i], 0); err != nil {
				return nil, 0, err
			}
			if spenders[i] == nil {
				continue
			}
			if err := add(spenders[i].Tx(), 0, values[i]); err != nil {
				return nil, 0, err
			}
		}
	}
	slices.SortFunc(groups, func(a, b *group) int {
		if l.Descending {
			a, b = b, a
		}
		return cmp.Compare(a.First, b.First)
	})
	return groups[:min(len(groups), l.limit+1)], base, nil
}
