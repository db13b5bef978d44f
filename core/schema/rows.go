package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/big"

	"github.com/dchest/siphash"

	"birthmark/model"
	"birthmark/storage"
)

// These functions encode and decode the rows that schema.go declares. Decoders return ErrRow for malformed bytes and
// never panic.

var ErrRow = errors.New("row does not have its family's layout")

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
		r.fail(what + " is cut")
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
		r.fail(what + " is no uvarint")
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint(what string) int64 {
	u := r.uvarint(what)
	return int64(u>>1) ^ -int64(u&1)
}

// size reads a uvarint that must fit an int of 32 bits.
func (r *reader) size(what string) int {
	v := r.uvarint(what)
	if v > 1<<31-1 {
		r.fail(what + " is too large")
		return 0
	}
	return int(v)
}

func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail(fmt.Sprintf("%d bytes too many", len(r.b)))
	}
	return r.err
}

type BlockRow struct {
	Hash, Parent model.Hash
	Time         int64
	Slot         uint64
	TxCount      int
	Size         int
	Header       []byte
}

func AppendBlockRow(b []byte, r *BlockRow) []byte {
	b = append(b, r.Hash[:]...)
	b = append(b, r.Parent[:]...)
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendUvarint(b, r.Slot)
	b = binary.AppendUvarint(b, uint64(r.TxCount))
	b = binary.AppendUvarint(b, uint64(r.Size))
	return append(b, r.Header...)
}

func ParseBlockRow(b []byte) (BlockRow, error) {
	r := reader{b: b}
	row := BlockRow{
		Hash: r.hash("block_hash"), Parent: r.hash("parent_hash"), Time: r.varint("time"),
		Slot: r.uvarint("slot"), TxCount: r.size("tx_count"), Size: r.size("size"),
	}
	row.Header = r.b
	return row, r.err
}

// Checksum sums the numbers of the row that no other row repeats. The parent of a block is the hash of another block,
// except for the first block.
func (r *BlockRow) Checksum() uint64 {
	return uint64(r.Size) + r.Slot + binary.BigEndian.Uint64(r.Parent[:]) + HashChecksum(&r.Parent)
}

// HashChecksum sums the three words of a transaction hash that its 8-byte prefix does not contain.
func HashChecksum(h *model.Hash) uint64 {
	return binary.BigEndian.Uint64(h[8:]) + binary.BigEndian.Uint64(h[16:]) + binary.BigEndian.Uint64(h[24:])
}

func AppendHeightRow(b []byte, h model.HeightPk, time int64) []byte {
	return binary.AppendVarint(h.AppendTo(b), time)
}

func ParseHeightRow(b []byte) (model.HeightPk, int64, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height_pk"))
	time := r.varint("time")
	return h, time, errors.Join(err, r.end())
}

func AppendTxHashRow(b []byte, hash *model.Hash, fee model.Fee) []byte {
	b = append(b, hash[:]...)
	if fee.Stated {
		b = binary.AppendUvarint(b, fee.Amount)
	}
	return b
}

func ParseTxHashRow(b []byte) (hash model.Hash, fee model.Fee, err error) {
	r := reader{b: b}
	hash = r.hash("tx_hash")
	if len(r.b) > 0 {
		fee = model.Fee{Stated: true, Amount: r.uvarint("fee")}
	}
	return hash, fee, r.end()
}

// Occurrence is an occurrence of a value of an index in an output; Birth identifies the value.
type Occurrence struct {
	Index *Index
	Birth model.BirthPk
}

// BornAt reports whether pk is the output of the value's birth.
func (o Occurrence) BornAt(pk model.UtxoPk) bool { return o.Birth.Utxo == pk }

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

type UtxoRow struct {
	Value       uint64
	Occurrences []Occurrence
}

// AppendUtxoRow appends a complete row.
func AppendUtxoRow(b []byte, pk model.UtxoPk, r *UtxoRow) []byte {
	b = AppendUtxoValue(b, r.Value)
	for _, o := range r.Occurrences {
		b = AppendOccurrence(b, pk, o.Index, o.Birth)
	}
	return b
}

// ParseUtxoRow decodes a row and skips occurrences of indexes that are being dropped.
func (c *Layout) ParseUtxoRow(pk model.UtxoPk, b []byte) (UtxoRow, error) {
	row, _, err := c.ParseUtxoRowWith(pk, b)
	return row, err
}

// ParseUtxoRowWith also returns the number of occurrences that it skipped.
func (c *Layout) ParseUtxoRowWith(pk model.UtxoPk, b []byte) (row UtxoRow, dropped int, err error) {
	r := reader{b: b}
	row.Value = r.uvarint("value")
	for len(r.b) > 0 {
		number := r.uvarint("index_number")
		x := c.ByNumber(number)
		if x == nil {
			r.fail(fmt.Sprintf("index number %d is in no catalogue", number))
			break
		}
		distance := r.uvarint("distance to birth")
		if distance > uint64(pk) {
			r.fail("distance to birth is larger than utxo_pk")
		}
		o := Occurrence{x, model.BirthPk{Utxo: pk - model.UtxoPk(distance)}}
		if x.Kind.HasOrdinal() {
			o.Birth.Ordinal = r.ordinal("ordinal")
		}
		if x.Dropped() {
			dropped++
			continue
		}
		row.Occurrences = append(row.Occurrences, o)
	}
	return row, dropped, r.end()
}

func (r *reader) ordinal(what string) uint16 {
	v := r.uvarint(what)
	if v > 1<<16-1 {
		r.fail(what + " does not fit 16 bits")
	}
	return uint16(v)
}

// ParseUtxoValue decodes only the value.
func ParseUtxoValue(b []byte) (uint64, error) {
	r := reader{b: b}
	return r.uvarint("value"), r.err
}

// AssetEntry is one entry of the assets of an output.
type AssetEntry struct {
	Amount uint64
	Birth  model.AssetBirthPk
	Minted bool
}

func AppendAssetEntry(b []byte, pk model.UtxoPk, e AssetEntry) []byte {
	b = binary.AppendUvarint(b, e.Amount)
	b = binary.AppendUvarint(b, uint64(pk-e.Birth.Utxo))
	last := uint64(e.Birth.Index) << 1
	if e.Minted {
		last |= 1
	}
	return binary.AppendUvarint(b, last)
}

func ParseAssetsRow(pk model.UtxoPk, b []byte) ([]AssetEntry, error) {
	r := reader{b: b}
	var entries []AssetEntry
	for len(r.b) > 0 {
		e := AssetEntry{Amount: r.uvarint("amount")}
		distance := r.uvarint("distance to birth")
		if distance > uint64(pk) {
			r.fail("distance to birth is larger than utxo_pk")
		}
		e.Birth.Utxo = pk - model.UtxoPk(distance)
		last := r.uvarint("birth_index and minted")
		if last>>1 > 1<<16-1 {
			r.fail("birth_index does not fit 16 bits")
		}
		e.Birth.Index, e.Minted = uint16(last>>1), last&1 == 1
		entries = append(entries, e)
	}
	return entries, r.end()
}

func AppendSupplyRow(b []byte, amount *big.Int) []byte {
	sign := byte(0)
	if amount.Sign() < 0 {
		sign = 1
	}
	return append(append(b, sign), amount.Bytes()...)
}

func ParseSupplyRow(b []byte) (*big.Int, error) {
	if len(b) < 2 || b[0] > 1 || b[1] == 0 {
		return nil, fmt.Errorf("%w: %x is no signed amount", ErrRow, b)
	}
	amount := new(big.Int).SetBytes(b[1:])
	if b[0] == 1 {
		amount.Neg(amount)
	}
	return amount, nil
}

func AppendSupplyKey(b []byte, birth model.AssetBirthPk, tx model.TxPk) []byte {
	return tx.AppendTo(birth.AppendTo(b))
}

func ParseSupplyKey(b []byte) (birth model.AssetBirthPk, tx model.TxPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	tx, err2 := model.ParseTxPk(r.take(model.PkSize, "tx_pk"))
	return birth, tx, errors.Join(err1, err2, r.end())
}

func AppendRelationKey(b []byte, x *Index, birth model.BirthPk, at model.UtxoPk) []byte {
	return at.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func ParseRelationKey(x *Index, b []byte) (birth model.BirthPk, at model.UtxoPk, err error) {
	n := model.PkSize
	if x.Kind.HasOrdinal() {
		n = model.PkOrdinalSize
	}
	r := reader{b: b}
	birth, err1 := model.ParseBirthPk(r.take(n, "birth_pk"), x.Kind.HasOrdinal())
	at, err2 := model.ParseUtxoPk(r.take(model.PkSize, "utxo_pk"))
	return birth, at, errors.Join(err1, err2, r.end())
}

func AppendAssetRelationKey(b []byte, birth model.AssetBirthPk, at model.AssetPk) []byte {
	return at.AppendTo(birth.AppendTo(b))
}

func ParseAssetRelationKey(b []byte) (birth model.AssetBirthPk, at model.AssetPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	at, err2 := model.ParseAssetPk(r.take(model.PkOrdinalSize, "asset_pk"))
	return birth, at, errors.Join(err1, err2, r.end())
}

func AppendHoldingKey(b []byte, k HoldingKey) []byte {
	return k.Holder.AppendTo(k.Asset.AppendTo(b), false)
}

func ParseHoldingKey(b []byte) (HoldingKey, error) {
	r := reader{b: b}
	asset, err1 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	holder, err2 := model.ParseBirthPk(r.take(model.PkSize, "birth_pk"), false)
	return HoldingKey{asset, holder}, errors.Join(err1, err2, r.end())
}

func AppendHoldingRow(b []byte, amount Int128) []byte { return amount.appendTo(b) }

func ParseHoldingRow(b []byte) (Int128, error) {
	if len(b) == 0 {
		return Int128{}, fmt.Errorf("%w: a holding of nothing", ErrRow)
	}
	return ParseInt128(b)
}

// AssetTotals are the totals of an asset.
type AssetTotals struct {
	Outputs, Unspent uint64 // outputs with the asset
	Holders          uint64
	Mints, Burns     uint64 // counts of transactions
	Minted, Burned   big.Int
}

func AppendAssetTotalsRow(b []byte, t *AssetTotals) []byte {
	for _, n := range []uint64{t.Outputs, t.Unspent, t.Holders, t.Mints, t.Burns} {
		b = binary.AppendUvarint(b, n)
	}
	minted := t.Minted.Bytes()
	b = binary.AppendUvarint(b, uint64(len(minted)))
	return append(append(b, minted...), t.Burned.Bytes()...)
}

func ParseAssetTotalsRow(b []byte) (t AssetTotals, err error) {
	r := reader{b: b}
	t.Outputs, t.Unspent, t.Holders = r.uvarint("outputs"), r.uvarint("unspent outputs"), r.uvarint("holders")
	t.Mints, t.Burns = r.uvarint("mints"), r.uvarint("burns")
	n := r.uvarint("length of minted")
	if n > uint64(len(r.b)) {
		r.fail("minted is cut")
		return t, r.err
	}
	minted := r.take(int(n), "minted")
	for _, magnitude := range [][]byte{minted, r.b} {
		if len(magnitude) > 0 && magnitude[0] == 0 {
			r.fail("amount begins with 0")
			return t, r.err
		}
	}
	t.Minted.SetBytes(minted)
	t.Burned.SetBytes(r.b)
	return t, r.err
}

// InfoChecksum is the FNV-1a hash (64 bits) of an asset's info, for the checksum in meta.
func InfoChecksum(info []byte) uint64 {
	h := fnv.New64a()
	h.Write(info)
	return h.Sum64()
}

// OrphanRow is a block that a reorganization orphaned.
type OrphanRow struct {
	Height     model.HeightPk
	Hash       model.Hash
	Time       int64 // of the block
	OrphanedAt int64 // time of the reorganization
	Depth      int   // 1: the block was the tip
}

func AppendOrphanRow(b []byte, r *OrphanRow) []byte {
	b = r.Height.AppendTo(b)
	b = append(b, r.Hash[:]...)
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendVarint(b, r.OrphanedAt)
	return binary.AppendUvarint(b, uint64(r.Depth))
}

func parseOrphanRow(b []byte) (OrphanRow, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height_pk"))
	row := OrphanRow{Height: h, Hash: r.hash("block_hash"), Time: r.varint("time"), OrphanedAt: r.varint("time_lost"), Depth: r.size("depth")}
	if row.Depth == 0 {
		r.fail("depth is 0")
	}
	return row, errors.Join(err, r.end())
}

// OrphanKey encodes lost_pk.
func OrphanKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func ParseOrphanKey(b []byte) (uint64, error) {
	r := reader{b: b}
	n := binary.BigEndian.Uint64(r.take(model.PkSize, "lost_pk"))
	return n, r.end()
}

// RawChecksum is the SipHash-2-4 of a raw transaction keyed with its pointer, for the checksum in meta.
func RawChecksum(pk model.TxPk, raw []byte) uint64 { return siphash.Hash(uint64(pk), 0, raw) }

// MaxOrphans is the number of orphaned blocks that a database keeps.
const MaxOrphans = 1000

// LastOrphan returns the newest row and its number, 0 if no block was orphaned yet.
func LastOrphan(r storage.Reader) (n uint64, row OrphanRow, err error) {
	for kv, err := range r.Scan(FamilyOrphanBlock, nil, nil, true) {
		if err != nil {
			return 0, row, err
		}
		return ParseOrphan(kv)
	}
	return 0, row, nil
}

func ParseOrphan(kv storage.KV) (n uint64, row OrphanRow, err error) {
	if n, err = ParseOrphanKey(kv.Key); err == nil {
		row, err = parseOrphanRow(kv.Value)
	}
	return n, row, err
}
