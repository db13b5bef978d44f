package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"birthmark/core/schema"
	"birthmark/model"
)

// Output returns one output by "HASH:N", or by a value of the chain's spend index (an Ergo box id).
func (qs Queries) Output(ctx context.Context, ref string) (*OutputAnswer, error) {
	return read(ctx, qs, func(q *Query) (*OutputAnswer, error) {
		pk, row, err := q.output(ref)
		if err != nil {
			return nil, err
		}
		outputs, err := q.outputAnswers([]model.UtxoPk{pk}, row, 0)
		return only(outputs, err)
	})
}

// output returns an output and its row.
func (q *Query) output(ref string) (pk model.UtxoPk, row [][]byte, err error) {
	hash, n, found := strings.Cut(ref, ":")
	if !found {
		if q.SpendIndex == nil {
			return 0, nil, model.Errorf(model.Usage, "bad_value", "output %q: expected TXHASH:N", ref)
		}
		_, _, birth, err := q.Value(q.SpendIndex.Name, ref)
		switch {
		case err != nil:
			return 0, nil, err
		case birth == nil:
			return 0, nil, model.Errorf(model.NotFound, "unknown_output", "no output with %s %s", q.SpendIndex.Name, ref)
		}
		row, err = q.many(schema.FamilyUtxo, [][]byte{birth.Utxo.AppendTo(nil)})
		return birth.Utxo, row, err
	}
	index, err := strconv.ParseUint(n, 10, 32)
	if err != nil {
		return 0, nil, model.Errorf(model.Usage, "bad_value", "output %q: %q is not an output index, expected TXHASH:N", ref, n)
	}
	tx, err := q.tx(hash)
	if err != nil {
		return 0, nil, err
	}
	if pk, err = tx.Utxo(int(index)); err == nil {
		row, err = q.R.GetMany(schema.FamilyUtxo, [][]byte{pk.AppendTo(nil)})
		if err != nil || row[0] != nil {
			return pk, row, err
		}
	}
	return 0, nil, model.Errorf(model.NotFound, "unknown_output", "transaction %s has no output %d", hash, index)
}

// Hashes returns the hashes of transactions. It sorts pks in place.
func (q *Query) Hashes(pks []model.TxPk) (map[model.TxPk]string, error) {
	slices.Sort(pks)
	pks = slices.Compact(pks)
	ats := make([]model.BirthPk, len(pks))
	for i, pk := range pks {
		ats[i] = model.BirthPk{Utxo: model.UtxoPk(pk)}
	}
	format := func(row []byte) (string, error) {
		hash, _, err := schema.ParseTxHashRow(row)
		return q.Chain.FormatHash(hash), err
	}
	texts, err := q.textsOf(schema.TxSpace, schema.FamilyTxHash, false, ats, format)
	hashes := make(map[model.TxPk]string, len(pks))
	for i := range texts {
		hashes[pks[i]] = texts[i]
	}
	return hashes, err
}

// Outputs returns the answers for outputs that exist, with a constant number of batched reads. SpentBy is set for the
// outputs from pks[spentFrom] on.
func (q *Query) Outputs(pks []model.UtxoPk, spentFrom int) ([]OutputAnswer, error) {
	rows, err := q.many(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	return q.outputAnswers(pks, rows, spentFrom)
}

// outputAnswers returns the answers for outputs whose rows have been read.
func (q *Query) outputAnswers(pks []model.UtxoPk, rows [][]byte, spentFrom int) ([]OutputAnswer, error) {
	answers := make([]OutputAnswer, len(pks))
	keys := schema.Keys(pks)
	spenders, err := q.spenders(pks[spentFrom:], keys[spentFrom:])
	if err != nil {
		return nil, err
	}
	txs := make([]model.TxPk, 0, len(pks))
	for _, pk := range pks {
		txs = append(txs, pk.Tx())
	}
	for _, input := range spenders {
		if input != nil {
			txs = append(txs, input.Tx())
		}
	}
	hashes, err := q.Hashes(txs)
	if err != nil {
		return nil, err
	}
	occurrences := make([][]schema.Occurrence, len(pks))
	spentBys := make([]Optional[SpentByAnswer], len(spenders))
	for i, pk := range pks {
		row, err := q.ParseUtxoRow(pk, rows[i])
		if err != nil {
			return nil, fmt.Errorf("output %v: %w", pk, err)
		}
		a := &answers[i]
		*a = OutputAnswer{
			Tx: hashes[pk.Tx()], Index: pk.Index(), Height: uint32(pk.Height()), TxIndex: q.txIndex(pk.Tx()),
			Value: strconv.FormatUint(row.Value, 10), Keys: map[string]any{},
		}
		if n := i - spentFrom; n >= 0 {
			spentBys[n].Value = spentBy(spenders[n], hashes)
			a.SpentBy = &spentBys[n]
		}
		occurrences[i] = row.Occurrences
	}
	if err := q.setKeys(answers, occurrences); err != nil {
		return nil, err
	}
	return answers, q.setAssets(answers, pks, keys)
}

// spenders returns the inputs that spend outputs with these keys; nil for an unspent output.
func (q *Query) spenders(pks []model.UtxoPk, keys [][]byte) ([]*model.InputPk, error) {
	rows, err := q.R.GetMany(schema.FamilySpentInput, keys)
	if err != nil {
		return nil, err
	}
	spenders, inputs := make([]*model.InputPk, len(rows)), make([]model.InputPk, len(rows))
	for i, row := range rows {
		if row == nil {
			continue
		}
		if inputs[i], err = model.ParseInputPk(row); err != nil {
			return nil, fmt.Errorf("spender of output %v: %w", pks[i], err)
		}
		spenders[i] = &inputs[i]
	}
	return spenders, nil
}

// spentBy describes the input that spends an output, or returns nil for nil.
func spentBy(input *model.InputPk, hashes map[model.TxPk]string) *SpentByAnswer {
	if input == nil {
		return nil
	}
	return &SpentByAnswer{hashes[input.Tx()], input.Index(), uint32(input.Height())}
}

// amounts returns the values of outputs, which must exist, in the native coin.
func (q *Query) amounts(keys [][]byte) ([]uint64, error) {
	rows, err := q.many(schema.FamilyUtxo, keys)
	if err != nil {
		return nil, err
	}
	amounts := make([]uint64, len(rows))
	for i, row := range rows {
		if amounts[i], err = schema.ParseUtxoValue(row); err != nil {
			return nil, err
		}
	}
	return amounts, nil
}

// assetEntries returns the asset entries of outputs with these keys.
func (q *Query) assetEntries(pks []model.UtxoPk, keys [][]byte) ([][]schema.AssetEntry, error) {
	rows, err := q.R.GetMany(schema.FamilyAssets, keys)
	if err != nil {
		return nil, err
	}
	entries := make([][]schema.AssetEntry, len(rows))
	for i, row := range rows {
		if entries[i], err = schema.ParseAssetsRow(pks[i], row); err != nil {
			return nil, fmt.Errorf("assets of output %v: %w", pks[i], err)
		}
	}
	return entries, nil
}

// assetsIn returns the births of the assets in entries, in order and without duplicates.
func assetsIn(entries [][]schema.AssetEntry) (births []model.AssetBirthPk) {
	for _, es := range entries {
		for _, e := range es {
			births = append(births, e.Birth)
		}
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	return slices.Compact(births)
}

// setKeys sets the index values of outputs.
func (q *Query) setKeys(answers []OutputAnswer, occurrences [][]schema.Occurrence) error {
	births := map[*schema.Index][]model.BirthPk{}
	for _, os := range occurrences {
		for _, o := range os {
			if !o.Index.Active.Has(schema.FeatureValues) {
				continue
			}
			if births[o.Index] == nil {
				births[o.Index] = make([]model.BirthPk, 0, len(occurrences))
			}
			births[o.Index] = append(births[o.Index], o.Birth)
		}
	}
	texts := map[*schema.Index][]string{}
	for x, ats := range births {
		var err error
		format := func(row []byte) (string, error) { return x.Format(row), nil }
		texts[x], err = q.textsOf(x.Number, x.Family(schema.IndexValue), x.Kind.HasOrdinal(), ats, format)
		if err != nil {
			return err
		}
	}
	for i, os := range occurrences {
		for _, o := range os {
			x := o.Index
			if !x.Active.Has(schema.FeatureValues) {
				continue
			}
			text := texts[x][0]
			texts[x] = texts[x][1:]
			if x.Kind == model.ManyValued {
				list, _ := answers[i].Keys[x.Name].([]string)
				answers[i].Keys[x.Name] = append(list, text)
			} else {
				answers[i].Keys[x.Name] = text
			}
		}
	}
	return nil
}

func (q *Query) setAssets(answers []OutputAnswer, pks []model.UtxoPk, keys [][]byte) error {
	if q.Totals.Assets == 0 {
		return nil
	}
	entries, err := q.assetEntries(pks, keys)
	if err != nil {
		return err
	}
	ids, err := q.assetIDs(assetsIn(entries))
	if err != nil {
		return err
	}
	for i := range answers {
		for _, e := range entries[i] {
			action := "transfer"
			if e.Minted {
				action = "mint"
			}
			answers[i].Assets = append(answers[i].Assets, AssetEntryAnswer{ids[e.Birth], strconv.FormatUint(e.Amount, 10), action})
		}
	}
	return nil
}

// assetIDs returns the formatted ids of assets, which are in order and without duplicates.
func (q *Query) assetIDs(births []model.AssetBirthPk) (map[model.AssetBirthPk]string, error) {
	ats := make([]model.BirthPk, len(births))
	for i, b := range births {
		ats[i] = model.BirthPk{Utxo: b.Utxo, Ordinal: b.Index}
	}
	format := func(row []byte) (string, error) { return q.Chain.FormatAsset(row), nil }
	texts, err := q.textsOf(schema.AssetSpace, schema.FamilyAssetID, true, ats, format)
	ids := make(map[model.AssetBirthPk]string, len(births))
	for i := range texts {
		ids[births[i]] = texts[i]
	}
	return ids, err
}
