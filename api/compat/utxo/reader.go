package utxo

import (
	"fmt"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// The built-in indexes of Cardano.
const (
	AddressIndex = "address"
	PaymentIndex = "payment_credential"
	StakeIndex   = "stake_credential"
	PolicyIndex  = "policy"
	DatumIndex   = "datum_hash"
	ScriptIndex  = "script_hash"
)

// Reader reads one snapshot for one answer. Blocks, addresses and transactions that it read are kept, up to a number.
type Reader struct {
	Q *query.Query

	points  map[model.HeightPk]Point
	owners  map[model.BirthPk]Owner
	parsed  map[model.TxPk]*Tx
	datums  map[string][]byte // found by hash; nil: not found
	heights []model.HeightPk  // of points that were read, reused
}

// Output is an output.
type Output struct {
	Pk      model.UtxoPk
	Tx      model.Hash
	Value   uint64
	Owner   Owner
	Assets  []Asset
	Created Point

	DatumHash []byte // nil: none
	Inline    bool
	Datum     []byte         // nil: unknown; an inline one is known
	Script    *ledger.Script // reference script; nil: none
}

// Asset is an amount of an asset.
type Asset struct {
	ID     string // hex
	Amount uint64
}

// Owner is the address of an output.
type Owner struct {
	Raw   []byte
	Text  string
	Byron bool
}

func ownerOf(raw []byte) Owner {
	_, notByron := address.ByronPayload(raw)
	return Owner{Raw: raw, Text: address.FormatAny(raw), Byron: notByron == nil}
}

// maxOwners is the number of addresses that are kept during a long answer.
const maxOwners = 1 << 13

// Outputs returns outputs, which must exist. It also reads the points and the raw transactions of the inputs by, for
// [Reader.PointAt] and [Reader.Tx], and returns the ids of their transactions. Entries of by can be nil.
func (q *Reader) Outputs(pks []model.UtxoPk, by []*model.InputPk) ([]Output, []model.Hash, error) {
	rows, err := q.Q.UtxoRows(pks)
	if err != nil {
		return nil, nil, err
	}
	outputs := make([]Output, len(pks))
	txs := make([]model.TxPk, 0, 2*len(pks))
	heights := make([]model.HeightPk, 0, 2*len(pks))
	for i, pk := range pks {
		outputs[i] = Output{Pk: pk, Value: rows[i].Value}
		txs, heights = append(txs, pk.Tx()), append(heights, pk.Height())
	}
	for _, in := range by {
		if in != nil {
			txs, heights = append(txs, in.Tx()), append(heights, in.Height())
		}
	}
	ids, err := q.Q.TxIDs(txs)
	if err == nil {
		err = q.ReadPoints(heights...)
	}
	if err == nil {
		err = q.setOwners(outputs, rows)
	}
	if err == nil {
		err = q.setAssets(outputs)
	}
	if err == nil {
		err = q.readRaws(pks, rows, by)
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range outputs {
		o := &outputs[i]
		o.Tx, o.Created = ids[i], q.points[o.Pk.Height()]
		if err := q.setData(o, &rows[i]); err != nil {
			return nil, nil, err
		}
	}
	return outputs, ids[len(pks):], nil
}

// setOwners sets the addresses.
func (q *Reader) setOwners(outputs []Output, rows []schema.UtxoRow) error {
	if q.owners == nil || len(q.owners) > maxOwners {
		q.owners = map[model.BirthPk]Owner{}
	}
	var x *schema.Index
	births := make([]model.BirthPk, len(rows))
	var missing []model.BirthPk
	for i := range rows {
		for _, o := range rows[i].Occurrences {
			if o.Index.Name != AddressIndex {
				continue
			}
			x, births[i] = o.Index, o.Birth
			if _, known := q.owners[o.Birth]; !known && !slices.Contains(missing, o.Birth) {
				missing = append(missing, o.Birth)
			}
		}
	}
	if len(missing) > 0 {
		values, err := q.Q.StoredValues(x, missing)
		if err != nil {
			return err
		}
		for i, value := range values {
			q.owners[missing[i]] = ownerOf(value)
		}
	}
	for i := range outputs {
		outputs[i].Owner = q.owners[births[i]]
	}
	return nil
}

func (q *Reader) setAssets(outputs []Output) error {
	pks := make([]model.UtxoPk, len(outputs))
	for i := range outputs {
		pks[i] = outputs[i].Pk
	}
	assets, err := q.Assets(pks)
	for i := range assets {
		outputs[i].Assets = assets[i]
	}
	return err
}

// hasData reports whether an output has a datum or a reference script.
func hasData(row *schema.UtxoRow) bool {
	return slices.ContainsFunc(row.Occurrences, func(o schema.Occurrence) bool {
		return o.Index.Name == DatumIndex || o.Index.Name == ScriptIndex
	})
}

// readRaws reads the raw transactions that create outputs with data, and those of inputs.
func (q *Reader) readRaws(pks []model.UtxoPk, rows []schema.UtxoRow, by []*model.InputPk) error {
	var txs []model.TxPk
	for i, pk := range pks {
		if hasData(&rows[i]) {
			txs = append(txs, pk.Tx())
		}
	}
	for _, in := range by {
		if in != nil {
			txs = append(txs, in.Tx())
		}
	}
	return q.ReadTxs(txs)
}

// setData sets datum and reference script.
func (q *Reader) setData(o *Output, row *schema.UtxoRow) error {
	if !hasData(row) {
		return nil
	}
	t, err := q.parsed[o.Pk.Tx()].output(o.Pk.Index())
	if err != nil {
		return fmt.Errorf("output %v: %w", o.Pk, err)
	}
	if err := o.setData(t); err != nil {
		return fmt.Errorf("output %v: %w", o.Pk, err)
	}
	return nil
}

// setData sets datum and reference script.
func (o *Output) setData(t *ledger.Output) error {
	if o.DatumHash = t.DatumHash; t.Datum != nil {
		hash := blake2b.Sum256(t.Datum)
		o.DatumHash, o.Datum, o.Inline = hash[:], t.Datum, true
	}
	if t.Script == nil {
		return nil
	}
	script, err := ledger.ParseScript(&cbor.Walker{}, t.Script)
	o.Script = &script
	return err
}

// Owners returns the addresses of outputs, which must exist.
func (q *Reader) Owners(pks []model.UtxoPk) ([]Owner, error) {
	rows, err := q.Q.UtxoRows(pks)
	if err != nil {
		return nil, err
	}
	outputs := make([]Output, len(pks))
	if err := q.setOwners(outputs, rows); err != nil {
		return nil, err
	}
	owners := make([]Owner, len(pks))
	for i := range outputs {
		owners[i] = outputs[i].Owner
	}
	return owners, nil
}

// Assets returns the assets of outputs.
func (q *Reader) Assets(pks []model.UtxoPk) ([][]Asset, error) {
	entries, err := q.Q.AssetEntries(pks)
	if err != nil {
		return nil, err
	}
	ids, err := q.Q.AssetIDs(pointers.AssetsIn(entries))
	if err != nil {
		return nil, err
	}
	all := make([][]Asset, len(pks))
	for i := range entries {
		for _, e := range entries[i] {
			all[i] = append(all[i], Asset{ids[e.Birth], e.Amount})
		}
	}
	return all, nil
}
