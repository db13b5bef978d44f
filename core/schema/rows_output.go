package schema

import (
	"encoding/binary"
	"fmt"

	"birthmark/model"
	"birthmark/storage"
)

var utxoFamily = declare(FamilyUtxo, "utxo_by_utxo_pk", storage.Ordered, 0,
	"utxo_pk", "uvarint value|[uvarint index_number|uvarint utxo_pk-birth_pk|uvarint ordinal if many-valued]",
	"an output: its value and the births of the values that occur in it; distance 0 is a birth")

type UtxoRow struct {
	Value       uint64
	Occurrences []Occurrence
}

// Occurrence is an occurrence of a value of an index in an output; Birth identifies the value.
type Occurrence struct {
	Index *Index
	Birth model.BirthPk
}

// BornAt reports whether pk is the output of the value's birth.
func (o Occurrence) BornAt(pk model.UtxoPk) bool { return o.Birth.Utxo == pk }

// AppendUtxoRow appends a complete row.
func AppendUtxoRow(b []byte, pk model.UtxoPk, r *UtxoRow) []byte {
	b = AppendUtxoValue(b, r.Value)
	for _, o := range r.Occurrences {
		b = AppendOccurrence(b, pk, o.Index, o.Birth)
	}
	return b
}

func AppendUtxoValue(b []byte, value uint64) []byte { return binary.AppendUvarint(b, value) }

// AppendOccurrence appends one occurrence to the row of an output, which AppendUtxoValue started.
func AppendOccurrence(b []byte, pk model.UtxoPk, x *Index, birth model.BirthPk) []byte {
	b = binary.AppendUvarint(b, uint64(x.Number))
	b = binary.AppendUvarint(b, uint64(pk-birth.Utxo))
	if x.Kind.HasOrdinal() {
		b = binary.AppendUvarint(b, uint64(birth.Ordinal))
	}
	return b
}

// ParseUtxoRow decodes a row and skips occurrences of indexes that are being dropped.
func (l *Layout) ParseUtxoRow(pk model.UtxoPk, b []byte) (UtxoRow, error) {
	row, _, err := l.ParseUtxoRowWith(pk, b)
	return row, err
}

// ParseUtxoRowWith also returns the number of occurrences that it skipped.
func (l *Layout) ParseUtxoRowWith(pk model.UtxoPk, b []byte) (row UtxoRow, dropped int, err error) {
	r := reader{b: b}
	row.Value = r.uvarint("value")
	for len(r.b) > 0 {
		x, birth := l.occurrence(&r, pk)
		switch {
		case x == nil: // r has the error
		case x.Dropped():
			dropped++
		default:
			row.Occurrences = append(row.Occurrences, Occurrence{x, birth})
		}
	}
	return row, dropped, r.end()
}

// VisitUtxoRow decodes a row without allocating: it returns the value, and calls visit with each occurrence of an index
// that is not being dropped.
func (l *Layout) VisitUtxoRow(pk model.UtxoPk, b []byte, visit func(x *Index, birth model.BirthPk)) (value uint64, err error) {
	r := reader{b: b}
	value = r.uvarint("value")
	for len(r.b) > 0 {
		x, birth := l.occurrence(&r, pk)
		if x == nil {
			break
		}
		if !x.Dropped() {
			visit(x, birth)
		}
	}
	return value, r.end()
}

// occurrence reads one occurrence; nil if the row is malformed.
func (l *Layout) occurrence(r *reader, pk model.UtxoPk) (x *Index, birth model.BirthPk) {
	number := r.uvarint("index_number")
	if x = l.ByNumber(number); x == nil {
		r.fail(fmt.Sprintf("the database has no index with number %d", number))
		return nil, birth
	}
	birth.Utxo = r.distance(pk)
	if x.Kind.HasOrdinal() {
		birth.Ordinal = r.ordinal("ordinal")
	}
	return x, birth
}

// ParseUtxoValue decodes only the value.
func ParseUtxoValue(b []byte) (uint64, error) {
	r := reader{b: b}
	return r.uvarint("value"), r.err
}

var spentUtxoFamily = declare(FamilySpentUtxo, "spent_utxo_pk_by_input_pk", storage.Ordered, 0,
	"input_pk", "utxo_pk", "the output that an input spends")

// SpendRow is an input and the output that it spends.
type SpendRow struct {
	Input  model.InputPk
	Output model.UtxoPk
}

func ParseSpendRow(key, value []byte) (row SpendRow, err error) {
	if row.Input, err = model.ParseInputPk(key); err == nil {
		row.Output, err = model.ParseUtxoPk(value)
	}
	return row, err
}

var spentInputFamily = declare(FamilySpentInput, "spent_input_pk_by_utxo_pk", storage.Lookup, deferred,
	"utxo_pk", "input_pk", "the input that spends an output; a row exists if and only if it is spent")

// The entries of an output are one row, because queries need all of them, and outputs of Cardano with assets have seven
// on average. Reading one entry decodes the row.
var assetsFamily = declare(FamilyAssets, "assets_by_utxo_pk", storage.Lookup, 0,
	"utxo_pk", "[uvarint amount|uvarint utxo_pk-birth_pk|uvarint birth_index*2+minted]",
	"the asset entries of an output, in order: entry n is asset_pk utxo_pk|n; minted: its transaction mints the asset. "+
		"If assets are derived, entries of amount 0 follow in the row of a transaction's first output: assets that it mints or "+
		"burns although no input and no output has them")

// AssetEntry is one entry of the assets of an output.
type AssetEntry struct {
	Amount model.Uint128
	Birth  model.AssetBirthPk
	Minted bool
}

// AppendAssetEntry appends one entry to the row of an output.
func AppendAssetEntry(b []byte, pk model.UtxoPk, e AssetEntry) []byte {
	b = e.Amount.AppendUvarint(b)
	b = binary.AppendUvarint(b, uint64(pk-e.Birth.Utxo))
	last := uint64(e.Birth.Index) << 1
	if e.Minted {
		last |= 1
	}
	return binary.AppendUvarint(b, last)
}

func ParseAssetsRow(pk model.UtxoPk, b []byte) ([]AssetEntry, error) {
	return AppendAssetEntries(nil, pk, b)
}

// AppendAssetEntries appends the entries of a row.
func AppendAssetEntries(entries []AssetEntry, pk model.UtxoPk, b []byte) ([]AssetEntry, error) {
	r := reader{b: b}
	for len(r.b) > 0 {
		e := AssetEntry{Amount: r.uvarint128("amount")}
		e.Birth.Utxo = r.distance(pk)
		last := r.atMost(1<<17-1, "birth_index and minted")
		e.Birth.Index, e.Minted = uint16(last>>1), last&1 == 1
		entries = append(entries, e)
	}
	return entries, r.end()
}

// Holdings returns the entries that are holdings: without those of amount 0 at the end.
func Holdings(entries []AssetEntry) []AssetEntry {
	for len(entries) > 0 && entries[len(entries)-1].Amount.IsZero() {
		entries = entries[:len(entries)-1]
	}
	return entries
}

// Related returns the holdings that have a relation: an asset is found in an output only by the first 65,536 of them. Only
// derived assets can be more.
func Related(holdings []AssetEntry) []AssetEntry { return holdings[:min(len(holdings), 1<<16)] }

// AmountChecksum is the part of the checksum in meta that an asset entry adds.
func AmountChecksum(a model.Uint128) uint64 { return a.Lo + 3*a.Hi }
