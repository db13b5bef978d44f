package query

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"birthmark/core/schema"
	"birthmark/model"
)

// Tx is one transaction, the newest where a hash occurs more than once.
func (ask Queries) Tx(ctx context.Context, hash string) (a *TxAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		pk, err := q.tx(hash)
		if err != nil {
			return err
		}
		txs, err := q.txAnswers([]model.TxPk{pk}, 0)
		if err == nil {
			a = &txs[0]
		}
		return err
	})
	return a, err
}

// txAnswers are transactions that exist, their inputs and outputs resolved together. More than most inputs and outputs are
// wrong use; 0: as many as there are.
func (q *Query) txAnswers(pks []model.TxPk, most int) ([]TxAnswer, error) {
	rows, err := q.many(schema.FamilyTxHash, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	var spends, made []model.UtxoPk
	var madeRows [][]byte
	ends := make([][2]int, len(pks)) // of each one's spends, and of what it made
	for i, pk := range pks {
		spent, err := q.spendsOf(pk)
		if err != nil {
			return nil, err
		}
		spends = append(spends, spent...)
		if made, madeRows, err = q.outputsOf(pk, made, madeRows); err != nil {
			return nil, err
		}
		ends[i] = [2]int{len(spends), len(made)}
		if most > 0 && len(spends)+len(made) > most {
			return nil, model.Errorf(model.Usage, "too_many", "txs: the first %d have more than %d inputs and outputs: ask for fewer at once", i+1, most)
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
		q.learn(schema.TxSpace, model.BirthPk{Utxo: model.UtxoPk(pk)}, hashes[i])
	}
	spentRows, err := q.many(schema.FamilyUtxo, schema.Keys(spends))
	if err != nil {
		return nil, err
	}
	both, err := q.outputAnswers(slices.Concat(spends, made), slices.Concat(spentRows, madeRows), len(spends))
	if err != nil {
		return nil, err
	}
	inputs, outputs := both[:len(spends)], both[len(spends):]
	blocks, err := q.blocksOf(pks)
	if err != nil {
		return nil, err
	}
	answers := make([]TxAnswer, len(pks))
	var from [2]int
	for i, pk := range pks {
		a, to := &answers[i], ends[i]
		*a = TxAnswer{
			Chain: q.Chain.Name(), Hash: hashes[i], Height: uint32(pk.Height()), Index: q.txIndex(pk),
			Inputs: make([]InputAnswer, 0, to[0]-from[0]), Outputs: outputs[from[1]:to[1]:to[1]],
		}
		if block, ok := blocks[pk.Height()]; ok && !q.isGenesis(pk) {
			a.BlockHash, a.Time = q.Chain.FormatHash(block.Hash), block.Time
		}
		for n, o := range inputs[from[0]:to[0]] {
			a.Inputs = append(a.Inputs, InputAnswer{n, o})
		}
		a.Coinbase = q.Traits.Coinbase && len(a.Inputs) == 0 && !q.isGenesis(pk)
		a.Fee = q.feeOf(fees[i], inputs[from[0]:to[0]], a.Outputs)
		if a.Mints, err = q.mintsOf(pk, slices.Concat(spends[from[0]:to[0]], made[from[1]:to[1]])); err != nil {
			return nil, err
		}
		from = to
	}
	return answers, nil
}

// blocksOf are the blocks that transactions stand in, by height. What existed before the first block may stand in none.
func (q *Query) blocksOf(pks []model.TxPk) (map[model.HeightPk]schema.BlockRow, error) {
	blocks := map[model.HeightPk]schema.BlockRow{}
	for _, pk := range pks {
		h := pk.Height()
		if _, known := blocks[h]; known || q.isGenesis(pk) {
			continue
		}
		row, err := schema.BlockAt(q.R, h)
		if err != nil {
			return nil, err
		}
		blocks[h] = row
	}
	return blocks, nil
}

// feeOf is the fee of a transaction: the stored one, else inputs minus outputs. Empty: it is unknown, or there is
// none.
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

// spendsOf is what the inputs of a transaction spend, in order.
func (q *Query) spendsOf(tx model.TxPk) (spends []model.UtxoPk, err error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	for kv, err := range q.R.Scan(schema.FamilySpentUtxo, tx.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Value)
		if err != nil {
			return nil, err
		}
		spends = append(spends, pk)
	}
	return spends, nil
}

// outputsOf adds the outputs of a transaction, in order, and their rows.
func (q *Query) outputsOf(tx model.TxPk, made []model.UtxoPk, rows [][]byte) ([]model.UtxoPk, [][]byte, error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	for kv, err := range q.R.Scan(schema.FamilyUtxo, tx.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, nil, err
		}
		made, rows = append(made, pk), append(rows, bytes.Clone(kv.Value))
	}
	return made, rows, nil
}

// mintsOf is what a transaction minted and burned: of assets that came in or went out, in the order of their births.
func (q *Query) mintsOf(tx model.TxPk, outputs []model.UtxoPk) ([]MintAnswer, error) {
	if q.Totals.Rows[schema.FamilyAssetSupply] == 0 {
		return nil, nil
	}
	rows, err := q.R.GetMany(schema.FamilyAssets, schema.Keys(outputs))
	if err != nil {
		return nil, err
	}
	var births []model.AssetBirthPk
	for i, row := range rows {
		entries, err := schema.ParseAssetsRow(outputs[i], row)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			births = append(births, e.Birth)
		}
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	births = slices.Compact(births)
	keys := make([][]byte, len(births))
	for i, b := range births {
		keys[i] = schema.AppendSupplyKey(nil, b, tx)
	}
	supplies, err := q.R.GetMany(schema.FamilyAssetSupply, keys)
	if err != nil {
		return nil, err
	}
	ids, err := q.assetIDs(births)
	if err != nil {
		return nil, err
	}
	var mints []MintAnswer
	for i, b := range supplies {
		if b == nil {
			continue
		}
		amount, err := schema.ParseSupplyRow(b)
		if err != nil {
			return nil, err
		}
		mints = append(mints, MintAnswer{ids[births[i]], amount.String()})
	}
	return mints, nil
}
