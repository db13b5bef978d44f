package query

import (
	"context"
	"math/big"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Moment is a block: the one at Height, or the last one whose time is not after Time (unix seconds). One of them is set.
type Moment struct {
	Height *model.HeightPk
	Time   *int64
}

// String formats the moment for errors. Different moments have different texts.
func (m Moment) String() string { return Range{ToHeight: m.Height, ToTime: m.Time}.String() }

// maxUndone is the number of transactions up to which the balance at an earlier block is the stored balance without the
// transactions after it, assets and counts included.
var maxUndone = 10_000

// BalanceAt returns the totals of a value after the block of m. Genesis belongs to height 0. A moment that has no block
// yet is a Usage error (empty_range).
//
// If the index stores balances and histories, it reads the transactions after the block, up to 10,000. Beyond, on a
// chain without assets, it sums the shorter part of the history, before or after the block, and the number of unspent
// outputs is unknown. Otherwise it reads every output of the value up to the block.
func (qs Queries) BalanceAt(ctx context.Context, index, value string, m Moment) (*BalanceAnswer, error) {
	return read(ctx, qs, func(q *Query) (*BalanceAnswer, error) {
		of, err := q.holder(index, value)
		if err != nil {
			return nil, err
		}
		s, err := q.Span(Range{ToHeight: m.Height, ToTime: m.Time})
		if err != nil {
			return nil, err
		}
		if m.Height != nil && (q.Tip.IsOrigin() || *m.Height > q.Tip.Height) {
			return nil, model.Errorf(model.Usage, "empty_range", "at height %d: the chain has no such block: %s", *m.Height, q.extent())
		}
		h := min(s.Last.Height(), q.Tip.Height)
		row, _, err := schema.FindBlock(q.R, h) // genesis can be without a block
		if err != nil {
			return nil, err
		}
		a, err := q.balanceAnswer(of, q.LastPk(h))
		if err == nil {
			a.At = &TipAnswer{uint32(h), FormatParent(q.Chain, row.Hash), row.Time}
		}
		return a, err
	})
}

// balanceUntil returns the totals of a value after an earlier block, whose last position is last.
func (q *Query) balanceUntil(x *schema.Index, birth model.BirthPk, last model.UtxoPk) (*balance, error) {
	if !x.Active.Has(schema.FeatureHistory) || !x.Active.Has(schema.FeatureBalance) {
		return q.computedBalance(x, birth, last)
	}
	account, err := q.Account(x, birth)
	if err != nil {
		return nil, err
	}
	later, err := q.storedHistory(x, []model.BirthPk{birth}, setops.Span{First: last + 1, Last: setops.Everywhere.Last}, true, maxUndone+1)
	switch {
	case err != nil:
		return nil, err
	case len(later) <= maxUndone:
		if err := q.Pass(len(later)); err != nil {
			return nil, err
		}
		return q.undone(x, birth, later)
	case q.Totals.Assets > 0:
		return q.computedBalance(x, birth, last)
	}
	return q.summedBalance(x, birth, last, account)
}

// undone returns the stored totals of a value without the last transactions in its history.
func (q *Query) undone(x *schema.Index, birth model.BirthPk, later []schema.TxAmounts) (*balance, error) {
	b, err := q.storedBalance(x, birth)
	if err != nil {
		return nil, err
	}
	n := new(big.Int)
	for _, t := range later {
		b.received.Sub(&b.received, n.SetUint64(t.Received))
		b.sent.Sub(&b.sent, n.SetUint64(t.Sent))
	}
	b.txCount -= uint64(len(later))
	for len(later) > 0 {
		batch := later[:min(len(later), OccurrenceBatch)]
		later = later[len(batch):]
		outputs, spent, err := q.MovedOutputs(x, []model.BirthPk{birth}, batch)
		if err != nil {
			return nil, err
		}
		if err := q.Pass(len(outputs) + len(spent)); err != nil {
			return nil, err
		}
		b.outputs -= uint64(len(outputs))
		b.unspent += uint64(len(spent)) - uint64(len(outputs))
		if q.Totals.Assets == 0 {
			continue
		}
		for _, side := range []struct {
			pks  []MovedOutput
			sign int
		}{{outputs, -1}, {spent, 1}} {
			pks := make([]model.UtxoPk, len(side.pks))
			for i, o := range side.pks {
				pks[i] = o.Pk
			}
			if err := q.addAssets(b, pks, side.sign); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// summedBalance sums the history of a value up to last, or after it if that is shorter. It counts no unspent outputs.
func (q *Query) summedBalance(
	x *schema.Index, birth model.BirthPk, last model.UtxoPk, account schema.Account,
) (*balance, error) {
	sum := func(s setops.Span, descending bool, most uint64) (b *balance, ok bool, err error) {
		b = &balance{unknownUnspent: true}
		var received, sent schema.Int128
		for t, err := range q.StoredHistory(x, birth, s, descending) {
			if err == nil && b.txCount%OccurrenceBatch == 0 {
				err = q.Pass(OccurrenceBatch)
			}
			if err != nil || b.txCount == most {
				return nil, false, err
			}
			b.txCount++
			received, sent = received.Add(schema.Int128Of(t.Received, 1)), sent.Add(schema.Int128Of(t.Sent, 1))
		}
		for _, err := range q.Occurrences(x, birth, s, descending) {
			if b.outputs++; err == nil && b.outputs%OccurrenceBatch == 0 {
				err = q.Pass(OccurrenceBatch)
			}
			if err != nil {
				return nil, false, err
			}
		}
		b.received, b.sent = *received.Big(), *sent.Big()
		return b, true, nil
	}
	later, ok, err := sum(setops.Span{First: last + 1, Last: setops.Everywhere.Last}, true, uint64(account.Txs)/2)
	if err != nil {
		return nil, err
	}
	if !ok {
		b, _, err := sum(setops.Span{Last: last}, false, uint64(account.Txs))
		return b, err
	}
	later.received.Sub(account.Received.Big(), &later.received)
	later.sent.Sub(account.Sent.Big(), &later.sent)
	later.txCount, later.outputs = uint64(account.Txs)-later.txCount, uint64(account.Outputs)-later.outputs
	return later, nil
}
