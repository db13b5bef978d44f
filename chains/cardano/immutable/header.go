package immutable

import (
	"fmt"
	"hash/crc32"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

const (
	eraBoundary = 0 // Byron's epoch boundary blocks
	eraByron    = 1 // Byron's others; Shelley and all later eras follow

	// byronEpochSlots is ten times Byron's k, which is 2,160 on every public network with blocks of that era.
	byronEpochSlots = 21_600
)

// describe is the entry of the block at the start of b, without where it stands: what an index says, had from the
// block itself. With an error, [errShort] where b ends inside the block, it says as much as could be had.
func describe(b []byte) (Entry, error) {
	e, err := describeHeader(b)
	if err != nil {
		return e, err
	}
	if e.Size, err = skip(b); err != nil {
		return e, err
	}
	e.CRC = crc32.ChecksumIEEE(b[:e.Size])
	return e, nil
}

func describeHeader(b []byte) (Entry, error) {
	era, err := eraOf(b)
	if err != nil {
		return Entry{}, err
	}
	header, err := element(b[2:], 0)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Boundary: era == eraBoundary, HeaderOffset: len(b) - len(header)}
	if e.HeaderSize, err = skip(header); err != nil {
		return e, err
	}
	header = header[:e.HeaderSize]
	e.Hash = headerHash(era, header)
	// The header is all there: one that ends early is damaged, and reading on does not help.
	if e.Slot, err = slotOf(era, header); err != nil {
		return e, fmt.Errorf("the header states no slot: %v", err)
	}
	return e, nil
}

// eraOf reads how every block on disk begins: an array of two, of which the first is a small number.
func eraOf(b []byte) (byte, error) {
	if len(b) > 0 && b[0] != majorArray<<5|2 || len(b) > 1 && b[1] > 23 {
		return 0, fmt.Errorf("bytes %x begin no block: expected 82 and the number of an era", b[:min(2, len(b))])
	}
	if len(b) < 2 {
		return 0, errShort
	}
	return b[1], nil
}

// headerHash is a block's hash. Byron hashes its header as it travels: in an array, behind the kind of block it is of.
func headerHash(era byte, header []byte) model.Hash {
	if era > eraByron {
		return blake2b.Sum256(header)
	}
	return blake2b.Sum256(append([]byte{majorArray<<5 | 2, era}, header...))
}

// slotOf is the slot a header states, or the epoch of a boundary block.
//
//	boundary: [magic, parent, proof, [epoch, …], …]
//	Byron:    [magic, parent, proof, [[epoch, slot in the epoch], …], …]
//	later:    [[block number, slot, …], signature]
func slotOf(era byte, header []byte) (uint64, error) {
	switch era {
	case eraBoundary:
		return number(header, 3, 0)
	case eraByron:
		epoch, err := number(header, 3, 0, 0)
		if err != nil {
			return 0, err
		}
		slot, err := number(header, 3, 0, 1)
		return epoch*byronEpochSlots + slot, err
	}
	return number(header, 0, 1)
}

// number is the one at an element of an element of … an array.
func number(b []byte, path ...int) (_ uint64, err error) {
	for _, index := range path {
		if b, err = element(b, index); err != nil {
			return 0, err
		}
	}
	return unsigned(b)
}
