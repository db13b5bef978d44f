package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

var placeFamily = declare(FamilyPlace, "raw_place_by_height_pk", storage.Ordered, 0,
	"height_pk", "checksum|uvarint offset|path",
	"the position of a block's transactions in a file of its node: the first begins at the offset, in bytes. The checksum "+
		"is the CRC-32C of the key, the rest of the value and the sizes, 4 bytes. A block whose place is unknown has no row. The chain does not determine the rows: dumps and the counts in meta leave them out")

var sizesFamily = declare(FamilySizes, "raw_sizes_by_height_pk", storage.Ordered, 0,
	"height_pk", "[uvarint size]",
	"the sizes in bytes of the transactions of a block with a row in raw_place_by_height_pk, which follow one another")

// AppendPlaceRow appends the checksum, the offset and the file of the place of the block at h.
func AppendPlaceRow(b []byte, h model.HeightPk, p *model.Place) []byte {
	rest := append(binary.AppendUvarint(nil, p.Offset), p.File...)
	sum := crc32.Checksum(slices.Concat(h.AppendTo(nil), rest, AppendSizesRow(nil, p)), castagnoli)
	return append(binary.BigEndian.AppendUint32(b, sum), rest...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ParsePlaceRow returns the place without sizes.
func ParsePlaceRow(b []byte) (model.Place, error) {
	r := reader{b: b}
	r.take(crc32.Size, "checksum")
	p := model.Place{Offset: r.uvarint("offset")}
	if p.File = string(r.b); p.File == "" {
		r.fail("no path")
	}
	return p, r.err
}

// AppendSizesRow appends the sizes of a place.
func AppendSizesRow(b []byte, p *model.Place) []byte {
	for _, size := range p.Sizes {
		b = binary.AppendUvarint(b, uint64(size))
	}
	return b
}

// ParseSizesRow returns the sizes of a block's transactions.
func ParseSizesRow(b []byte) (sizes []int, err error) {
	r := reader{b: b}
	for len(r.b) > 0 {
		sizes = append(sizes, r.size("size"))
	}
	return sizes, r.err
}

// SizeAt returns the size of the transaction at a position of a block, and the sum of the sizes of those before it.
func SizeAt(row []byte, index int) (before uint64, size int, err error) {
	for at := 0; ; at++ {
		n, width := binary.Uvarint(row)
		if width <= 0 {
			return 0, 0, fmt.Errorf("no size of transaction %d", index)
		}
		if at == index {
			return before, int(n), nil
		}
		before, row = before+n, row[width:]
	}
}

// CheckPlace returns an error if a place cannot be that of a block.
func CheckPlace(p *model.Place, block *BlockRow) error {
	sum := 0
	for _, size := range p.Sizes {
		sum += size
	}
	switch {
	case len(p.Sizes) != block.TxCount:
		return fmt.Errorf("sizes of %d transactions, the block has %d", len(p.Sizes), block.TxCount)
	case sum > block.Size:
		return fmt.Errorf("transactions of %d bytes in a block of %d", sum, block.Size)
	case p.File == "":
		return errors.New("no path")
	}
	return nil
}
