package pointers

import (
	"bytes"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
)

// Prevout is an output that an input spends.
type Prevout struct {
	Pk     model.UtxoPk
	Tx     model.Hash
	Index  uint32
	Spent  bool         // an input of the chain spends it
	Output model.Output // the index of a key is a position in [schema.Layout.Indexes]

	// Tokens are the derived assets of the output. Output has those of other chains.
	Tokens []model.TokenAmount
}

// Prevouts returns the outputs that inputs refer to, in the order of inputs, with a constant number of batched reads;
// nil for an output that the chain does not have.
func (q *Reader) Prevouts(inputs []model.Input) ([]*Prevout, error) {
	pks, err := q.prevoutPks(inputs)
	if err != nil {
		return nil, err
	}
	found := make([]*Prevout, len(inputs))
	var keys [][]byte
	var at []int // positions in inputs
	for i, pk := range pks {
		if pk != nil {
			keys, at = append(keys, pk.AppendTo(nil)), append(at, i)
		}
	}
	rows, err := q.R.GetMany(schema.FamilyUtxo, keys)
	if err != nil {
		return nil, err
	}
	spent, err := q.R.GetMany(schema.FamilySpentInput, keys)
	if err != nil {
		return nil, err
	}
	var outputs []*Prevout
	var at2 [][]schema.Occurrence
	var outputPks []model.UtxoPk
	for n, row := range rows {
		if row == nil {
			continue
		}
		i := at[n]
		parsed, err := q.ParseUtxoRow(*pks[i], row)
		if err != nil {
			return nil, fmt.Errorf("output %v: %w", *pks[i], err)
		}
		found[i] = &Prevout{Pk: *pks[i], Tx: inputs[i].Tx, Index: inputs[i].Index, Spent: spent[n] != nil}
		found[i].Output.Value = parsed.Value
		outputs, at2 = append(outputs, found[i]), append(at2, parsed.Occurrences)
		outputPks = append(outputPks, *pks[i])
	}
	if err := q.prevoutValues(outputs, at2); err != nil {
		return nil, err
	}
	if q.SpendIndex != nil {
		if err := q.prevoutNames(outputs); err != nil {
			return nil, err
		}
	}
	return found, q.prevoutAssets(outputs, outputPks)
}

// prevoutPks returns the pointers of the outputs; nil if the transaction or the value does not exist.
func (q *Reader) prevoutPks(inputs []model.Input) ([]*model.UtxoPk, error) {
	pks := make([]*model.UtxoPk, len(inputs))
	var hashes []model.Hash
	var values [][]byte
	var ofHashes, ofValues []int
	for i := range inputs {
		if in := &inputs[i]; in.Value != nil {
			values, ofValues = append(values, in.Value), append(ofValues, i)
		} else {
			hashes, ofHashes = append(hashes, in.Tx), append(ofHashes, i)
		}
	}
	if len(values) > 0 && q.SpendIndex != nil {
		births, err := q.Births(q.R, q.SpendIndex.Number, values)
		if err != nil {
			return nil, err
		}
		for n, birth := range births {
			if birth != nil {
				pks[ofValues[n]] = &birth.Utxo
			}
		}
	}
	txs, err := schema.TxPks(q.R, hashes)
	if err != nil {
		return nil, err
	}
	for n, same := range txs {
		if len(same) == 0 {
			continue
		}
		if pk, err := same[0].Utxo(int(inputs[ofHashes[n]].Index)); err == nil {
			pks[ofHashes[n]] = &pk
		}
	}
	return pks, nil
}

// prevoutValues sets the values of indexes.
func (q *Reader) prevoutValues(outputs []*Prevout, occurrences [][]schema.Occurrence) error {
	for position, x := range q.Indexes {
		var keys [][]byte
		var of []*Prevout
		for i, os := range occurrences {
			for _, o := range os {
				if o.Index == x {
					keys, of = append(keys, o.Birth.AppendTo(nil, x.Kind.HasOrdinal())), append(of, outputs[i])
				}
			}
		}
		values, err := q.Many(x.Family(schema.IndexValue), keys)
		if err != nil {
			return err
		}
		for n, value := range values {
			of[n].Output.Keys = append(of[n].Output.Keys, model.Key{Index: position, Value: bytes.Clone(value)})
		}
	}
	return nil
}

// prevoutNames sets the outpoints of outputs that were found by a value.
func (q *Reader) prevoutNames(outputs []*Prevout) error {
	keys := make([][]byte, len(outputs))
	for i, o := range outputs {
		keys[i] = o.Pk.Tx().AppendTo(nil)
	}
	rows, err := q.Many(schema.FamilyTxHash, keys)
	if err != nil {
		return err
	}
	for i, o := range outputs {
		if o.Tx, _, err = schema.ParseTxHashRow(rows[i]); err != nil {
			return fmt.Errorf("transaction %v: %w", o.Pk.Tx(), err)
		}
		o.Index = uint32(o.Pk.Index())
	}
	return nil
}

// prevoutAssets sets the asset entries.
func (q *Reader) prevoutAssets(outputs []*Prevout, pks []model.UtxoPk) error {
	if q.Totals.Assets == 0 {
		return nil
	}
	if q.Traits.Tokens != nil {
		held, err := q.Tokens(pks)
		for i := range held {
			outputs[i].Tokens = held[i]
		}
		return err
	}
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return err
	}
	births := AssetsIn(entries)
	at := make([][]byte, len(births))
	ids := map[model.AssetBirthPk][]byte{}
	for i, b := range births {
		at[i] = b.AppendTo(nil)
	}
	rows, err := q.Many(schema.FamilyAssetID, at)
	if err != nil {
		return err
	}
	for i, b := range births {
		ids[b] = bytes.Clone(rows[i])
	}
	for i, o := range outputs {
		for _, e := range entries[i] {
			o.Output.Assets = append(o.Output.Assets, model.Asset{ID: ids[e.Birth], Amount: e.Amount.Lo})
		}
	}
	return nil
}

// Tokens returns the derived assets of outputs.
func (q *Reader) Tokens(pks []model.UtxoPk) ([][]model.TokenAmount, error) {
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return nil, err
	}
	held := make([][]model.TokenAmount, len(pks))
	for i := range entries {
		for _, e := range schema.Holdings(entries[i]) {
			held[i] = append(held[i], model.TokenAmount{Asset: e.Birth, Amount: e.Amount})
		}
	}
	return held, nil
}
