package query

import (
	"encoding/binary"
	"math/big"
	"slices"
	"strconv"

	"birthmark/core/query/pointers"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// maxSummed is the number of rows of a stored history that are summed for the balances of a page. If a page needs more,
// its balances and those of later pages are unknown.
const maxSummed = 100_000

// balanceSize is the size in bytes of the balance in the position of a history's cursor.
const balanceSize = 8

// historyBase is the balance next to a page, in its order: before the first transaction, or after it if the order is
// descending.
type historyBase struct {
	amount uint64
	known  bool
	after  bool // the page follows another one: without a balance in its cursor, the balances are unknown
}

// historyPosition returns the position of an entry that ends with a transaction, the last one in the order of the list. Its
// key ends with the balance next to the following page, if it is known.
func historyPosition(last model.TxPk, balance uint64, known bool) position {
	p := at(model.UtxoPk(last))
	if known {
		p.key = binary.BigEndian.AppendUint64(p.key, balance)
	}
	return p
}

// historySpan returns the transactions that follow the cursor, and the balance in it.
func (l *list) historySpan(r Range) (s setops.Span, base historyBase, err error) {
	if s, err = l.q.Span(r); err != nil {
		return s, base, err
	}
	c, err := l.cursor(anySize)
	if c == nil || err != nil {
		return s, base, err
	}
	base.after = true
	if len(c.position) == model.PkSize+balanceSize {
		base.amount, base.known = binary.BigEndian.Uint64(c.position[model.PkSize:]), true
	} else if len(c.position) != model.PkSize {
		_, err = l.cursor(model.PkSize) // the error of a wrong size
		return s, base, err
	}
	tx, err := model.ParseTxPk(c.position[:model.PkSize])
	if err != nil {
		return s, base, err
	}
	return s.AfterTx(tx, l.Descending), base, l.checkBlock(c, tx.Height())
}

// balancedAmounts returns transactions as [Query.TxAmounts] does, and the balance next to them, if it is known or takes
// a bounded number of rows.
func (q *Query) balancedAmounts(
	x *schema.Index, births []model.BirthPk, s setops.Span, descending bool, limit int, base historyBase,
) (txs []schema.TxAmounts, _ historyBase, err error) {
	if s.Empty() {
		return nil, base, nil
	}
	if !x.Active.Has(schema.FeatureHistory) {
		var amount uint64
		if q.ahead != nil {
			txs, amount, err = q.ahead.history(q, x, births, s, descending, limit)
		} else {
			txs, amount, err = q.computedHistory(x, births, s, descending, limit)
		}
		return txs, historyBase{amount: amount, known: true}, err
	}
	if txs, err = q.storedHistory(x, births, s, descending, limit); err != nil || base.after {
		return txs, base, err
	}
	base.amount, base.known, err = q.storedBase(x, births, s, descending)
	return txs, base, err
}

// storedBase returns the balance before the first transaction of s, or after the last one if descending is set, of an
// index that stores histories; ok is false if that takes too many rows.
func (q *Query) storedBase(x *schema.Index, births []model.BirthPk, s setops.Span, descending bool) (amount uint64, ok bool, err error) {
	if !descending {
		if s.First == 0 {
			return 0, true, nil
		}
		return q.sumHistory(x, births, setops.Span{Last: s.First - 1})
	}
	if !x.Active.Has(schema.FeatureBalance) {
		return q.sumHistory(x, births, setops.Span{Last: s.Last})
	}
	accounts, err := q.accounts(x, births)
	if err != nil {
		return 0, false, err
	}
	for _, a := range accounts {
		amount += new(big.Int).Sub(a.Received.Big(), a.Sent.Big()).Uint64()
	}
	if s.Last == setops.Everywhere.Last {
		return amount, true, nil
	}
	later, ok, err := q.sumHistory(x, births, setops.Span{First: s.Last + 1, Last: setops.Everywhere.Last})
	return amount - later, ok, err
}

// sumHistory returns the received minus the sent amounts of values in the transactions of s, modulo 2^64; ok is false if
// there are more than maxSummed.
func (q *Query) sumHistory(x *schema.Index, births []model.BirthPk, s setops.Span) (sum uint64, ok bool, err error) {
	n := 0
	for row, err := range q.StoredHistoryOf(x, births, s, false) {
		if err != nil {
			return 0, false, err
		}
		if n++; n > maxSummed {
			return 0, false, nil
		}
		if n%OccurrenceBatch == 0 {
			if err := q.Pass(OccurrenceBatch); err != nil {
				return 0, false, err
			}
		}
		sum += row.Received - row.Sent
	}
	return sum, true, nil
}

// balancesAfter returns the balance after each transaction; nil if it is unknown.
func balancesAfter(txs []schema.TxAmounts, base historyBase, descending bool) []uint64 {
	if !base.known || len(txs) == 0 {
		return nil
	}
	balances, amount := make([]uint64, len(txs)), base.amount
	for i, t := range txs {
		if !descending {
			amount += t.Received - t.Sent
		}
		balances[i] = amount
		if descending {
			amount -= t.Received - t.Sent
		}
	}
	return balances
}

// balanceText formats a balance between two transactions. On unordered chains it can be negative within a block.
func (q *Query) balanceText(balance uint64) string {
	if q.Chain.Traits().Unordered {
		return strconv.FormatInt(int64(balance), 10)
	}
	return strconv.FormatUint(balance, 10)
}

// setTimes sets the block times of transactions. Genesis transactions have none.
func (q *Query) setTimes(answers []HistoryTxAnswer, txs []schema.TxAmounts) error {
	var heights []model.HeightPk
	for _, t := range txs {
		if !q.IsGenesis(t.Tx) {
			heights = append(heights, t.Tx.Height())
		}
	}
	times, err := q.BlockTimes(heights)
	if err != nil {
		return err
	}
	for i, t := range txs {
		if !q.IsGenesis(t.Tx) {
			answers[i].Time = times[t.Tx.Height()]
		}
	}
	return nil
}

// setHistoryAssets sets what values received and sent of each asset in transactions.
func (q *Query) setHistoryAssets(answers []HistoryTxAnswer, x *schema.Index, births []model.BirthPk, txs []schema.TxAmounts) error {
	if q.Totals.Assets == 0 {
		return nil
	}
	outputs, spent, err := q.MovedOutputs(x, births, txs)
	if err != nil {
		return err
	}
	all := slices.Concat(outputs, spent)
	pks := make([]model.UtxoPk, len(all))
	for i, o := range all {
		pks[i] = o.Pk
	}
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return err
	}
	assets := pointers.AssetsIn(entries)
	ids, err := q.AssetIDs(assets)
	if err != nil {
		return err
	}
	type movement struct{ received, sent big.Int }
	moved := make([]map[model.AssetBirthPk]*movement, len(txs))
	for n, es := range entries {
		for _, e := range es {
			in := all[n].Tx
			if moved[in] == nil {
				moved[in] = map[model.AssetBirthPk]*movement{}
			}
			m := moved[in][e.Birth]
			if m == nil {
				m = new(movement)
				moved[in][e.Birth] = m
			}
			sum := &m.received
			if n >= len(outputs) {
				sum = &m.sent
			}
			sum.Add(sum, e.Amount.Big())
		}
	}
	for i := range answers {
		for _, b := range assets {
			if m := moved[i][b]; m != nil {
				answers[i].Assets = append(answers[i].Assets, HistoryAssetAnswer{ids[b], m.received.String(), m.sent.String()})
			}
		}
	}
	return nil
}

// MovedOutput is an output of a value that a transaction creates or spends.
type MovedOutput struct {
	Pk model.UtxoPk
	Tx int // position in a list of transactions
}

// MovedOutputs returns the outputs of values, whose births are in order, that transactions create, and the outputs of them
// that they spend.
func (q *Query) MovedOutputs(x *schema.Index, births []model.BirthPk, txs []schema.TxAmounts) (created, spent []MovedOutput, err error) {
	var pks []model.UtxoPk // outputs of any value that the transactions spend
	var by []int
	owns := func(row schema.UtxoRow) bool {
		return slices.ContainsFunc(row.Occurrences, func(o schema.Occurrence) bool {
			if o.Index != x {
				return false
			}
			_, found := slices.BinarySearchFunc(births, o.Birth, schema.CompareBirths)
			return found
		})
	}
	for i, t := range txs {
		in := setops.Span{First: model.UtxoPk(t.Tx), Last: t.Tx.Last()}
		outputs := q.OccurrencesOf(x, births, in, false)
		if len(births) > 1 { // the outputs of the transaction are fewer than the values of a wallet
			outputs = q.ownOutputs(t.Tx, owns)
		}
		for pk, err := range outputs {
			if err != nil {
				return nil, nil, err
			}
			created = append(created, MovedOutput{pk, i})
		}
		of, err := q.SpendsOf(t.Tx)
		if err != nil {
			return nil, nil, err
		}
		for _, pk := range of {
			pks, by = append(pks, pk), append(by, i)
		}
	}
	rows, err := q.UtxoRows(pks)
	for i, row := range rows {
		if owns(row) {
			spent = append(spent, MovedOutput{pks[i], by[i]})
		}
	}
	return created, spent, err
}

// ownOutputs yields the outputs of a transaction for whose rows owns returns true.
func (q *Query) ownOutputs(tx model.TxPk, owns func(schema.UtxoRow) bool) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		pks, raw, err := q.OutputRows(tx, nil, nil)
		for i, pk := range pks {
			var row schema.UtxoRow
			if row, err = q.ParseUtxoRow(pk, raw[i]); err != nil || owns(row) && !yield(pk, nil) {
				break
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}
