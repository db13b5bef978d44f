package boxes

import (
	"encoding/binary"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Block is a block of the chain. It is immutable.
type Block struct {
	Height  model.HeightPk
	ID      model.Hash
	Header  *sigma.Header
	Bytes   int // of the header
	Size    int // of the block
	TxCount int

	before []uint32 // boxes of the block before each transaction, and their number
}

func (b *Block) memory() int { return 512 + b.Bytes + 4*len(b.before) }

// Boxes returns the number of boxes that the block creates.
func (b *Block) Boxes() int { return int(b.before[b.TxCount]) }

// Block returns the block at a height, which must exist.
func (v *View) Block(h model.HeightPk) (*Block, error) {
	if b := v.blocks[h]; b != nil {
		return b, nil
	}
	id, counted := v.countedID(h)
	b, known := v.chain.blocks.Get(blockKey{h, id})
	if counted && known {
		v.blocks[h] = b
		return b, nil
	}
	row, err := v.Q.BlockRow(h)
	if err != nil {
		return nil, err
	}
	key := blockKey{h, idPrefix(row.Hash)}
	if b, known = v.chain.blocks.Get(key); !known {
		if b, err = v.readBlock(h, &row); err != nil {
			return nil, err
		}
		v.chain.blocks.Put(key, b)
	}
	v.blocks[h] = b
	return b, nil
}

// blockKey identifies a block by its height and the first bytes of its id. Two blocks of one height that are equal in
// both would take about 2^32 proofs of work.
type blockKey struct {
	height model.HeightPk
	id     uint64
}

func (v *View) readBlock(h model.HeightPk, row *schema.BlockRow) (*Block, error) {
	raw := append([]byte(nil), row.Header...)
	header, err := sigma.ParseHeader(raw)
	if err != nil {
		return nil, err
	}
	b := &Block{
		Height: h, ID: row.Hash, Header: header, Bytes: len(raw), Size: row.Size, TxCount: row.TxCount,
		before: make([]uint32, row.TxCount+1),
	}
	for kv, err := range v.Q.R.Scan(schema.FamilyUtxo, v.Q.FirstPk(h).AppendTo(nil), v.Q.FirstPk(h+1).AppendTo(nil), false) {
		if err != nil {
			return nil, err
		}
		b.before[model.UtxoPk(binary.BigEndian.Uint64(kv.Key)).TxIndex()+1]++
	}
	for i := range row.TxCount {
		b.before[i+1] += b.before[i]
	}
	return b, nil
}

// BlockOf returns the block with an id; nil if the chain has none.
func (v *View) BlockOf(id model.Hash) (*Block, error) {
	h, ok, err := v.Q.HeightOf(id)
	if err != nil || !ok {
		return nil, err
	}
	return v.Block(h)
}

// TxPks returns the transactions of a block.
func (v *View) TxPks(b *Block) ([]model.TxPk, error) {
	pks := make([]model.TxPk, b.TxCount)
	for i := range pks {
		var err error
		if pks[i], err = v.Q.NewTxPk(b.Height, i); err != nil {
			return nil, err
		}
	}
	return pks, nil
}

// Types of the sections of a block, by which they have ids.
const (
	SectionTransactions = 102
	SectionProofs       = 104
	SectionExtension    = 108
)

// Section returns the id of a section of the block.
func (b *Block) Section(kind byte, root sigma.ID) sigma.ID {
	raw := append([]byte{kind}, b.ID[:]...)
	return blake2b.Sum256(append(raw, root[:]...))
}

// versionOffset is added to the version of the transactions of a block, which since version 2 is written in front of
// them: no block has as many transactions.
const versionOffset = 10_000_000

// SectionSize returns the size in bytes of the section with the transactions of a block, whose sizes sum to txs.
func SectionSize(b *Block, txs int) int {
	size := len(b.ID) + len(binary.AppendUvarint(nil, uint64(b.TxCount))) + txs
	if v := b.Header.Version; v > 1 {
		size += len(binary.AppendUvarint(nil, versionOffset+uint64(v)))
	}
	return size
}

// EachID calls visit with the ids of the blocks from a height to another one.
func (v *View) EachID(from, to model.HeightPk, visit func(model.Hash)) error {
	return v.Q.EachBlock(from, to+1, func(_ model.HeightPk, row *schema.BlockRow) error {
		visit(row.Hash)
		return nil
	})
}

// BlocksBy returns a window of the blocks in the order of a field, by their heights. Blocks with the same value are in
// the order of the chain, or the opposite one if the window is descending. It reads the rows of all blocks, and holds
// those of the window and before it in memory.
func (v *View) BlocksBy(field func(*schema.BlockRow) (uint64, error), ascending bool, offset, limit int) ([]model.HeightPk, error) {
	type entry struct {
		value  uint64
		height model.HeightPk
	}
	first := setops.Top[entry]{Limit: offset + limit, Before: func(a, b entry) bool {
		if !ascending {
			a, b = b, a
		}
		return a.value < b.value || a.value == b.value && a.height < b.height
	}}
	err := v.Q.EachBlock(firstHeight, v.Tip.Height+1, func(h model.HeightPk, row *schema.BlockRow) error {
		value, err := field(row)
		if err != nil {
			return err
		}
		first.Offer(entry{value, h})
		if h%4096 == 0 {
			return v.Q.Ctx.Err()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	entries := first.Sorted()
	var heights []model.HeightPk
	for _, e := range entries[min(offset, len(entries)):] {
		heights = append(heights, e.height)
	}
	return heights, nil
}
