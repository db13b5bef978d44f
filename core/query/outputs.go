package query

import (
	"context"
	"fmt"
	"slices"
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
		l := q.NewLoad()
		outputs, err := q.outputAnswers(l, q.loadOutputs(l, []model.UtxoPk{pk}, row, 0, true), nil)
		if err == nil {
			q.nameAssets(outputs)
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

// Outputs returns the answers for outputs that exist, with two batched reads and without confirmations and block times.
// SpentBy is set for the outputs from pks[spentFrom] on.
func (q *Query) Outputs(pks []model.UtxoPk, spentFrom int) ([]OutputAnswer, error) {
	l := q.NewLoad()
	return q.outputAnswers(l, q.loadOutputs(l, pks, nil, spentFrom, false), nil)
}

// outputLoad has the rows that answers about outputs need.
type outputLoad struct {
	pks       []model.UtxoPk
	spentFrom int
	rows      [][]byte                 // of the outputs
	spenders  []*model.InputPk         // of the outputs from spentFrom on
	entries   [][]schema.AssetEntry    // nil: the chain has no assets
	hashes    map[model.TxPk]string    // of the outputs' transactions
	times     map[model.HeightPk]int64 // of their blocks; nil: answers have no confirmations and block times
}

// loadOutputs adds to l the rows that answers about outputs need. rows are the rows of the last outputs, if they were
// read before.
func (q *Query) loadOutputs(l *pointers.Load, pks []model.UtxoPk, rows [][]byte, spentFrom int, times bool) *outputLoad {
	unread := len(pks) - len(rows)
	o := &outputLoad{
		pks: pks, spentFrom: spentFrom, rows: rows, spenders: l.Spenders(pks[spentFrom:]), hashes: make(map[model.TxPk]string, len(pks)),
	}
	if unread > 0 {
		o.rows = make([][]byte, len(pks))
		copy(o.rows[unread:], rows)
		l.UtxoRows(pks[:unread], o.rows)
	}
	if q.Totals.Rows[schema.FamilyAssets] > 0 {
		o.entries = l.AssetEntries(pks)
	}
	txs, heights := make([]model.TxPk, len(pks)), make([]model.HeightPk, 0, len(pks))
	for i, pk := range pks {
		if txs[i] = pk.Tx(); !q.IsGenesis(txs[i]) {
			heights = append(heights, pk.Height())
		}
	}
	l.Hashes(o.hashes, txs)
	if times {
		o.times = l.BlockTimes(heights)
	}
	return o
}

// outputAnswers reads l, to which o was added, then what o refers to, and returns the answers. more adds to the second
// read; it may be nil.
func (q *Query) outputAnswers(l *pointers.Load, o *outputLoad, more func()) ([]OutputAnswer, error) {
	if err := l.Read(); err != nil {
		return nil, err
	}
	answers := make([]OutputAnswer, len(o.pks))
	var txs []model.TxPk
	for _, input := range o.spenders {
		if input != nil {
			txs = append(txs, input.Tx())
		}
	}
	l.Hashes(o.hashes, txs)
	occurrences := make([][]schema.Occurrence, len(o.pks))
	for i, pk := range o.pks {
		row, err := q.ParseUtxoRow(pk, o.rows[i])
		if err != nil {
			return nil, fmt.Errorf("output %v: %w", pk, err)
		}
		answers[i] = OutputAnswer{
			Tx: o.hashes[pk.Tx()], Index: pk.Index(), Height: uint32(pk.Height()), TxIndex: q.TxIndex(pk.Tx()),
			Value: strconv.FormatUint(row.Value, 10), Keys: map[string]any{},
		}
		if o.times != nil && !q.IsGenesis(pk.Tx()) {
			answers[i].Confirmations, answers[i].BlockTime = q.confirmations(pk.Height()), o.times[pk.Height()]
		}
		occurrences[i] = row.Occurrences
	}
	texts := q.loadKeys(l, occurrences)
	births := pointers.AssetsIn(o.entries)
	ids := l.AssetIDs(births)
	if more != nil {
		more()
	}
	if err := l.Read(); err != nil {
		return nil, err
	}
	spentBys := make([]Optional[SpentByAnswer], len(o.spenders))
	for n := range o.spenders {
		spentBys[n].Value = spentBy(o.spenders[n], o.hashes)
		answers[o.spentFrom+n].SpentBy = &spentBys[n]
	}
	setKeys(answers, occurrences, texts)
	setAssets(answers, o.entries, births, ids)
	return answers, nil
}

// spentBy describes the input that spends an output, or returns nil for nil.
func spentBy(input *model.InputPk, hashes map[model.TxPk]string) *SpentByAnswer {
	if input == nil {
		return nil
	}
	return &SpentByAnswer{hashes[input.Tx()], input.Index(), uint32(input.Height())}
}

// loadKeys adds to l the texts of the values that occur in outputs. They are in the order of the occurrences of each
// index.
func (q *Query) loadKeys(l *pointers.Load, occurrences [][]schema.Occurrence) map[*schema.Index][]string {
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
		format := func(row []byte) (string, error) { return x.Format(row), nil }
		texts[x] = l.Texts(x.Number, x.Family(schema.IndexValue), x.Kind.HasOrdinal(), ats, format)
	}
	return texts
}

// setKeys sets the values of indexes in outputs.
func setKeys(answers []OutputAnswer, occurrences [][]schema.Occurrence, texts map[*schema.Index][]string) {
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
}

// setAssets sets the assets of outputs, whose ids are in the order of births.
func setAssets(answers []OutputAnswer, entries [][]schema.AssetEntry, births []model.AssetBirthPk, ids []string) {
	for i := range entries {
		for _, e := range schema.Holdings(entries[i]) {
			action := "transfer"
			if e.Minted {
				action = "mint"
			}
			at, _ := slices.BinarySearchFunc(births, e.Birth, schema.CompareAssetBirths)
			answers[i].Assets = append(answers[i].Assets, AssetEntryAnswer{Asset: ids[at], Amount: e.Amount.String(), Action: action})
		}
	}
}
