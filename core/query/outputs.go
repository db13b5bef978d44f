package query

import (
	"context"
	"fmt"
	"strconv"

	"birthmark/core/query/pointers"
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
		if err == nil {
			err = q.setMoments(outputs, []model.UtxoPk{pk})
		}
		if err == nil {
			err = q.setOutputDetails(&outputs[0], pk)
		}
		return only(outputs, err)
	})
}

// output returns an output and its row.
func (q *Query) output(ref string) (pk model.UtxoPk, row [][]byte, err error) {
	hash, n, found := cutRef(ref)
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
		row, err = q.Many(schema.FamilyUtxo, [][]byte{birth.Utxo.AppendTo(nil)})
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

// Outputs returns the answers for outputs that exist, with a constant number of batched reads. SpentBy is set for the
// outputs from pks[spentFrom] on.
func (q *Query) Outputs(pks []model.UtxoPk, spentFrom int) ([]OutputAnswer, error) {
	rows, err := q.Many(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	return q.outputAnswers(pks, rows, spentFrom)
}

// outputAnswers returns the answers for outputs whose rows have been read.
func (q *Query) outputAnswers(pks []model.UtxoPk, rows [][]byte, spentFrom int) ([]OutputAnswer, error) {
	answers := make([]OutputAnswer, len(pks))
	spenders, err := q.SpendersOf(pks[spentFrom:])
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
			Tx: hashes[pk.Tx()], Index: pk.Index(), Height: uint32(pk.Height()), TxIndex: q.TxIndex(pk.Tx()),
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
	return answers, q.setAssets(answers, pks)
}

// spentBy describes the input that spends an output, or returns nil for nil.
func spentBy(input *model.InputPk, hashes map[model.TxPk]string) *SpentByAnswer {
	if input == nil {
		return nil
	}
	return &SpentByAnswer{hashes[input.Tx()], input.Index(), uint32(input.Height())}
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
		texts[x], err = q.TextsOf(x.Number, x.Family(schema.IndexValue), x.Kind.HasOrdinal(), ats, format)
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

func (q *Query) setAssets(answers []OutputAnswer, pks []model.UtxoPk) error {
	if q.Totals.Assets == 0 {
		return nil
	}
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return err
	}
	ids, err := q.AssetIDs(pointers.AssetsIn(entries))
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
