// Package immutabledb writes immutable databases like a node's: [Folder] puts blocks into chunks, each with its
// secondary index (an entry per block) and its primary index (from slots to those entries). The package immutable,
// which reads them, describes the layout of the files.
//
// A folder is written from its first block on by one goroutine, and is complete after Close. Byron boundary blocks are
// not supported.
package immutabledb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"birthmark/model"
)

// Block is a block as in a chunk, with the data of its index entry.
type Block struct {
	Raw          []byte // the array of era tag and block
	Slot         uint64
	Hash         model.Hash
	HeaderOffset uint16 // offset of the header in Raw
	HeaderSize   uint16
}

// AppendEntry appends the secondary index entry of a block at an offset of its chunk.
func AppendEntry(index []byte, offset int64, b *Block) []byte {
	big := binary.BigEndian
	index = big.AppendUint64(index, uint64(offset))
	index = big.AppendUint16(index, b.HeaderOffset)
	index = big.AppendUint16(index, b.HeaderSize)
	index = big.AppendUint32(index, crc32.ChecksumIEEE(b.Raw))
	index = append(index, b.Hash[:]...)
	return big.AppendUint64(index, b.Slot)
}

// Folder is an immutable database that is being written.
type Folder struct {
	dir   string
	slots uint64 // in a chunk

	number             uint64 // of the open chunk
	file               *os.File
	chunk              *bufio.Writer
	offset             int64
	secondary, primary []byte
	last               uint64 // slot of the newest block
	blocks             int
}

// primaryVersion is the first byte of a primary index.
const primaryVersion = 1

// Create makes a folder for chunks of the given number of slots. An error of kind [model.Refused], code not_empty, if
// it is not empty.
func Create(dir string, slots uint64) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		return nil, model.Errorf(model.Refused, "not_empty", "folder %s is not empty", dir)
	}
	f := &Folder{dir: dir, slots: slots}
	return f, f.open()
}

// Append writes a block. Slots must increase; chunks without a block are empty files.
func (f *Folder) Append(b *Block) error {
	if f.blocks > 0 && b.Slot <= f.last {
		return fmt.Errorf("block %s: slot %d after slot %d: slots must increase", b.Hash, b.Slot, f.last)
	}
	for f.number < b.Slot/f.slots {
		f.reach(f.slots + 1)
		if err := f.finish(); err != nil {
			return err
		}
		f.number++
		if err := f.open(); err != nil {
			return err
		}
	}
	f.reach(b.Slot%f.slots + 1) // the entry before it is for a boundary block
	f.secondary = AppendEntry(f.secondary, f.offset, b)
	f.offset += int64(len(b.Raw))
	f.last = b.Slot
	f.blocks++
	_, err := f.chunk.Write(b.Raw)
	return err
}

// reach extends the primary index up to a slot of the chunk: each slot has the offset in the secondary index of its
// entry, or of the next one.
func (f *Folder) reach(slot uint64) {
	for uint64(len(f.primary)-1)/4 <= slot {
		f.primary = binary.BigEndian.AppendUint32(f.primary, uint32(len(f.secondary)))
	}
}

// Close finishes the last chunk.
func (f *Folder) Close() error {
	if f.blocks > 0 {
		f.reach(f.last%f.slots + 2)
	}
	return f.finish()
}

func (f *Folder) name(suffix string) string {
	return filepath.Join(f.dir, fmt.Sprintf("%05d.%s", f.number, suffix))
}

func (f *Folder) open() (err error) {
	if f.file, err = os.Create(f.name("chunk")); err != nil {
		return err
	}
	f.chunk = bufio.NewWriterSize(f.file, 1<<20)
	f.offset, f.secondary, f.primary = 0, f.secondary[:0], append(f.primary[:0], primaryVersion)
	return nil
}

func (f *Folder) finish() error {
	f.offset = 0
	return errors.Join(f.chunk.Flush(), f.file.Close(),
		os.WriteFile(f.name("secondary"), f.secondary, 0o644), os.WriteFile(f.name("primary"), f.primary, 0o644))
}
