package query

import (
	"math/big"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// walletBalance returns the sums over the values of a wallet after the block whose last position is last, and the totals
// of each value that occurs up to there. A transaction of several values is counted once. If the index stores balances and
// histories, it reads the balances and the histories, else every output of the values.
func (q *Query) walletBalance(h *holder, last model.UtxoPk) (*balance, []DerivedBalanceAnswer, error) {
	x, sum := h.index, &balance{assets: map[model.AssetBirthPk]*big.Int{}}
	stored := last >= q.LastPk(q.Tip.Height) && x.Active.Has(schema.FeatureBalance) && x.Active.Has(schema.FeatureHistory)
	used := make([]DerivedBalanceAnswer, 0, len(h.births))
	for _, v := range h.wallet.all {
		if v.Birth == nil || v.Birth.Utxo > last {
			continue
		}
		var b *balance
		var err error
		if stored {
			if err = q.Pass(1); err == nil {
				b, err = q.storedBalance(x, *v.Birth)
			}
		} else if b, err = q.computedBalance(x, *v.Birth, last); err == nil {
			sum.txs.addSet(&b.txs)
		}
		if err != nil {
			return nil, nil, err
		}
		sum.add(b)
		used = append(used, DerivedBalanceAnswer{
			DerivedValueAnswer: DerivedValueAnswer{x.Format(v.Value), v.Branch, v.Position, h.wallet.Path(v.Branch, v.Position)},
			Balance:            new(big.Int).Sub(&b.received, &b.sent).String(), Received: b.received.String(), Sent: b.sent.String(),
			TxCount: b.txCount,
		})
	}
	if !stored {
		sum.txCount = sum.txs.count()
		return sum, used, nil
	}
	for batch, err := range Batches(q, q.StoredHistoryOf(x, h.births, setops.Everywhere, false), OccurrenceBatch, OccurrenceBatch) {
		if err != nil {
			return nil, nil, err
		}
		sum.txCount += uint64(len(batch))
	}
	return sum, used, nil
}

// add adds the totals of another value, except the number of transactions.
func (b *balance) add(other *balance) {
	b.received.Add(&b.received, &other.received)
	b.sent.Add(&b.sent, &other.sent)
	b.outputs += other.outputs
	b.unspent += other.unspent
	for asset, amount := range other.assets {
		if n := b.assets[asset]; n != nil {
			amount = n.Add(n, amount)
		}
		b.assets[asset] = amount
	}
}
