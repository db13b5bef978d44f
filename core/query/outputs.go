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
func (ask Queries) Output(ctx context.Context, ref string) (a *OutputAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		pk, err := q.output(ref)
		if err != nil {
			return err
		}
		outputs, err := q.Outputs([]model.UtxoPk{pk}, 0)
		if err == nil {
			a = &outputs[0]
		}
		return err
	})
	return a, err
}

func (q *Query) output(ref string) (model.UtxoPk, error) {
	hash, n, found := strings.Cut(ref, ":")
	if !found {
		if q.SpendIndex == nil {
			return 0, model.Errorf(model.Usage, "bad_value", "output %q: expected TXHASH:N", ref)
		}
		_, _, birth, err := q.Value(q.SpendIndex.Name, ref)
		switch {
		case err != nil:
			return 0, err
		case birth == nil:
			return 0, model.Errorf(model.NotFound, "unknown_output", "no output with %s %s", q.SpendIndex.Name, ref)
		}
		return birth.Utxo, nil
	}
	index, err := strconv.ParseUint(n, 10, 32)
	if err != nil {
		return 0, model.Errorf(model.Usage, "bad_value", "output %q: %q is no output index, expected TXHASH:N", ref, n)
	}
	tx, err := q.tx(hash)
	if err != nil {
		return 0, err
	}
	missing := model.Errorf(model.NotFound, "unknown_output", "transaction %s has no output %d", hash, index)
	pk, err := tx.Utxo(int(index))
	if err != nil {
		return 0, missing
	}
	rows, err := q.R.GetMany(schema.FamilyUtxo, [][]byte{pk.AppendTo(nil)})
	if err != nil {
		return 0, err
	}
	if rows[0] == nil {
		return 0, missing
	}
	return pk, nil
}

// Hashes returns the hashes of transactions. It sorts pks in place.
func (q *Query) Hashes(pks []model.TxPk) (map[model.TxPk]string, error) {
	slices.Sort(pks)
	pks = slices.Compact(pks)
	ats := make([]model.BirthPk, len(pks))
	for i, pk := range pks {
		ats[i] = model.BirthPk{Utxo: model.UtxoPk(pk)}
	}
	texts, err := q.namesOf(schema.TxSpace, schema.FamilyTxHash, false, ats, func(row []byte) (string, error) {
		hash, _, err := schema.ParseTxHashRow(row)
		return q.Chain.FormatHash(hash), err
	})
	if err != nil {
		return nil, err
	}
	hashes := make(map[model.TxPk]string, len(pks))
	for i, pk := range pks {
		hashes[pk] = texts[i]
	}
	return hashes, nil
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
	spent := make([][]byte, len(pks))
	if spentFrom < len(pks) {
		found, err := q.R.GetMany(schema.FamilySpentInput, keys[spentFrom:])
		if err != nil {
			return nil, err
		}
		copy(spent[spentFrom:], found)
	}
	txs := make([]model.TxPk, 0, len(pks))
	for i, pk := range pks {
		txs = append(txs, pk.Tx())
		if spent[i] != nil {
			input, err := model.ParseInputPk(spent[i])
			if err != nil {
				return nil, fmt.Errorf("spender of output %v: %w", pk, err)
			}
			txs = append(txs, input.Tx())
		}
	}
	hashes, err := q.Hashes(txs)
	if err != nil {
		return nil, err
	}
	occurrences := make([][]schema.Occurrence, len(pks))
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
		if i >= spentFrom {
			a.SpentBy = &Optional[SpentByAnswer]{}
			if spent[i] != nil {
				input, _ := model.ParseInputPk(spent[i]) // parsed above
				a.SpentBy.Value = &SpentByAnswer{hashes[input.Tx()], input.Index(), uint32(input.Height())}
			}
		}
		occurrences[i] = row.Occurrences
	}
	if err := q.keys(answers, occurrences); err != nil {
		return nil, err
	}
	return answers, q.entries(answers, pks, keys)
}

// keys sets the index values of outputs.
func (q *Query) keys(answers []OutputAnswer, occurrences [][]schema.Occurrence) error {
	births := map[*schema.Index][]model.BirthPk{}
	for _, os := range occurrences {
		for _, o := range os {
			if o.Index.Active.Has(schema.FeatureValues) {
				births[o.Index] = append(births[o.Index], o.Birth)
			}
		}
	}
	texts := map[*schema.Index][]string{}
	for x, ats := range births {
		var err error
		texts[x], err = q.namesOf(x.Number, x.Family(schema.IndexValue), x.Kind.HasOrdinal(), ats, func(row []byte) (string, error) { return x.Format(row), nil })
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

// entries sets the assets of outputs.
func (q *Query) entries(answers []OutputAnswer, pks []model.UtxoPk, keys [][]byte) error {
	if q.Totals.Assets == 0 {
		return nil
	}
	rows, err := q.R.GetMany(schema.FamilyAssets, keys)
	if err != nil {
		return err
	}
	entries := make([][]schema.AssetEntry, len(pks))
	var births []model.AssetBirthPk
	for i, row := range rows {
		if entries[i], err = schema.ParseAssetsRow(pks[i], row); err != nil {
			return fmt.Errorf("assets of output %v: %w", pks[i], err)
		}
		for _, e := range entries[i] {
			births = append(births, e.Birth)
		}
	}
	ids, err := q.assetIDs(births)
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

// assetIDs returns the formatted ids of assets.
func (q *Query) assetIDs(births []model.AssetBirthPk) (map[model.AssetBirthPk]string, error) {
	births = slices.Clone(births)
	slices.SortFunc(births, schema.CompareAssetBirths)
	births = slices.Compact(births)
	ats := make([]model.BirthPk, len(births))
	for i, b := range births {
		ats[i] = model.BirthPk{Utxo: b.Utxo, Ordinal: b.Index}
	}
	texts, err := q.namesOf(schema.AssetSpace, schema.FamilyAssetID, true, ats, func(row []byte) (string, error) { return q.Chain.FormatAsset(row), nil })
	if err != nil {
		return nil, err
	}
	ids := make(map[model.AssetBirthPk]string, len(births))
	for i, b := range births {
		ids[b] = texts[i]
	}
	return ids, nil
}
