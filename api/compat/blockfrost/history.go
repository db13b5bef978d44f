package blockfrost

import (
	"iter"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// historyJSON is a transaction in a list.
type historyJSON struct {
	Address     string `json:"address,omitempty"` // in lists of an account
	TxHash      string `json:"tx_hash"`
	TxIndex     int    `json:"tx_index"`
	BlockHeight uint32 `json:"block_height"`
	BlockTime   int64  `json:"block_time"`
}

// history returns the transactions of a page that pay to a holder or spend from it. Outputs before the first block are in
// no transaction.
func (q *request) history(h *holder) ([]model.TxPk, error) {
	p := q.Page
	s, err := q.Span()
	if err != nil {
		return nil, err
	}
	if s, err = q.withoutGenesis(s); err != nil {
		return nil, err
	}
	return exchange.PageOf(q.Request, p, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		rest := s
		if after != nil {
			rest = s.AfterTx(*after, p.Descending)
		}
		return txsIn(q.Q.StoredHistory(h.index, *h.birth, rest, p.Descending))
	})
}

// withoutGenesis returns the part of a span in blocks.
func (q *request) withoutGenesis(s setops.Span) (setops.Span, error) {
	first, err := q.TxAt(0, 0)
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

// listed returns transactions as lists have them.
func (q *request) listed(txs []model.TxPk) ([]historyJSON, error) {
	ids, err := q.Q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	heights := make([]model.HeightPk, len(txs))
	for i, tx := range txs {
		heights[i] = tx.Height()
	}
	if err := q.ReadPoints(heights...); err != nil {
		return nil, err
	}
	all := make([]historyJSON, len(txs))
	for i, tx := range txs {
		all[i] = historyJSON{
			TxHash: ids[i].String(), TxIndex: q.Q.TxIndex(tx), BlockHeight: uint32(tx.Height()), BlockTime: q.PointAt(tx.Height()).Time,
		}
	}
	return all, nil
}

func addressTransactions(q *request) error {
	h, err := q.holder()
	if err != nil {
		return err
	}
	txs, err := q.history(h)
	if err != nil {
		return err
	}
	q.Answer, err = q.listed(txs)
	return err
}

func addressTxs(q *request) error {
	h, err := q.holder()
	if err != nil {
		return err
	}
	txs, err := q.history(h)
	if err != nil {
		return err
	}
	q.Answer, err = q.Hashes(txs)
	return err
}
