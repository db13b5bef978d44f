package immutable

import (
	"bytes"
	"errors"
	"hash/crc32"
	"testing"

	"birthmark/chains/cardano/cbor"
	"birthmark/internal/testnode/immutabletest"
)

// FuzzSecondary: any index of any chunk is an error, or adjacent entries that fill the chunk.
func FuzzSecondary(f *testing.F) {
	_, index := immutabletest.Chunk(immutabletest.Boundary(0, 10), immutabletest.Byron(0, 20), immutabletest.Byron(5, 30))
	chunk, later := immutabletest.Chunk(threeChunks()[0]...)
	f.Add(index, uint32(1000), true, false)
	f.Add(later, uint32(len(chunk)), false, true)
	f.Add(later[:2*entrySize+3], uint32(len(chunk)), false, false)
	f.Fuzz(func(t *testing.T, raw []byte, size uint32, boundary, growing bool) {
		entries, err := parseSecondary(raw, 3, int64(size), boundary, growing)
		if err == nil && len(entries) != len(raw)/entrySize {
			t.Fatalf("%d entries of %d", len(entries), len(raw)/entrySize)
		}
		end := int64(0)
		for i, e := range entries {
			if e.Offset != end || e.Size <= 0 || e.Index != i || e.Chunk != 3 || e.Boundary != (boundary && i == 0) {
				t.Fatalf("entry %d is %+v, the previous entry ends at %d", i, e, end)
			}
			end += int64(e.Size)
		}
		if end > int64(size) || err == nil && len(entries) > 0 && end != int64(size) {
			t.Fatalf("blocks of %d bytes in a chunk of %d", end, size)
		}
	})
}

// FuzzWalk: any bytes are an error, or adjacent blocks that fill them. Each block is also found if it is the only one.
func FuzzWalk(f *testing.F) {
	content, _ := immutabletest.Chunk(immutabletest.Boundary(0, 10), immutabletest.Byron(0, 20), immutabletest.Later(7, 1, 30000, 5))
	f.Add(content)
	f.Add(content[:len(content)-3])
	f.Add([]byte{0x82, 0, 0x80, 0x84, 0, 0, 0, 0x81, 0}) // a block without a header
	f.Add([]byte{0x82, 6, 0x9f, 0x82, 0x82, 0, 1, 0, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &chunk{bytes.NewReader(raw), 0, int64(len(raw)), func() error { return nil }}
		entries, err := walk(c)
		end := int64(0)
		for _, e := range entries {
			if e.Offset != end || e.HeaderOffset+e.HeaderSize > e.Size {
				t.Fatalf("%+v, the previous block ends at %d", e, end)
			}
			block := raw[end:][:e.Size]
			alone, err := describe(block)
			alone.Chunk, alone.Index, alone.Offset = e.Chunk, e.Index, e.Offset
			if err != nil || alone != e || e.CRC != crc32.ChecksumIEEE(block) {
				t.Fatalf("%+v alone is %+v, %v", e, alone, err)
			}
			if _, err := describe(block[:len(block)-1]); err == nil {
				t.Fatal("a block without its last byte is accepted")
			}
			end += int64(e.Size)
		}
		if err == nil && end != int64(len(raw)) {
			t.Fatalf("blocks of %d bytes in %d", end, len(raw))
		}
		if errors.Is(err, cbor.ErrShort) {
			t.Fatal(err)
		}
	})
}
