package immutable

import (
	"encoding/binary"
	"fmt"

	"birthmark/model"
)

// Entry is the place and the identity of a block.
type Entry struct {
	Slot     uint64 // the epoch if Boundary is set
	Boundary bool   // an epoch boundary block of Byron, the first block of its chunk
	Hash     model.Hash

	Chunk  int   // the chunk's number
	Index  int   // number of blocks of the chunk before it
	Offset int64 // of the block in the uncompressed chunk
	Size   int   // bytes, of the array of era tag and block
	CRC    uint32

	HeaderOffset int // of the header in the block's bytes
	HeaderSize   int
}

// Position is a place between blocks: before the block with an index in a chunk. The zero Position is before the first.
type Position struct{ Chunk, Index int }

// Position returns the position before the block.
func (e Entry) Position() Position { return Position{e.Chunk, e.Index} }

// Next returns the position after the block. More blocks may follow later, in the same chunk or in another.
func (e Entry) Next() Position { return Position{e.Chunk, e.Index + 1} }

const (
	// entrySize is the size of an entry of a secondary index: blockOffset u64, headerOffset u16, headerSize u16, crc32
	// u32, headerHash 32 bytes, slot or epoch u64, big-endian.
	entrySize = 56
	// maxEntries bounds the entries of an index. Mainnet's chunks have 21,600 slots and one boundary block.
	maxEntries = 1 << 20
	// maxBlockSize bounds the bytes of a block. No block of mainnet has more than 2 MB.
	maxBlockSize = 16 << 20
)

// parseSecondary reads the index of a chunk. It returns the entries before a fault with the error. boundary: the first
// entry is a boundary block, which has an epoch instead of a slot. growing: the last block may end before or after the
// end of the chunk.
func parseSecondary(raw []byte, chunk int, chunkSize int64, boundary, growing bool) ([]Entry, error) {
	count := len(raw) / entrySize
	entries := make([]Entry, 0, count)
	for i := range count {
		e := parseEntry(raw[i*entrySize:])
		e.Chunk, e.Index, e.Boundary = chunk, i, boundary && i == 0
		end := uint64(chunkSize)
		if i+1 < count {
			end = binary.BigEndian.Uint64(raw[(i+1)*entrySize:])
		}
		start := uint64(e.Offset)
		whole := !growing || i+1 < count
		switch {
		case i == 0 && start != 0:
			return entries, faultOf(e, "the index begins at offset %d, a chunk does at 0", start)
		case start >= uint64(chunkSize) || end > uint64(chunkSize):
			return entries, faultOf(e, "the index has a block from %d to %d, the chunk ends at %d", start, end, chunkSize)
		case end <= start:
			return entries, faultOf(e, "the index has offset %d after %d: they must increase", end, start)
		case whole && end-start > maxBlockSize:
			return entries, faultOf(e, "the index has a block of %d bytes, none has more than %d", end-start, maxBlockSize)
		case whole && e.HeaderOffset+e.HeaderSize > int(end-start):
			return entries, faultOf(e, "the index has a header of %d bytes at %d in a block of %d", e.HeaderSize, e.HeaderOffset, end-start)
		}
		if fault := follows(entries, e); fault != nil {
			return entries, fault
		}
		e.Size = int(end - start)
		entries = append(entries, e)
	}
	return entries, nil
}

func parseEntry(raw []byte) Entry {
	big := binary.BigEndian
	return Entry{
		Offset:       int64(big.Uint64(raw)),
		HeaderOffset: int(big.Uint16(raw[8:])),
		HeaderSize:   int(big.Uint16(raw[10:])),
		CRC:          big.Uint32(raw[12:]),
		Hash:         model.Hash(raw[16:48]),
		Slot:         big.Uint64(raw[48:]),
	}
}

// follows checks that the slot of a block is after that of the previous block.
func follows(before []Entry, e Entry) error {
	if len(before) == 0 {
		return nil
	}
	last := before[len(before)-1]
	if !e.Boundary && !last.Boundary && e.Slot <= last.Slot {
		return faultOf(e, "slot %d after slot %d: slots must increase", e.Slot, last.Slot)
	}
	return nil
}

// fault is an error about the block of an entry.
type fault struct {
	at  Entry
	err error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func faultOf(e Entry, format string, args ...any) error {
	return &fault{e, fmt.Errorf(format, args...)}
}

// place formats the place and the identity of the block as far as they are known.
func (e Entry) place() string {
	if e.Hash == (model.Hash{}) {
		return fmt.Sprintf("offset %d", e.Offset)
	}
	unit := "slot"
	if e.Boundary {
		unit = "boundary of epoch"
	}
	return fmt.Sprintf("offset %d (%s %d, %s)", e.Offset, unit, e.Slot, e.Hash)
}
