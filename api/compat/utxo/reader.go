package utxo

import (
	"fmt"
	"slices"

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

// Subjects is the index of the accounts, pools, DReps and scripts that transactions name in certificates, withdrawals,
// votes and redeemers. The first output of a transaction has the values of the transaction. The protocols work without
// it.
var Subjects = model.Definition{
	Name: "subject", Kind: model.ManyValued, When: "tx.valid && output.index == 0", Value: "tx.subjects",
}

// proposal is the subject of the transactions with proposals.
const proposal = "proposal"

// Scripts is the index of the scripts in the witnesses and outputs of transactions. The first output of a transaction has
// the values of the transaction. The protocols work without it.
var Scripts = model.Definition{
	Name: "script", Kind: model.ManyValued, When: "tx.valid && output.index == 0", Value: "tx.scripts",
}

// FailedDatums and FailedScripts are the indexes of the datums and scripts in the witnesses of transactions whose scripts
// failed. The collateral return of a transaction has them. The protocols work without the indexes.
var (
	FailedDatums = model.Definition{
		Name: "failed_datum", Kind: model.ManyValued, When: "not tx.valid", Value: "tx.datums",
	}
	FailedScripts = model.Definition{
		Name: "failed_script", Kind: model.ManyValued, When: "not tx.valid", Value: "tx.scripts",
	}
)

// Reader reads one snapshot for one answer. Blocks, addresses and transactions that it read are kept, up to a number.
type Reader struct {
	Q       *query.Query
	Scripts bool // [Reader.Outputs] reads reference scripts

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

	DatumHash  string // hex; empty: none
	Inline     bool
	Datum      []byte         // nil: unknown; an inline one is known
	ScriptHash string         // of its reference script, hex; empty: none
	Script     *ledger.Script // with [Reader.Scripts]; nil: none
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
	outputs, raw := make([]Output, len(pks)), make([][]byte, len(pks))
	txs := make([]model.TxPk, 0, 2*len(pks))
	heights := make([]model.HeightPk, 0, 2*len(pks))
	for i, pk := range pks {
		outputs[i].Pk = pk
		txs, heights = append(txs, pk.Tx()), append(heights, pk.Height())
	}
	for _, in := range by {
		if in != nil {
			txs, heights = append(txs, in.Tx()), append(heights, in.Height())
		}
	}
	l := q.Q.NewLoad()
	l.UtxoRows(pks, raw)
	ids, assets := l.TxIDs(txs), q.loadAssets(l, pks)
	addPoints, err := q.loadPoints(l, heights)
	if err == nil {
		err = l.Read()
	}
	if err != nil {
		return nil, nil, err
	}
	addPoints()
	rows, err := q.parseRows(pks, raw)
	if err != nil {
		return nil, nil, err
	}
	setAssets := assets.texts(l)
	setOwners := q.loadOwners(l, rows)
	setHashes := q.loadHashes(l, rows)
	setTxs := q.loadTxs(l, q.txsOf(txs[len(pks):], pks, rows))
	if err := l.Read(); err != nil {
		return nil, nil, err
	}
	all := setAssets()
	setOwners(outputs)
	setHashes(outputs)
	if err := setTxs(); err != nil {
		return nil, nil, err
	}
	for i := range outputs {
		o := &outputs[i]
		o.Value, o.Assets = rows[i].Value, all[i]
		o.Tx, o.Created = ids[i], q.points[o.Pk.Height()]
		if err := q.setData(o); err != nil {
			return nil, nil, err
		}
	}
	return outputs, ids[len(pks):], nil
}

func (q *Reader) parseRows(pks []model.UtxoPk, raw [][]byte) ([]schema.UtxoRow, error) {
	rows := make([]schema.UtxoRow, len(pks))
	for i, pk := range pks {
		var err error
		if rows[i], err = q.Q.ParseUtxoRow(pk, raw[i]); err != nil {
			return nil, fmt.Errorf("output %v: %w", pk, err)
		}
	}
	return rows, nil
}

// occurrence returns the occurrence of an index in an output; ok is false if it has none.
func occurrence(row *schema.UtxoRow, index string) (o schema.Occurrence, ok bool) {
	for _, o := range row.Occurrences {
		if o.Index.Name == index {
			return o, true
		}
	}
	return o, false
}

// loadOwners adds the addresses of outputs to a load. The result sets them after it was read.
func (q *Reader) loadOwners(l *pointers.Load, rows []schema.UtxoRow) func([]Output) {
	if q.owners == nil || len(q.owners) > maxOwners {
		q.owners = map[model.BirthPk]Owner{}
	}
	var x *schema.Index
	births := make([]model.BirthPk, len(rows))
	var missing []model.BirthPk
	for i := range rows {
		o, ok := occurrence(&rows[i], AddressIndex)
		if !ok {
			continue
		}
		x, births[i] = o.Index, o.Birth
		if _, known := q.owners[o.Birth]; !known {
			missing = append(missing, o.Birth)
		}
	}
	if len(missing) > 0 {
		slices.SortFunc(missing, schema.CompareBirths)
		missing = slices.Compact(missing)
		l.StoredValues(x, missing, func(i int, value []byte) { q.owners[missing[i]] = ownerOf(value) })
	}
	return func(outputs []Output) {
		for i := range outputs {
			outputs[i].Owner = q.owners[births[i]]
		}
	}
}

// loadHashes adds the hashes of datums and reference scripts to a load. The result sets them after it was read.
func (q *Reader) loadHashes(l *pointers.Load, rows []schema.UtxoRow) func([]Output) {
	datums := q.loadTexts(l, DatumIndex, rows)
	scripts := q.loadTexts(l, ScriptIndex, rows)
	return func(outputs []Output) {
		datums(func(i int, text string) { outputs[i].DatumHash = text })
		scripts(func(i int, text string) { outputs[i].ScriptHash = text })
	}
}

// loadTexts adds the texts of the values that outputs have of an index. The result calls set with them after the load
// was read.
func (q *Reader) loadTexts(l *pointers.Load, index string, rows []schema.UtxoRow) func(set func(i int, text string)) {
	var x *schema.Index
	var at []int
	var births []model.BirthPk
	for i := range rows {
		if o, ok := occurrence(&rows[i], index); ok {
			x, at, births = o.Index, append(at, i), append(births, o.Birth)
		}
	}
	var texts []string
	if len(at) > 0 {
		texts = l.ValueTexts(x, births)
	}
	return func(set func(i int, text string)) {
		for k, i := range at {
			set(i, texts[k])
		}
	}
}

// txsOf returns the transactions to read for outputs: spenders, and transactions with datums or reference scripts.
func (q *Reader) txsOf(spenders []model.TxPk, pks []model.UtxoPk, rows []schema.UtxoRow) []model.TxPk {
	txs := slices.Clone(spenders)
	for i, pk := range pks {
		_, datum := occurrence(&rows[i], DatumIndex)
		_, script := occurrence(&rows[i], ScriptIndex)
		if datum || script && q.Scripts {
			txs = append(txs, pk.Tx())
		}
	}
	return txs
}

// setData sets datum and reference script.
func (q *Reader) setData(o *Output) error {
	if o.DatumHash == "" && (o.ScriptHash == "" || !q.Scripts) {
		return nil
	}
	t, err := q.parsed[o.Pk.Tx()].output(o.Pk.Index())
	if err != nil {
		return fmt.Errorf("output %v: %w", o.Pk, err)
	}
	if o.Datum, o.Inline = t.Datum, t.Datum != nil; t.Script == nil || !q.Scripts {
		return nil
	}
	script, err := ledger.ParseScript(&cbor.Walker{}, t.Script)
	if err != nil {
		return fmt.Errorf("output %v: %w", o.Pk, err)
	}
	o.Script = &script
	return nil
}

// Owners returns the addresses of outputs, which must exist.
func (q *Reader) Owners(pks []model.UtxoPk) ([]Owner, error) {
	rows, err := q.Q.UtxoRows(pks)
	if err != nil {
		return nil, err
	}
	outputs, l := make([]Output, len(pks)), q.Q.NewLoad()
	setOwners := q.loadOwners(l, rows)
	if err := l.Read(); err != nil {
		return nil, err
	}
	setOwners(outputs)
	owners := make([]Owner, len(pks))
	for i := range outputs {
		owners[i] = outputs[i].Owner
	}
	return owners, nil
}

// Assets returns the assets of outputs.
func (q *Reader) Assets(pks []model.UtxoPk) ([][]Asset, error) {
	l := q.Q.NewLoad()
	entries := q.loadAssets(l, pks)
	if err := l.Read(); err != nil {
		return nil, err
	}
	set := entries.texts(l)
	if err := l.Read(); err != nil {
		return nil, err
	}
	return set(), nil
}

// assetEntries are the assets of outputs by pointer.
type assetEntries [][]schema.AssetEntry

// loadAssets adds the assets of outputs to a load.
func (q *Reader) loadAssets(l *pointers.Load, pks []model.UtxoPk) assetEntries {
	if q.Q.Totals.Assets == 0 {
		return make(assetEntries, len(pks))
	}
	return l.Assets(pks)
}

// texts adds the ids of assets to a load. The result returns the assets of each output after it was read.
func (entries assetEntries) texts(l *pointers.Load) func() [][]Asset {
	births := pointers.AssetsIn(entries)
	ids := l.AssetIDs(births)
	return func() [][]Asset {
		all := make([][]Asset, len(entries))
		for i, some := range entries {
			for _, e := range some {
				at, _ := slices.BinarySearchFunc(births, e.Birth, schema.CompareAssetBirths)
				all[i] = append(all[i], Asset{ids[at], e.Amount.Lo})
			}
		}
		return all
	}
}
