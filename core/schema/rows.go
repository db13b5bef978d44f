package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"birthmark/model"
	"birthmark/storage"
)

// The files rows_*.go have one section per family: its declaration, its row type, and the codec of its keys and values.
// A key that is one pointer or one hash needs no codec here: see package model.
//
// Keys are built by plain functions (Append…Key), because lookups, ranges and deletions need a key without a row.
// Parse…Row decodes a row, from key and value if the key has more than one part, else from the value. It returns ErrRow
// for malformed bytes and never panics.

// declaration declares a family, with the layout of its key and value in the notation of docs/schema.md. TestLayout
// compares the layout with the bytes that the codec writes.
type declaration struct {
	storage.Declaration
	key, value, purpose string
}

// Hints of a declaration.
const (
	incompressible = 1 << iota
	deferred       // DeferCompaction
	present        // Present
)

func declare(f storage.Family, name string, access storage.Access, hints int, key, value, purpose string) declaration {
	return declaration{storage.Declaration{
		Family: f, Name: name, Access: access, Incompressible: hints&incompressible != 0, DeferCompaction: hints&deferred != 0,
		Present: hints&present != 0,
	}, key, value, purpose}
}

var ErrRow = errors.New("row does not have its family's layout")

// Rows yields the decoded rows of a family with from <= key < to. It ends after the first error.
func Rows[T any](
	r storage.Reader, f storage.Family, from, to []byte, reverse bool, parse func(key, value []byte) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for kv, err := range r.Scan(f, from, to, reverse) {
			var row T
			if err == nil {
				row, err = parse(kv.Key, kv.Value)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// reader splits a row; the first malformed field sets err.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrRow, what)
	}
	r.b = nil
}

func (r *reader) take(n int, what string) []byte {
	if len(r.b) < n {
		r.fail(what + " is too short")
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) hash(what string) (h model.Hash) {
	copy(h[:], r.take(len(h), what))
	return h
}

func (r *reader) uvarint(what string) uint64 {
	v, n := binary.Uvarint(r.b)
	// Every number has exactly one encoding (no padding), so equal rows have equal bytes.
	if n <= 0 || (n > 1 && r.b[n-1] == 0) {
		r.fail(what + " is not a uvarint")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// uvarint128 reads an amount of an asset, in its only encoding.
func (r *reader) uvarint128(what string) model.Uint128 {
	v, n, err := model.Uvarint128(r.b)
	if err != nil || (n > 1 && r.b[n-1] == 0) {
		r.fail(what + " is not a uvarint")
		return model.Uint128{}
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint(what string) int64 {
	u := r.uvarint(what)
	return int64(u>>1) ^ -int64(u&1)
}

// size reads a uvarint that must fit an int of 32 bits.
func (r *reader) size(what string) int { return int(r.atMost(1<<31-1, what)) }

// ordinal reads a uvarint that must fit 16 bits.
func (r *reader) ordinal(what string) uint16 { return uint16(r.atMost(1<<16-1, what)) }

func (r *reader) atMost(most uint64, what string) uint64 {
	v := r.uvarint(what)
	if v > most {
		r.fail(what + " is too large")
		return 0
	}
	return v
}

// point reads height_pk|block_hash|uvarint slot.
func (r *reader) point() model.Point {
	return model.Point{Height: r.height(), Hash: r.hash("block_hash"), Slot: r.uvarint("slot")}
}

func (r *reader) height() model.HeightPk {
	return pointer(r, model.HeightPkSize, "height_pk", model.ParseHeightPk)
}

func (r *reader) tx() model.TxPk     { return pointer(r, model.PkSize, "tx_pk", model.ParseTxPk) }
func (r *reader) utxo() model.UtxoPk { return pointer(r, model.PkSize, "utxo_pk", model.ParseUtxoPk) }

func (r *reader) birth(ordinal bool) (b model.BirthPk) {
	b.Utxo = r.utxo()
	if ordinal {
		b.Ordinal = binary.BigEndian.Uint16(r.take(model.PkOrdinalSize-model.PkSize, "ordinal"))
	}
	return b
}

func (r *reader) assetBirth() model.AssetBirthPk {
	b := r.birth(true)
	return model.AssetBirthPk{Utxo: b.Utxo, Index: b.Ordinal}
}

// distance reads uvarint pk-birth_pk and returns the birth.
func (r *reader) distance(pk model.UtxoPk) model.UtxoPk {
	distance := r.uvarint("distance to birth")
	if distance > uint64(pk) {
		r.fail("distance to birth is larger than utxo_pk")
	}
	return pk - model.UtxoPk(distance)
}

func pointer[T any](r *reader, size int, what string, parse func([]byte) (T, error)) T {
	p, err := parse(r.take(size, what))
	if err != nil && r.err == nil {
		r.err, r.b = err, nil
	}
	return p
}

func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail(fmt.Sprintf("%d bytes too many", len(r.b)))
	}
	return r.err
}

// keyOnly returns an error if a row of a family without values has one.
func (r *reader) keyOnly(value []byte) error {
	if len(value) > 0 {
		r.fail("a relation has no value")
	}
	return r.end()
}

// both ends the readers of a key and its value.
func both(key, value *reader) error {
	if err := key.end(); err != nil {
		return err
	}
	return value.end()
}
