package schema

import (
	"encoding/binary"

	"github.com/dchest/siphash"

	"birthmark/model"
	"birthmark/storage"
)

var blockFamily = declare(FamilyBlock, "block_by_height_pk", storage.Ordered, 0,
	"height_pk", "block_hash|parent_hash|varint time|uvarint slot|uvarint tx_count|uvarint size|header",
	"a block; the header is the chain's own bytes")

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

var heightFamily = declare(FamilyHeight, "height_pk_by_block_hash", storage.Lookup, 0,
	"block_hash", "height_pk|varint time", "the height of a block")

func AppendHeightRow(b []byte, h model.HeightPk, time int64) []byte {
	return binary.AppendVarint(h.AppendTo(b), time)
}

func ParseHeightRow(b []byte) (model.HeightPk, int64, error) {
	r := reader{b: b}
	h, time := r.height(), r.varint("time")
	return h, time, r.end()
}

var txHashFamily = declare(FamilyTxHash, "tx_hash_by_tx_pk", storage.Ordered, incompressible,
	"tx_pk", "tx_hash|[uvarint fee]", "a transaction; the fee only if the transaction states it")

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

// Before BIP 30, two pairs of Bitcoin coinbases had the same hash. Each transaction has its own row, so that a rollback
// of the newer one leaves the older one, which a single pointer per hash could not restore.
var txPkFamily = declare(FamilyTxPk, "tx_pk_by_tx_hash", storage.Hashed, incompressible|deferred,
	"prefix of tx_hash|tx_pk", "",
	"the transactions with a hash, several if it is repeated (BIP 30); tx_hash_by_tx_pk has the full hash to compare")

// AppendTxPkKey appends the key, which [ParsePrefixKey] splits.
func AppendTxPkKey(b []byte, hash *model.Hash, pk model.TxPk) []byte {
	return pk.AppendTo(appendHashPrefix(b, hash[:]))
}

// The id of a transaction is a hash of these bytes, or of a part of them, so that they can be checked. Nodes of Ergo
// return JSON, which has many forms: the stored bytes are the binary form, whose ids and roots are verified. The parts
// of a Cardano transaction are separate in a block and keep their bytes.
var rawFamily = declare(FamilyRaw, "raw_by_tx_pk", storage.Ordered, 0,
	"tx_pk", "bytes",
	"a transaction in the form of its chain: Bitcoin with witness; Cardano as submitted to a node, an array "+
		"of body, witnesses, since Alonzo the validity of its scripts, and auxiliary data or null; Ergo with "+
		"proofs. Genesis outputs have none")

// RawChecksum is the SipHash-2-4 of a raw transaction keyed with its pointer, for the checksum in meta.
func RawChecksum(pk model.TxPk, raw []byte) uint64 { return siphash.Hash(uint64(pk), 0, raw) }

var orphanFamily = declare(FamilyOrphanBlock, "lost_block_by_lost_pk", storage.Ordered, 0,
	"lost_pk", "height_pk|block_hash|varint time|varint time_lost|uvarint depth",
	"the last 1,000 orphaned blocks; depth 1 was the tip, and each block below it one deeper. This is history "+
		"and not determined by the chain: dumps and the counts in meta leave it out")

// MaxOrphans is the number of orphaned blocks that a database keeps.
const MaxOrphans = 1000

// OrphanRow is a block that a reorganization orphaned. It does not name the block that replaced it: this is the next
// orphaned block at its height, or else the block of the chain, also after further reorganizations.
type OrphanRow struct {
	Number     uint64 // lost_pk, counted from 1
	Height     model.HeightPk
	Hash       model.Hash
	Time       int64 // of the block
	OrphanedAt int64 // time of the reorganization
	Depth      int   // 1: the block was the tip
}

func OrphanKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func AppendOrphanRow(b []byte, r *OrphanRow) []byte {
	b = r.Height.AppendTo(b)
	b = append(b, r.Hash[:]...)
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendVarint(b, r.OrphanedAt)
	return binary.AppendUvarint(b, uint64(r.Depth))
}

func ParseOrphanRow(key, value []byte) (OrphanRow, error) {
	k, v := reader{b: key}, reader{b: value}
	row := OrphanRow{
		Number: binary.BigEndian.Uint64(k.take(model.PkSize, "lost_pk")), Height: v.height(), Hash: v.hash("block_hash"),
		Time: v.varint("time"), OrphanedAt: v.varint("time_lost"), Depth: v.size("depth"),
	}
	if row.Depth == 0 {
		v.fail("depth is 0")
	}
	return row, both(&k, &v)
}

// LastOrphan returns the newest row, or the zero row if no block was orphaned yet.
func LastOrphan(r storage.Reader) (OrphanRow, error) {
	for row, err := range Rows(r, FamilyOrphanBlock, nil, nil, true, ParseOrphanRow) {
		return row, err
	}
	return OrphanRow{}, nil
}
