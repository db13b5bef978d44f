package answers

import (
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/model"
)

// Summary returns the answer for a transaction without its inputs and outputs.
func (r *Reader) Summary(t *pending.Tx) query.PendingTxSummaryAnswer {
	ancestors := r.Overlay.Ancestors(t)
	a := query.PendingTxSummaryAnswer{
		Hash: r.Chain.FormatHash(t.ID), FirstSeen: t.Seen().Unix(), Size: t.Size, VSize: t.VSize, Weight: t.Weight,
		Ancestors: query.AncestorsAnswer{Count: ancestors.Count, VSize: ancestors.VSize, Fee: Decimal(ancestors.Fee)},
	}
	if t.FeeKnown {
		a.Fee, a.FeeRate = Decimal(t.Fee), t.Rate()
	}
	return a
}

// Tx returns the answer for a transaction.
func (r *Reader) Tx(t *pending.Tx) *query.PendingTxAnswer {
	a := &query.PendingTxAnswer{
		PendingTxSummaryAnswer: r.Summary(t), Chain: r.Chain.Name(), Status: "unconfirmed",
		Inputs: []query.PendingInputAnswer{}, Outputs: []query.PendingOutputAnswer{},
	}
	for i := range t.Inputs() {
		in := &t.Inputs()[i]
		a.Inputs = append(a.Inputs, query.PendingInputAnswer{Index: i, Output: r.Output(in.Outpoint, in.Spends(), false)})
	}
	for i := range t.NumOutputs() {
		at := pending.Outpoint{Tx: t.ID, Index: t.FirstOutput + uint32(i)}
		a.Outputs = append(a.Outputs, r.Output(at, t.Output(i), true))
	}
	for _, m := range t.Mints {
		a.Mints = append(a.Mints, query.MintAnswer{Asset: r.Chain.FormatAsset(m.Asset), Amount: m.Amount.String()})
	}
	if describer, ok := r.Chain.(model.AssetDescriber); ok {
		for _, c := range t.Created {
			d := describer.DescribeAsset(c.Info)
			a.Creates = append(a.Creates, query.PendingCreateAnswer{
				Asset: r.Chain.FormatAsset(c.ID), Name: d.Name, Description: d.Description, Decimals: d.Decimals,
			})
		}
	}
	return a
}

// maxListed is the maximum number of transactions in an answer about a value.
const maxListed = query.MaxLimit

// History returns the transactions that pay to a value of an index or spend from it, in the order of arrival. Its errors
// are of kind [model.Usage].
func (r *Reader) History(index, text string) (*query.PendingHistoryAnswer, error) {
	values, err := r.Values(index, text)
	if err != nil {
		return nil, err
	}
	a := &query.PendingHistoryAnswer{State: r.State().String(), Txs: []query.PendingHistoryTxAnswer{}}
	for t := range r.TxsOf(values, 0) {
		if err := r.Pass(1); err != nil {
			return nil, err
		}
		if a.TxCount++; len(a.Txs) == maxListed {
			continue
		}
		received, sent := values.amounts(t)
		a.Txs = append(a.Txs, query.PendingHistoryTxAnswer{
			Hash: r.Chain.FormatHash(t.ID), FirstSeen: t.Seen().Unix(), Received: Decimal(received),
			Sent: Decimal(sent), UnconfirmedParent: r.UnconfirmedParent(t),
		})
	}
	return a, nil
}
