package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/big"

	"birthmark/model"
	"birthmark/storage"

	"github.com/dchest/siphash"
)

// The functions here write and read the rows that schema.go declares. Readers return errRow for bytes that no
// writer made, and never panic.

var errRow = errors.New("row does not have its family's layout")

// reader takes a row apart; the first thing that does not fit makes err.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", errRow, what)
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
	// Every number has one encoding: no padding, so that equal rows are equal bytes.
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

// size is a uvarint that counts something in memory.
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

type blockRow struct {
	hash, parent model.Hash
	time         int64
	slot         uint64
	txCount      int
	size         int
	header       []byte
}

func appendBlockRow(b []byte, r *blockRow) []byte {
	b = append(b, r.hash[:]...)
	b = append(b, r.parent[:]...)
	b = binary.AppendVarint(b, r.time)
	b = binary.AppendUvarint(b, r.slot)
	b = binary.AppendUvarint(b, uint64(r.txCount))
	b = binary.AppendUvarint(b, uint64(r.size))
	return append(b, r.header...)
}

func parseBlockRow(b []byte) (blockRow, error) {
	r := reader{b: b}
	row := blockRow{
		hash: r.hash("block_hash"), parent: r.hash("parent_hash"), time: r.varint("time"),
		slot: r.uvarint("slot"), txCount: r.size("tx_count"), size: r.size("size"),
	}
	row.header = r.b
	return row, r.err
}

// checksum sums up what no other row says again. A parent is another block's hash, but for that of the first block.
func (r *blockRow) checksum() uint64 {
	return uint64(r.size) + r.slot + binary.BigEndian.Uint64(r.parent[:]) + hashChecksum(&r.parent)
}

// hashChecksum sums up what of a transaction's hash its head does not say again.
func hashChecksum(h *model.Hash) uint64 {
	return binary.BigEndian.Uint64(h[8:]) + binary.BigEndian.Uint64(h[16:]) + binary.BigEndian.Uint64(h[24:])
}

func appendHeightRow(b []byte, h model.HeightPk, time int64) []byte {
	return binary.AppendVarint(h.AppendTo(b), time)
}

func parseHeightRow(b []byte) (model.HeightPk, int64, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height_pk"))
	time := r.varint("time")
	return h, time, errors.Join(err, r.end())
}

func appendTxHashRow(b []byte, hash *model.Hash, fee model.Fee) []byte {
	b = append(b, hash[:]...)
	if fee.Stated {
		b = binary.AppendUvarint(b, fee.Amount)
	}
	return b
}

func parseTxHashRow(b []byte) (hash model.Hash, fee model.Fee, err error) {
	r := reader{b: b}
	hash = r.hash("tx_hash")
	if len(r.b) > 0 {
		fee = model.Fee{Stated: true, Amount: r.uvarint("fee")}
	}
	return hash, fee, r.end()
}

// occurrence is a value of an index in an output, by its birth.
type occurrence struct {
	index *index
	birth model.BirthPk
}

// born reports whether the output at pk is where the value was born.
func (o occurrence) born(pk model.UtxoPk) bool { return o.birth.Utxo == pk }

func appendUtxoValue(b []byte, value uint64) []byte { return binary.AppendUvarint(b, value) }

// appendOccurrence appends one value's part of an output's row, which appendUtxoValue began.
func appendOccurrence(b []byte, pk model.UtxoPk, x *index, birth model.BirthPk) []byte {
	b = binary.AppendUvarint(b, uint64(x.number))
	b = binary.AppendUvarint(b, uint64(pk-birth.Utxo))
	if x.Kind.HasOrdinal() {
		b = binary.AppendUvarint(b, uint64(birth.Ordinal))
	}
	return b
}

type utxoRow struct {
	value       uint64
	occurrences []occurrence
}

// appendUtxoRow appends a whole row.
func appendUtxoRow(b []byte, pk model.UtxoPk, r *utxoRow) []byte {
	b = appendUtxoValue(b, r.value)
	for _, o := range r.occurrences {
		b = appendOccurrence(b, pk, o.index, o.birth)
	}
	return b
}

// parseUtxoRow reads a row without what is left in it of an index that is being dropped.
func (c *catalogue) parseUtxoRow(pk model.UtxoPk, b []byte) (utxoRow, error) {
	row, _, err := c.parseUtxoRowWith(pk, b)
	return row, err
}

// parseUtxoRowWith says too how many values were left out.
func (c *catalogue) parseUtxoRowWith(pk model.UtxoPk, b []byte) (row utxoRow, dropped int, err error) {
	r := reader{b: b}
	row.value = r.uvarint("value")
	for len(r.b) > 0 {
		number := r.uvarint("index_number")
		x := c.indexByNumber(number)
		if x == nil {
			r.fail(fmt.Sprintf("index number %d is in no catalogue", number))
			break
		}
		distance := r.uvarint("distance to birth")
		if distance > uint64(pk) {
			r.fail("distance to birth is larger than utxo_pk")
		}
		o := occurrence{x, model.BirthPk{Utxo: pk - model.UtxoPk(distance)}}
		if x.Kind.HasOrdinal() {
			o.birth.Ordinal = r.ordinal("ordinal")
		}
		if x.dropped() {
			dropped++
			continue
		}
		row.occurrences = append(row.occurrences, o)
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

// parseUtxoValue reads the value alone.
func parseUtxoValue(b []byte) (uint64, error) {
	r := reader{b: b}
	return r.uvarint("value"), r.err
}

// assetEntry is one entry of an output's assets.
type assetEntry struct {
	amount uint64
	birth  model.AssetBirthPk
	minted bool
}

func appendAssetEntry(b []byte, pk model.UtxoPk, e assetEntry) []byte {
	b = binary.AppendUvarint(b, e.amount)
	b = binary.AppendUvarint(b, uint64(pk-e.birth.Utxo))
	last := uint64(e.birth.Index) << 1
	if e.minted {
		last |= 1
	}
	return binary.AppendUvarint(b, last)
}

func parseAssetsRow(pk model.UtxoPk, b []byte) ([]assetEntry, error) {
	r := reader{b: b}
	var entries []assetEntry
	for len(r.b) > 0 {
		e := assetEntry{amount: r.uvarint("amount")}
		distance := r.uvarint("distance to birth")
		if distance > uint64(pk) {
			r.fail("distance to birth is larger than utxo_pk")
		}
		e.birth.Utxo = pk - model.UtxoPk(distance)
		last := r.uvarint("birth_index and minted")
		if last>>1 > 1<<16-1 {
			r.fail("birth_index does not fit 16 bits")
		}
		e.birth.Index, e.minted = uint16(last>>1), last&1 == 1
		entries = append(entries, e)
	}
	return entries, r.end()
}

func appendSupplyRow(b []byte, amount *big.Int) []byte {
	sign := byte(0)
	if amount.Sign() < 0 {
		sign = 1
	}
	return append(append(b, sign), amount.Bytes()...)
}

func parseSupplyRow(b []byte) (*big.Int, error) {
	if len(b) < 2 || b[0] > 1 || b[1] == 0 {
		return nil, fmt.Errorf("%w: %x is no signed amount", errRow, b)
	}
	amount := new(big.Int).SetBytes(b[1:])
	if b[0] == 1 {
		amount.Neg(amount)
	}
	return amount, nil
}

func appendSupplyKey(b []byte, birth model.AssetBirthPk, tx model.TxPk) []byte {
	return tx.AppendTo(birth.AppendTo(b))
}

func parseSupplyKey(b []byte) (birth model.AssetBirthPk, tx model.TxPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	tx, err2 := model.ParseTxPk(r.take(model.PkSize, "tx_pk"))
	return birth, tx, errors.Join(err1, err2, r.end())
}

func appendRelationKey(b []byte, x *index, birth model.BirthPk, at model.UtxoPk) []byte {
	return at.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func parseRelationKey(x *index, b []byte) (birth model.BirthPk, at model.UtxoPk, err error) {
	n := model.PkSize
	if x.Kind.HasOrdinal() {
		n = model.PkOrdinalSize
	}
	r := reader{b: b}
	birth, err1 := model.ParseBirthPk(r.take(n, "birth_pk"), x.Kind.HasOrdinal())
	at, err2 := model.ParseUtxoPk(r.take(model.PkSize, "utxo_pk"))
	return birth, at, errors.Join(err1, err2, r.end())
}

func appendAssetRelationKey(b []byte, birth model.AssetBirthPk, at model.AssetPk) []byte {
	return at.AppendTo(birth.AppendTo(b))
}

func parseAssetRelationKey(b []byte) (birth model.AssetBirthPk, at model.AssetPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	at, err2 := model.ParseAssetPk(r.take(model.PkOrdinalSize, "asset_pk"))
	return birth, at, errors.Join(err1, err2, r.end())
}

func appendHoldingKey(b []byte, k assetHolding) []byte {
	return k.holder.AppendTo(k.asset.AppendTo(b), false)
}

func parseHoldingKey(b []byte) (assetHolding, error) {
	r := reader{b: b}
	asset, err1 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	holder, err2 := model.ParseBirthPk(r.take(model.PkSize, "birth_pk"), false)
	return assetHolding{asset, holder}, errors.Join(err1, err2, r.end())
}

func appendHoldingRow(b []byte, amount wide) []byte { return amount.appendTo(b) }

func parseHoldingRow(b []byte) (wide, error) {
	if len(b) == 0 {
		return wide{}, fmt.Errorf("%w: a holding of nothing", errRow)
	}
	return parseWide(b)
}

// assetTotals is how an asset stands.
type assetTotals struct {
	outputs, unspent uint64 // that have some of it
	holders          uint64
	mints, burns     uint64 // transactions
	minted, burned   big.Int
}

func appendAssetTotalsRow(b []byte, t *assetTotals) []byte {
	for _, n := range []uint64{t.outputs, t.unspent, t.holders, t.mints, t.burns} {
		b = binary.AppendUvarint(b, n)
	}
	minted := t.minted.Bytes()
	b = binary.AppendUvarint(b, uint64(len(minted)))
	return append(append(b, minted...), t.burned.Bytes()...)
}

func parseAssetTotalsRow(b []byte) (t assetTotals, err error) {
	r := reader{b: b}
	t.outputs, t.unspent, t.holders = r.uvarint("outputs"), r.uvarint("unspent outputs"), r.uvarint("holders")
	t.mints, t.burns = r.uvarint("mints"), r.uvarint("burns")
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
	t.minted.SetBytes(minted)
	t.burned.SetBytes(r.b)
	return t, r.err
}

// infoChecksum stands for what is said of an asset in the checksum of meta (FNV-1a, 64 bits).
func infoChecksum(info []byte) uint64 {
	h := fnv.New64a()
	h.Write(info)
	return h.Sum64()
}

// lostRow is a block that a fork took off the chain.
type lostRow struct {
	height model.HeightPk
	hash   model.Hash
	time   int64 // the block's
	lost   int64 // when it was taken off
	depth  int   // 1: it was the tip
}

func appendLostRow(b []byte, r *lostRow) []byte {
	b = r.height.AppendTo(b)
	b = append(b, r.hash[:]...)
	b = binary.AppendVarint(b, r.time)
	b = binary.AppendVarint(b, r.lost)
	return binary.AppendUvarint(b, uint64(r.depth))
}

func parseLostRow(b []byte) (lostRow, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height_pk"))
	row := lostRow{height: h, hash: r.hash("block_hash"), time: r.varint("time"), lost: r.varint("time_lost"), depth: r.size("depth")}
	if row.depth == 0 {
		r.fail("depth is 0")
	}
	return row, errors.Join(err, r.end())
}

// lostKey is lost_pk.
func lostKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func parseLostKey(b []byte) (uint64, error) {
	r := reader{b: b}
	n := binary.BigEndian.Uint64(r.take(model.PkSize, "lost_pk"))
	return n, r.end()
}

// rawChecksum stands for a transaction's bytes and its place in the checksum of meta.
func rawChecksum(pk model.TxPk, raw []byte) uint64 { return siphash.Hash(uint64(pk), 0, raw) }

// maxLost is how many lost blocks are remembered.
const maxLost = 1000

// lastLost is the newest row and its number, 0 where nothing was lost yet.
func lastLost(r storage.Reader) (n uint64, row lostRow, err error) {
	for kv, err := range r.Scan(familyLostBlock, nil, nil, true) {
		if err != nil {
			return 0, row, err
		}
		return parseLost(kv)
	}
	return 0, row, nil
}

func parseLost(kv storage.KV) (n uint64, row lostRow, err error) {
	if n, err = parseLostKey(kv.Key); err == nil {
		row, err = parseLostRow(kv.Value)
	}
	return n, row, err
}
