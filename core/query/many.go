package query

import (
	"context"
	"strconv"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// MaxMany is the maximum number of items of one batch query. A longer list is a Usage error (too_many).
const MaxMany = 1000

// manyEntries is the maximum number of inputs and outputs of all transactions of one batch query.
const manyEntries = 100_000

// Outputs returns outputs as [Queries.Output] does, in the order of refs; nil for an output that does not exist. A
// Usage error names the position in the list.
func (qs Queries) Outputs(ctx context.Context, refs []string) ([]*OutputAnswer, error) {
	return read(ctx, qs, func(q *Query) ([]*OutputAnswer, error) {
		pks, err := q.outputRefs(refs)
		if err != nil {
			return nil, err
		}
		found := present(pks)
		l := q.NewLoad()
		outputs, err := q.outputAnswers(l, q.loadOutputs(l, found, nil, 0, true), nil)
		q.nameAssets(outputs)
		return spread(pks, outputs), err
	})
}

// Spends returns the input that spends each output, in the order of refs; nil for an output that does not exist.
func (qs Queries) Spends(ctx context.Context, refs []string) ([]*SpendingAnswer, error) {
	return read(ctx, qs, func(q *Query) ([]*SpendingAnswer, error) {
		pks, err := q.outputRefs(refs)
		if err != nil {
			return nil, err
		}
		spendings, err := q.spendings(present(pks))
		return spread(pks, spendings), err
	})
}

// Txs returns transactions as [Queries.Tx] does, in the order of hashes; nil for an unknown hash. It fails (too_many)
// if the transactions have more than 100,000 inputs and outputs together.
func (qs Queries) Txs(ctx context.Context, hashes []string) ([]*TxAnswer, error) {
	return read(ctx, qs, func(q *Query) ([]*TxAnswer, error) {
		if err := notTooMany("txs", len(hashes)); err != nil {
			return nil, err
		}
		parsed := make([]model.Hash, len(hashes))
		for i, text := range hashes {
			var err error
			if parsed[i], err = q.Chain.ParseHash(text); err != nil {
				return nil, model.Errorf(model.Usage, "bad_value", "txs[%d]: transaction %q: %w", i, text, err)
			}
		}
		found, err := schema.TxPks(q.R, parsed)
		if err != nil {
			return nil, err
		}
		pks := make([]*model.TxPk, len(hashes))
		for i, same := range found {
			if len(same) > 0 {
				pks[i] = &same[0]
			}
		}
		txs, err := q.txAnswers(present(pks), manyEntries)
		return spread(pks, txs), err
	})
}

// Balances returns the totals of values of one index as [Queries.Balance] does, in their order.
func (qs Queries) Balances(ctx context.Context, index string, values []string) ([]BalanceAnswer, error) {
	return read(ctx, qs, func(q *Query) ([]BalanceAnswer, error) {
		if err := notTooMany("values", len(values)); err != nil {
			return nil, err
		}
		holders, err := q.holders(index, values)
		if err != nil {
			return nil, err
		}
		answers := make([]BalanceAnswer, len(values))
		for i, h := range holders {
			a, err := q.balanceAnswer(h, setops.Everywhere.Last)
			if err != nil {
				return nil, err
			}
			answers[i] = *a
		}
		return answers, nil
	})
}

// notTooMany returns an error (too_many) if n exceeds MaxMany.
func notTooMany(what string, n int) error {
	if n > MaxMany {
		return model.Errorf(model.Usage, "too_many", "%d %s: expected at most %d at once", n, what, MaxMany)
	}
	return nil
}

// present returns the pointers that are not nil.
func present[T any](pks []*T) []T {
	found := make([]T, 0, len(pks))
	for _, pk := range pks {
		if pk != nil {
			found = append(found, *pk)
		}
	}
	return found
}

// spread places answers at the positions of the pointers that are not nil.
func spread[P, A any](pks []*P, answers []A) []*A {
	list := make([]*A, len(pks))
	for i := range pks {
		if pks[i] != nil && len(answers) > 0 {
			list[i], answers = &answers[0], answers[1:]
		}
	}
	return list
}

// outputRefs resolves references to outputs, each HASH:N or a value of the chain's spend index (an Ergo box id). The
// result is nil for an output that does not exist.
func (q *Query) outputRefs(refs []string) ([]*model.UtxoPk, error) {
	if err := notTooMany("outputs", len(refs)); err != nil {
		return nil, err
	}
	var hashes []model.Hash
	var indexes []uint64
	var values [][]byte
	var outpoints, boxes []int // positions in refs of outpoints, and of values of the spend index
	for i, ref := range refs {
		hash, n, found := cutRef(ref)
		if !found && q.SpendIndex != nil {
			value, err := q.SpendIndex.Parse(ref)
			if err != nil {
				return nil, model.Errorf(model.Usage, "bad_value", "outputs[%d]: %s: %w", i, q.SpendIndex.Name, err)
			}
			values, boxes = append(values, value), append(boxes, i)
			continue
		}
		var index uint64
		parsed, err := q.Chain.ParseHash(hash)
		if found && err == nil {
			index, err = strconv.ParseUint(n, 10, 32)
		}
		if !found || err != nil {
			return nil, model.Errorf(model.Usage, "bad_value", "outputs[%d]: %q is not an output, expected TXHASH:N", i, ref)
		}
		hashes, indexes, outpoints = append(hashes, parsed), append(indexes, index), append(outpoints, i)
	}
	pks := make([]*model.UtxoPk, len(refs))
	if len(values) > 0 {
		births, err := q.Births(q.R, q.SpendIndex.Number, values)
		if err != nil {
			return nil, err
		}
		for n, birth := range births {
			if birth != nil {
				pks[boxes[n]] = &birth.Utxo
			}
		}
	}
	txs, err := schema.TxPks(q.R, hashes)
	if err != nil {
		return nil, err
	}
	var keys [][]byte // of outpoints, whose outputs may not exist
	var at []int
	for n, same := range txs {
		if len(same) == 0 {
			continue
		}
		if pk, err := same[0].Utxo(int(indexes[n])); err == nil {
			pks[outpoints[n]] = &pk
			keys, at = append(keys, pk.AppendTo(nil)), append(at, outpoints[n])
		}
	}
	rows, err := q.R.GetMany(schema.FamilyUtxo, keys)
	for i, row := range rows {
		if row == nil {
			pks[at[i]] = nil
		}
	}
	return pks, err
}

// spendings returns the inputs that spend outputs. The outputs must exist.
func (q *Query) spendings(pks []model.UtxoPk) ([]SpendingAnswer, error) {
	spenders, err := q.SpendersOf(pks)
	if err != nil {
		return nil, err
	}
	var txs []model.TxPk
	for i, pk := range pks {
		if txs = append(txs, pk.Tx()); spenders[i] != nil {
			txs = append(txs, spenders[i].Tx())
		}
	}
	hashes, err := q.Hashes(txs)
	if err != nil {
		return nil, err
	}
	answers := make([]SpendingAnswer, len(pks))
	for i, pk := range pks {
		answers[i] = SpendingAnswer{hashes[pk.Tx()], pk.Index(), Optional[SpentByAnswer]{spentBy(spenders[i], hashes)}}
	}
	return answers, nil
}
