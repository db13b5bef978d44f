package blockfrost

import (
	"iter"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// history returns the transactions of a page that pay to the holder of the path or spend from it. Outputs before the
// first block are in no transaction.
func (v *view) history() ([]model.TxPk, error) {
	h, err := v.holder()
	if err != nil {
		return nil, err
	}
	s, err := v.span()
	if err != nil {
		return nil, err
	}
	if s, err = v.withoutGenesis(s); err != nil {
		return nil, err
	}
	return pageOf(v, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		return txsIn(v.Q.StoredHistory(h.index, *h.birth, v.page.afterTx(s, after), v.page.descending))
	})
}

// withoutGenesis returns the part of a span in blocks.
func (v *view) withoutGenesis(s setops.Span) (setops.Span, error) {
	first, err := v.txAt(0, 0)
	s.First = max(s.First, model.UtxoPk(first))
	return s, err
}

func txsIn(rows iter.Seq2[schema.TxAmounts, error]) iter.Seq2[model.TxPk, error] {
	return func(yield func(model.TxPk, error) bool) {
		for row, err := range rows {
			if !yield(row.Tx, err) {
				return
			}
		}
	}
}

// historyOf returns transactions as lists have them.
func (v *view) historyOf(txs []model.TxPk) ([]historyValue, error) {
	ids, err := v.Q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	heights := make([]model.HeightPk, len(txs))
	for i, tx := range txs {
		heights[i] = tx.Height()
	}
	if err := v.ReadPoints(heights...); err != nil {
		return nil, err
	}
	all := make([]historyValue, len(txs))
	for i, tx := range txs {
		all[i] = historyValue{
			TxHash: ids[i].String(), TxIndex: v.Q.TxIndex(tx), BlockHeight: uint32(tx.Height()), BlockTime: v.PointAt(tx.Height()).Time,
		}
	}
	return all, nil
}

func addressTransactions(v *view) (any, error) {
	txs, err := v.history()
	if err != nil {
		return nil, err
	}
	return v.historyOf(txs)
}

func addressTxs(v *view) (any, error) {
	txs, err := v.history()
	if err != nil {
		return nil, err
	}
	return v.hashes(txs)
}
