package immutable

import (
	"fmt"
	"hash/crc32"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

const (
	eraBoundary = 0 // Byron's epoch boundary blocks
	eraByron    = 1 // Byron's others; Shelley and all later eras follow

	// byronEpochSlots is ten times Byron's k, which is 2,160 on every public network with blocks of that era.
	byronEpochSlots = 21_600
)

// describe returns the entry of the block at the start of b, without its place, from the block itself. With an error,
// which is [cbor.ErrShort] if b ends inside the block, the entry is filled in as far as possible.
func describe(b []byte) (Entry, error) {
	e, err := describeHeader(b)
	if err != nil {
		return e, err
	}
	var s cbor.Skipper
	if e.Size, err = s.Skip(b); err != nil {
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
	w := cbor.Walker{Data: b, Offset: eraSize}
	w.Element(0, "header")
	e := Entry{Boundary: era == eraBoundary, HeaderOffset: w.Offset}
	header := w.Item("header")
	if w.Err != nil {
		return e, w.Err
	}
	e.HeaderSize = len(header)
	e.Hash = headerHash(era, header)
	// The header is complete: if it ends early it is damaged, and more data does not help.
	if e.Slot, err = slotOf(era, header); err != nil {
		return e, fmt.Errorf("the header states no slot: %v", err)
	}
	return e, nil
}

// eraSize is the number of bytes before a block: the head of the array around it, and its era.
const eraSize = 2

// eraOf reads the start of a block: an array of two items, the first of which is the era.
func eraOf(b []byte) (byte, error) {
	if len(b) > 0 && b[0] != cbor.Array<<5|2 || len(b) > 1 && b[1] > 23 {
		return 0, fmt.Errorf("bytes %x do not start a block: expected 82 and the number of an era", b[:min(2, len(b))])
	}
	if len(b) < 2 {
		return 0, cbor.ErrShort
	}
	return b[1], nil
}

// headerHash returns the hash of a block. In Byron it is the hash of an array of era and header.
func headerHash(era byte, header []byte) model.Hash {
	if era > eraByron {
		return blake2b.Sum256(header)
	}
	return blake2b.Sum256(append([]byte{cbor.Array<<5 | 2, era}, header...))
}

// slotOf returns the slot in a header, or the epoch of a boundary block.
//
//	boundary: [magic, parent, proof, [epoch, …], …]
//	Byron:    [magic, parent, proof, [[epoch, slot in the epoch], …], …]
//	later:    [[block number, slot, …], signature]
func slotOf(era byte, header []byte) (uint64, error) {
	w := cbor.Walker{Data: header}
	if era > eraByron {
		w.Element(0, "header body")
		w.Element(1, "header body")
		slot := w.Uint("slot")
		return slot, w.Err
	}
	w.Element(3, "header")
	w.Element(0, "consensus data")
	if era == eraBoundary {
		epoch := w.Uint("epoch")
		return epoch, w.Err
	}
	w.Element(0, "slot")
	epoch := w.Uint("epoch")
	slot := w.Uint("slot in its epoch")
	return epoch*byronEpochSlots + slot, w.Err
}
