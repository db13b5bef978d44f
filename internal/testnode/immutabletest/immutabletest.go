// Package immutabletest writes immutable databases for tests: blocks with the structure of real ones, in chunks with
// their indexes.
package immutabletest

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/immutabledb"
	"birthmark/chains/cardano/cbor"
)

const byronEpochSlots = 21_600

// Block is a block as in a chunk, with its index entry, which for a boundary block has the epoch instead of the slot.
type Block = immutabledb.Block

// Boundary returns an epoch boundary block of Byron with a body of the given size in bytes.
func Boundary(epoch uint64, body int) Block {
	consensus := append(cbor.AppendHead(nil, cbor.Array, 2), cbor.AppendHead(nil, cbor.Uint, epoch)...)
	consensus = append(consensus, 0x81, 0x00)
	return byron(0, epoch, consensus, body)
}

// Byron returns a regular block of Byron.
func Byron(slot uint64, body int) Block {
	consensus := append(cbor.AppendHead(nil, cbor.Array, 4), cbor.AppendHead(nil, cbor.Array, 2)...)
	consensus = cbor.AppendHead(consensus, cbor.Uint, slot/byronEpochSlots)
	consensus = cbor.AppendHead(consensus, cbor.Uint, slot%byronEpochSlots)
	consensus = append(consensus, 0x40, 0x81, 0x00, 0x40)
	return byron(1, slot, consensus, body)
}

func byron(era byte, slot uint64, consensus []byte, body int) Block {
	header := cbor.AppendHead(nil, cbor.Array, 5)
	header = cbor.AppendHead(header, cbor.Uint, 764824073)
	header = text(header, 32)
	header = text(header, 32)
	header = append(header, consensus...)
	header = append(header, 0xa0)
	return assemble(era, slot, header, body, append([]byte{0x82, era}, header...))
}

// Later returns a block of Shelley (era tag 2) or a later era.
func Later(era byte, number, slot uint64, body int) Block {
	header := cbor.AppendHead(nil, cbor.Array, 2)
	header = cbor.AppendHead(header, cbor.Array, 3)
	header = cbor.AppendHead(header, cbor.Uint, number)
	header = cbor.AppendHead(header, cbor.Uint, slot)
	header = text(header, 32)
	header = text(header, 448)
	return assemble(era, slot, header, body, header)
}

func assemble(era byte, slot uint64, header []byte, body int, hashed []byte) Block {
	raw := []byte{0x82, era, 0x84}
	b := Block{Slot: slot, HeaderOffset: uint16(len(raw)), HeaderSize: uint16(len(header)), Hash: blake2b.Sum256(hashed)}
	raw = append(raw, header...)
	raw = append(raw, 0x9f) // the items after the header: indefinite length, nested, tagged
	raw = append(text(append(raw, 0xd8, 0x18), body), 0xff)
	raw = append(raw, 0xbf, 0x01, 0x5f, 0x41, 0x07, 0xff, 0xff, 0xf6)
	b.Raw = raw
	return b
}

// text returns a byte string of size bytes that look like the start of other items.
func text(b []byte, size int) []byte {
	b = cbor.AppendHead(b, cbor.Bytes, uint64(size))
	for i := range size {
		b = append(b, byte(0x80+i*7))
	}
	return b
}

// Chunk returns the content of a chunk and of its secondary index.
func Chunk(blocks ...Block) (chunk, secondary []byte) {
	for i := range blocks {
		secondary = immutabledb.AppendEntry(secondary, int64(len(chunk)), &blocks[i])
		chunk = append(chunk, blocks[i].Raw...)
	}
	return chunk, secondary
}

// Write writes the named files into a folder.
func Write(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
