package wallet

import (
	"bytes"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// headerSize is the size of a block header in bytes.
const headerSize = 80

// Header returns a header, which has 80 bytes on Bitcoin. The error is of kind NotFound (unknown_block) above the tip.
func (v *View) Header(height uint32) ([]byte, error) {
	row, err := v.blockRow(height)
	return row.Header, err
}

// blockRow returns the row of a block; NotFound (unknown_block) above the tip.
func (v *View) blockRow(height uint32) (row schema.BlockRow, err error) {
	h, err := v.height(height)
	if err != nil {
		return row, err
	}
	return v.q.BlockRow(h)
}

// BlockPlace returns a place in the block at a height; NotFound (unknown_block) above the tip.
func (v *View) BlockPlace(height uint32) (Place, error) {
	row, err := v.blockRow(height)
	return Place{Confirmed: true, Height: height, BlockHash: row.Hash, BlockTime: row.Time}, err
}

// Headers returns up to n concatenated headers from a height on, fewer at the tip.
func (v *View) Headers(from uint32, n int) ([]byte, error) {
	if v.Tip.IsOrigin() || from > uint32(v.Tip.Height) || n <= 0 {
		return nil, nil
	}
	last := uint64(v.Tip.Height) + 1
	to := min(uint64(from)+uint64(n), last)
	headers := make([]byte, 0, headerSize*int(to-uint64(from)))
	err := v.q.EachBlock(model.HeightPk(from), model.HeightPk(to), func(_ model.HeightPk, row *schema.BlockRow) error {
		headers = append(headers, row.Header...)
		return nil
	})
	return headers, err
}

// Block is a block without its transactions.
type Block struct {
	model.Point
	Header     []byte // without what follows it
	Size       int
	Weight     int // set by [View.Weigh]; 0: unknown
	TxCount    int
	Time       int64
	MedianTime int64 // of this block and the ten before it
}

// medianOf is the number of blocks whose median time is the median time of the last (BIP 113).
const medianOf = 11

// Block returns the block at a height; NotFound (unknown_block) above the tip.
func (v *View) Block(height uint32) (*Block, error) {
	h, err := v.height(height)
	if err != nil {
		return nil, err
	}
	var b *Block
	var times []int64
	from := h - min(h, medianOf-1)
	err = v.q.EachBlock(from, h+1, func(at model.HeightPk, row *schema.BlockRow) error {
		times = append(times, row.Time)
		if at == h {
			b = &Block{
				Point: row.Point(h), Header: bytes.Clone(row.Header), Size: row.Size, TxCount: row.TxCount, Time: row.Time,
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(times)
	b.MedianTime = times[len(times)/2]
	return b, nil
}

// BlockByHash returns a block of the chain; NotFound (unknown_block).
func (v *View) BlockByHash(hash model.Hash) (*Block, error) {
	h, ok, err := v.q.HeightOf(hash)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, model.Errorf(model.NotFound, "unknown_block", "no block %s", displayed(hash))
	}
	return v.Block(uint32(h))
}

// TxIDs returns the ids of a block's transactions, in order.
func (v *View) TxIDs(height uint32) ([]model.Hash, error) {
	h, err := v.height(height)
	if err != nil {
		return nil, err
	}
	return v.q.BlockTxIDs(h, 0, model.MaxTxIndex+1)
}

// AppendRawTxs appends the serialized transactions of a block, in order.
func (v *View) AppendRawTxs(to []byte, height uint32) ([]byte, error) {
	h, err := v.height(height)
	if err != nil {
		return to, err
	}
	err = v.q.EachRaw(h, func(raw []byte) error {
		to = append(to, raw...)
		return nil
	})
	return to, err
}
