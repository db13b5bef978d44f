package kupo

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// output is an output with the fields of a match.
type output struct {
	pk      model.UtxoPk
	tx      model.Hash
	value   uint64
	owner   owner
	assets  []asset
	created point

	datumHash []byte // nil: none
	inline    bool
	datum     []byte // known if it is inline, or if it was resolved
	script    *ledger.Script

	spend *spend // nil: unspent
}

type asset struct {
	id     string // hex
	amount uint64
}

// owner is the address of an output.
type owner struct {
	text  string
	byron bool
}

// spend is the input that spends an output.
type spend struct {
	at       point
	tx       model.Hash
	index    int // of the input in the sorted inputs
	redeemer []byte
}

// rawTx is a parsed raw transaction.
type rawTx struct {
	*ledger.RawTx
	witnesses *ledger.Witnesses // nil: not parsed
	sorted    bool              // its inputs are sorted
}

// read returns outputs with their spenders, nil for an unspent one.
func (s *search) read(pks []model.UtxoPk, spenders []*model.InputPk) ([]output, error) {
	rows, err := s.q.UtxoRows(pks)
	if err != nil {
		return nil, err
	}
	outputs := make([]output, len(pks))
	txs := make([]model.TxPk, 0, 2*len(pks))
	heights := make([]model.HeightPk, 0, 2*len(pks))
	for i, pk := range pks {
		outputs[i] = output{pk: pk, value: rows[i].Value}
		txs, heights = append(txs, pk.Tx()), append(heights, pk.Height())
	}
	for _, by := range spenders {
		if by != nil {
			txs, heights = append(txs, by.Tx()), append(heights, by.Height())
		}
	}
	ids, err := s.q.TxIDs(txs)
	if err == nil {
		err = s.readPoints(heights...)
	}
	if err == nil {
		err = s.setOwners(outputs, rows)
	}
	if err == nil {
		err = s.setAssets(outputs)
	}
	if err == nil {
		err = s.readRaws(pks, rows, spenders)
	}
	if err != nil {
		return nil, err
	}
	next := len(pks) // of the ids of spenders
	for i := range outputs {
		o := &outputs[i]
		o.tx, o.created = ids[i], s.points[o.pk.Height()]
		if err := s.setData(o, &rows[i]); err != nil {
			return nil, err
		}
		if by := spenders[i]; by != nil {
			o.spend = &spend{at: s.points[by.Height()], tx: ids[next]}
			next++
			s.setSpend(o, *by)
		}
	}
	return outputs, nil
}

// setOwners sets the addresses.
func (s *search) setOwners(outputs []output, rows []schema.UtxoRow) error {
	if s.owners == nil || len(s.owners) > maxOwners {
		s.owners = map[model.BirthPk]owner{}
	}
	var x *schema.Index
	births := make([]model.BirthPk, len(rows))
	var missing []model.BirthPk
	for i := range rows {
		for _, o := range rows[i].Occurrences {
			if o.Index.Name != addressIndex {
				continue
			}
			x, births[i] = o.Index, o.Birth
			if _, known := s.owners[o.Birth]; !known && !slices.Contains(missing, o.Birth) {
				missing = append(missing, o.Birth)
			}
		}
	}
	if len(missing) > 0 {
		values, err := s.q.StoredValues(x, missing)
		if err != nil {
			return err
		}
		for i, value := range values {
			_, notByron := address.ByronPayload(value)
			s.owners[missing[i]] = owner{text: address.FormatAny(value), byron: notByron == nil}
		}
	}
	for i := range outputs {
		outputs[i].owner = s.owners[births[i]]
	}
	return nil
}

// maxOwners is the number of addresses that are kept during a long answer.
const maxOwners = 1 << 13

func (s *search) setAssets(outputs []output) error {
	pks := make([]model.UtxoPk, len(outputs))
	for i := range outputs {
		pks[i] = outputs[i].pk
	}
	entries, err := s.q.AssetEntries(pks)
	if err != nil {
		return err
	}
	ids, err := s.q.AssetIDs(pointers.AssetsIn(entries))
	if err != nil {
		return err
	}
	for i := range outputs {
		for _, e := range entries[i] {
			outputs[i].assets = append(outputs[i].assets, asset{ids[e.Birth], e.Amount})
		}
	}
	return nil
}

// hasData reports whether an output has a datum or a reference script.
func hasData(row *schema.UtxoRow) bool {
	return slices.ContainsFunc(row.Occurrences, func(o schema.Occurrence) bool {
		return o.Index.Name == datumIndex || o.Index.Name == scriptIndex
	})
}

// readRaws reads the raw transactions that create outputs with data, and transactions that spend outputs.
func (s *search) readRaws(pks []model.UtxoPk, rows []schema.UtxoRow, spenders []*model.InputPk) error {
	var txs []model.TxPk
	for i, pk := range pks {
		if hasData(&rows[i]) {
			txs = append(txs, pk.Tx())
		}
		if spenders[i] != nil {
			txs = append(txs, spenders[i].Tx())
		}
	}
	return s.parse(txs)
}

// parse reads transactions, and forgets those before.
func (q *request) parse(txs []model.TxPk) error {
	slices.Sort(txs)
	txs = slices.Compact(txs)
	raws, err := q.q.RawTxs(txs)
	if err != nil {
		return err
	}
	q.parsed = make(map[model.TxPk]*rawTx, len(txs))
	for i, tx := range txs {
		t, err := ledger.ReadRaw(raws[i])
		if err != nil {
			return fmt.Errorf("raw transaction %v: %w", tx, err)
		}
		q.parsed[tx] = &rawTx{RawTx: t}
	}
	return nil
}

// output returns an output that the transaction created.
func (t *rawTx) output(index int) (*ledger.Output, error) {
	if t.Failed {
		index = 0 // the collateral return is its only one
	}
	if index >= len(t.Outputs) {
		return nil, fmt.Errorf("its raw transaction has no output %d: run check", index)
	}
	return &t.Outputs[index], nil
}

func (t *rawTx) readWitnesses() *ledger.Witnesses {
	if t.witnesses == nil {
		w := ledger.ReadWitnesses(t.Witnesses)
		t.witnesses = &w
	}
	return t.witnesses
}

// setData sets datum and reference script.
func (s *search) setData(o *output, row *schema.UtxoRow) error {
	if !hasData(row) {
		return nil
	}
	t, err := s.parsed[o.pk.Tx()].output(o.pk.Index())
	if err != nil {
		return fmt.Errorf("output %v: %w", o.pk, err)
	}
	if o.datumHash = t.DatumHash; t.Datum != nil {
		hash := blake2b.Sum256(t.Datum)
		o.datumHash, o.datum, o.inline = hash[:], t.Datum, true
	}
	if t.Script != nil {
		script, err := ledger.ParseScript(&cbor.Walker{}, t.Script)
		if err != nil {
			return fmt.Errorf("output %v: %w", o.pk, err)
		}
		o.script = &script
	}
	if s.resolve && o.datumHash != nil && !o.inline {
		o.datum, err = s.findDatum(o.datumHash)
	}
	return err
}

// setSpend sets the position of the input and its redeemer.
func (s *search) setSpend(o *output, by model.InputPk) {
	t := s.parsed[by.Tx()]
	if t.Body == nil { // Byron: its inputs are a list, and there are no scripts
		o.spend.index = by.Index()
		return
	}
	if !t.sorted {
		slices.SortFunc(t.Inputs, compareInputs)
		t.sorted = true
	}
	o.spend.index, _ = slices.BinarySearchFunc(t.Inputs, model.Input{Tx: o.tx, Index: uint32(o.pk.Index())}, compareInputs)
	if t.Failed {
		return
	}
	for _, r := range t.readWitnesses().Redeemers {
		if r.Purpose == ledger.PurposeSpend && r.Index == uint64(o.spend.index) {
			o.spend.redeemer = r.Data
		}
	}
}

// compareInputs orders inputs as the ledger does.
func compareInputs(a, b model.Input) int {
	if c := bytes.Compare(a.Tx[:], b.Tx[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.Index, b.Index)
}

// addMatch appends an output.
func (s *search) addMatch(o *output) {
	s.add(`{"transaction_index":`)
	s.addUint(uint64(s.q.TxIndex(o.pk.Tx())))
	s.add(`,"transaction_id":"`, o.tx.String(), `","output_index":`)
	s.addUint(uint64(o.pk.Index()))
	s.add(`,"address":"`, o.owner.text, `","value":{"coins":`)
	s.addAmount(o.value)
	s.add(`,"assets":{`)
	for i, a := range o.assets {
		if i > 0 {
			s.add(",")
		}
		s.add(`"`, a.id[:2*address.PolicySize])
		if name := a.id[2*address.PolicySize:]; name != "" {
			s.add(".", name)
		}
		s.add(`":`)
		s.addAmount(a.amount)
	}
	s.add(`}},"datum_hash":`)
	s.addHex(o.datumHash)
	switch {
	case o.datumHash == nil:
	case o.inline:
		s.add(`,"datum_type":"inline"`)
	default:
		s.add(`,"datum_type":"hash"`)
	}
	if s.resolve {
		s.add(`,"datum":`)
		s.addHex(o.datum)
	}
	s.add(`,"script_hash":`)
	if o.script == nil {
		s.addHex(nil)
	} else {
		s.addHex(scriptHash(o.script))
	}
	if s.resolve {
		s.add(`,"script":`)
		s.addScript(o.script)
	}
	s.add(`,"created_at":`)
	s.addPoint(o.created)
	s.add(`},"spent_at":`)
	if o.spend == nil {
		s.add("null}")
		return
	}
	s.addPoint(o.spend.at)
	s.add(`,"transaction_id":"`, o.spend.tx.String(), `","input_index":`)
	s.addUint(uint64(o.spend.index))
	s.add(`,"redeemer":`)
	s.addHex(o.spend.redeemer)
	s.add("}}")
}

func (s *search) addAmount(n uint64) {
	if s.quoted {
		s.add(`"`)
		s.addUint(n)
		s.add(`"`)
		return
	}
	s.addUint(n)
}

// addHex appends the hex digits of bytes, null for nil.
func (q *request) addHex(b []byte) {
	if b == nil {
		q.add("null")
		return
	}
	q.add(`"`)
	q.out = hex.AppendEncode(q.out, b)
	q.add(`"`)
}

// scriptHash returns the hash of a script: Blake2b-224 of the language and the script.
func scriptHash(s *ledger.Script) []byte {
	return address.Hash224(append([]byte{s.Language}, s.Code...))
}

// addScript appends a script, null for nil.
func (q *request) addScript(s *ledger.Script) {
	if s == nil {
		q.add("null")
		return
	}
	q.add(`{"language":"`, strings.Replace(s.LanguageName(), "_", ":", 1), `","script":"`)
	q.out = hex.AppendEncode(q.out, s.Code)
	q.add(`"}`)
}
