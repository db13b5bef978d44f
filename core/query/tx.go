package query

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// Tx returns one transaction: the newest if several have the hash.
func (qs Queries) Tx(ctx context.Context, hash string) (*TxAnswer, error) {
	return read(ctx, qs, func(q *Query) (*TxAnswer, error) {
		pk, err := q.tx(hash)
		if err != nil {
			return nil, err
		}
		txs, err := q.txAnswers([]model.TxPk{pk}, 0)
		return only(txs, err)
	})
}

// txAnswers returns transactions that exist, and resolves their inputs and outputs together. More than most inputs
// and outputs are a Usage error (too_many); 0: no limit.
func (q *Query) txAnswers(pks []model.TxPk, most int) ([]TxAnswer, error) {
	rows, err := q.Many(schema.FamilyTxHash, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	var spends, created []model.UtxoPk
	var createdRows [][]byte
	ends := make([][2]int, len(pks)) // ends of each transaction's part of spends and of created
	for i, pk := range pks {
		spent, err := q.SpendsOf(pk)
		if err != nil {
			return nil, err
		}
		spends = append(spends, spent...)
		if created, createdRows, err = q.outputsOf(pk, created, createdRows); err != nil {
			return nil, err
		}
		ends[i] = [2]int{len(spends), len(created)}
		if most > 0 && len(spends)+len(created) > most {
			return nil, model.Errorf(model.Usage, "too_many",
				"txs: the first %d have more than %d inputs and outputs: request fewer at once", i+1, most)
		}
	}
	hashes := make([]string, len(pks))
	fees := make([]model.Fee, len(pks))
	for i, pk := range pks {
		hash, fee, err := schema.ParseTxHashRow(rows[i])
		if err != nil {
			return nil, fmt.Errorf("transaction %v: %w", pk, err)
		}
		hashes[i], fees[i] = q.Chain.FormatHash(hash), fee
		q.CacheID(pk, hash)
	}
	spentRows, err := q.Many(schema.FamilyUtxo, schema.Keys(spends))
	if err != nil {
		return nil, err
	}
	both, err := q.outputAnswers(slices.Concat(spends, created), slices.Concat(spentRows, createdRows), len(spends))
	if err != nil {
		return nil, err
	}
	if err := q.setMoments(both, slices.Concat(spends, created)); err != nil {
		return nil, err
	}
	inputs, outputs := both[:len(spends)], both[len(spends):]
	blocks, err := q.BlocksOf(pks)
	if err != nil {
		return nil, err
	}
	answers := make([]TxAnswer, len(pks))
	var from [2]int
	for i, pk := range pks {
		a, to := &answers[i], ends[i]
		*a = TxAnswer{
			Chain: q.Chain.Name(), Hash: hashes[i], Height: uint32(pk.Height()), Index: q.TxIndex(pk),
			Inputs: make([]InputAnswer, 0, to[0]-from[0]), Outputs: outputs[from[1]:to[1]:to[1]],
		}
		if block, ok := blocks[pk.Height()]; ok && !q.IsGenesis(pk) {
			a.BlockHash, a.Time, a.Confirmations = q.Chain.FormatHash(block.Hash), block.Time, q.confirmations(pk.Height())
		}
		for n, o := range inputs[from[0]:to[0]] {
			a.Inputs = append(a.Inputs, InputAnswer{Index: n, Output: o})
		}
		a.Coinbase = q.Traits.Coinbase && len(a.Inputs) == 0 && !q.IsGenesis(pk)
		a.Fee = q.feeOf(fees[i], inputs[from[0]:to[0]], a.Outputs)
		if a.Mints, err = q.mintsOf(pk, slices.Concat(spends[from[0]:to[0]], created[from[1]:to[1]])); err != nil {
			return nil, err
		}
		from = to
	}
	return answers, q.setDetails(answers, pks)
}

// feeOf returns the fee of a transaction: the stored fee, else inputs minus outputs. It is empty if there is no fee
// or it is unknown.
func (q *Query) feeOf(stated model.Fee, inputs, outputs []OutputAnswer) string {
	if stated.Stated {
		return strconv.FormatUint(stated.Amount, 10)
	}
	if len(inputs) > 0 && !q.Traits.FeeOutputs {
		if left := new(big.Int).Sub(sum(inputs), sum(outputs)); left.Sign() >= 0 {
			return left.String()
		}
	}
	return ""
}

func sum(outputs []OutputAnswer) *big.Int {
	total, v := new(big.Int), new(big.Int)
	for i := range outputs {
		v.SetString(outputs[i].Value, 10)
		total.Add(total, v)
	}
	return total
}

// SpendsOf returns the outputs that a transaction spends, in the order of its inputs.
func (q *Query) SpendsOf(tx model.TxPk) (spends []model.UtxoPk, err error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	rows := schema.Rows(q.R, schema.FamilySpentUtxo, tx.AppendTo(nil), end.AppendTo(nil), false, schema.ParseSpendRow)
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		spends = append(spends, row.Output)
	}
	return spends, nil
}

// outputsOf appends the outputs of a transaction to created and their rows to rows, in order.
func (q *Query) outputsOf(tx model.TxPk, created []model.UtxoPk, rows [][]byte) ([]model.UtxoPk, [][]byte, error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	for kv, err := range q.R.Scan(schema.FamilyUtxo, tx.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, nil, err
		}
		created, rows = append(created, pk), append(rows, bytes.Clone(kv.Value))
	}
	return created, rows, nil
}

// mintsOf returns the amounts that a transaction minted and burned, for the assets of outputs (the outputs that it
// spends and creates), in the order of first occurrence.
func (q *Query) mintsOf(tx model.TxPk, outputs []model.UtxoPk) ([]MintAnswer, error) {
	if q.Totals.Rows[schema.FamilyAssetSupply] == 0 {
		return nil, nil
	}
	entries, err := q.AssetEntries(outputs)
	if err != nil {
		return nil, err
	}
	births := pointers.AssetsIn(entries)
	keys := make([][]byte, len(births))
	for i, b := range births {
		keys[i] = schema.AppendSupplyKey(nil, b, tx)
	}
	supplies, err := q.R.GetMany(schema.FamilyAssetSupply, keys)
	if err != nil {
		return nil, err
	}
	ids, err := q.AssetIDs(births)
	if err != nil {
		return nil, err
	}
	var mints []MintAnswer
	for i, b := range supplies {
		if b == nil {
			continue
		}
		row, err := schema.ParseSupplyRow(keys[i], b)
		if err != nil {
			return nil, err
		}
		mints = append(mints, MintAnswer{ids[births[i]], row.Amount.String()})
	}
	return mints, nil
}

// OutputsOf returns the outputs of a transaction, in order.
func (q *Query) OutputsOf(tx model.TxPk) ([]model.UtxoPk, error) {
	pks, _, err := q.outputsOf(tx, nil, nil)
	return pks, err
}
