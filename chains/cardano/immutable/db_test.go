package immutable

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"birthmark/internal/testnode/immutabletest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// mainnetLike returns chunks like those of mainnet: Byron chunks with boundary blocks, then later eras, some empty.
func mainnetLike(r *rand.Rand) [][]immutabletest.Block {
	chunks := make([][]immutabletest.Block, 2+r.IntN(8))
	byron := uint64(r.IntN(len(chunks)))
	number := uint64(0)
	for i := range chunks {
		c := uint64(i)
		if c <= byron {
			chunks[i] = append(chunks[i], immutabletest.Boundary(c, r.IntN(3000)))
		} else if r.IntN(4) == 0 {
			continue
		}
		slot := c * byronEpochSlots
		for range r.IntN(20) {
			slot += uint64(r.IntN(500))
			body := r.IntN(2000)
			if r.IntN(50) == 0 {
				body = 5 << 18
			}
			if c <= byron {
				chunks[i] = append(chunks[i], immutabletest.Byron(slot, body))
			} else {
				chunks[i] = append(chunks[i], immutabletest.Later(byte(2+r.IntN(6)), number, slot, body))
			}
			number++
			slot++
		}
	}
	return chunks
}

func folderOf(t testing.TB, chunks [][]immutabletest.Block) string {
	t.Helper()
	dir := t.TempDir()
	for i, blocks := range chunks {
		chunk, index := immutabletest.Chunk(blocks...)
		immutabletest.Write(t, dir, map[string][]byte{fileName(i, chunkSuffix): chunk, fileName(i, indexSuffix): index, fmt.Sprintf("%05d.primary", i): {1}})
	}
	return dir
}

func mustOpen(t testing.TB, path string) *DB {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readAll returns all entries and blocks from a position on, up to an error.
func readAll(t testing.TB, d *DB, from Position) (entries []Entry, blocks [][]byte, err error) {
	t.Helper()
	r := d.Reader()
	defer r.Close()
	for e, err := range d.Entries(t.Context(), from) {
		if err != nil {
			return entries, blocks, err
		}
		raw, err := r.Read(e, nil)
		if err != nil {
			return entries, blocks, err
		}
		entries, blocks = append(entries, e), append(blocks, raw)
	}
	return entries, blocks, nil
}

// agree compares entries and their bytes with the blocks that were written.
func agree(t testing.TB, want []immutabletest.Block, entries []Entry, blocks [][]byte) {
	t.Helper()
	if len(entries) != len(want) {
		t.Fatalf("%d blocks, %d were written", len(entries), len(want))
	}
	for i, w := range want {
		e := entries[i]
		if e.Slot != w.Slot || e.Hash != w.Hash || e.Boundary != (w.Raw[1] == 0) ||
			e.HeaderOffset != int(w.HeaderOffset) || e.HeaderSize != int(w.HeaderSize) || !bytes.Equal(blocks[i], w.Raw) {
			t.Fatalf("block %d is %+v with %d bytes, written was slot %d, %s with %d", i, e, len(blocks[i]), w.Slot, w.Hash, len(w.Raw))
		}
	}
}

// TestChunksRoundTrip: chunks of any blocks are read completely, with and without indexes, from every position.
func TestChunksRoundTrip(t *testing.T) {
	r := testseed.Rand(t)
	for range testrun.Amount(30, 5) {
		chunks := mainnetLike(r)
		var all []immutabletest.Block
		for _, c := range chunks {
			all = append(all, c...)
		}
		dir := folderOf(t, chunks)
		for i := range chunks {
			if r.IntN(3) == 0 {
				if err := os.Remove(filepath.Join(dir, fileName(i, indexSuffix))); err != nil {
					t.Fatal(err)
				}
			}
		}
		d := mustOpen(t, dir)
		entries, blocks, err := readAll(t, d, Position{})
		if err != nil {
			t.Fatal(err)
		}
		agree(t, all, entries, blocks)

		tip, err := d.Tip(t.Context())
		if err != nil || tip != entries[len(entries)-1] {
			t.Fatalf("the tip is %+v, %v", tip, err)
		}
		for i, e := range entries {
			if r.IntN(5) == 0 {
				rest, raws, err := readAll(t, d, e.Next())
				if err != nil {
					t.Fatal(err)
				}
				agree(t, all[i+1:], rest, raws)
			}
			if again, err := d.Read(e, nil); err != nil || !bytes.Equal(again, blocks[i]) {
				t.Fatalf("block %d read separately: %v", i, err)
			}
		}
	}
}

// TestFindFindsEveryBlock: a block is found by its slot or by the first slot of its epoch, and by no other slot.
func TestFindFindsEveryBlock(t *testing.T) {
	r := testseed.Rand(t)
	for range testrun.Amount(20, 3) {
		d := mustOpen(t, folderOf(t, mainnetLike(r)))
		entries, _, err := readAll(t, d, Position{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			slots := []uint64{e.Slot}
			if e.Boundary {
				slots = append(slots, e.Slot*byronEpochSlots)
			}
			for _, slot := range slots {
				if got, err := d.Find(t.Context(), slot, e.Hash); err != nil || got != e {
					t.Fatalf("%+v is not found at slot %d: %+v, %v", e, slot, got, err)
				}
			}
			other := e.Hash
			other[r.IntN(32)] ^= 1
			for _, unknown := range []struct {
				slot uint64
				hash model.Hash
			}{{e.Slot, other}, {1 << 63, e.Hash}} {
				got, err := d.Find(t.Context(), unknown.slot, unknown.hash)
				if kind, _ := model.KindOf(err); err == nil || kind != model.NotFound {
					t.Fatalf("slot %d, %s: %+v, %v", unknown.slot, unknown.hash, got, err)
				}
			}
		}
	}
}

// TestManyGoroutines: every goroutine reads all blocks with a separate reader.
func TestManyGoroutines(t *testing.T) {
	chunks := mainnetLike(testseed.Rand(t))
	d := mustOpen(t, folderOf(t, chunks))
	all := slices.Concat(chunks...)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			r := d.Reader()
			defer r.Close()
			i := 0
			for e, err := range d.Entries(t.Context(), Position{}) {
				if err != nil {
					t.Error(err)
					return
				}
				if raw, err := r.Read(e, nil); err != nil || !bytes.Equal(raw, all[i].Raw) {
					t.Errorf("block %d: %v", i, err)
				}
				if _, err := d.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
				i++
			}
			if i != len(all) {
				t.Errorf("%d blocks of %d", i, len(all))
			}
		})
	}
	group.Wait()
}

// TestASingleChunk: a single chunk is read without its index, plain and compressed, also if its name is not a number.
func TestASingleChunk(t *testing.T) {
	blocks := []immutabletest.Block{immutabletest.Boundary(7, 100), immutabletest.Byron(7*byronEpochSlots+3, 2<<20), immutabletest.Byron(7*byronEpochSlots+4, 0)}
	chunk, _ := immutabletest.Chunk(blocks...)
	dir := t.TempDir()
	immutabletest.Write(t, dir, map[string][]byte{"00007.chunk": chunk, "some.zstd": compressed(t, chunk), "any": chunk})
	for name, number := range map[string]int{"00007.chunk": 7, "some.zstd": 0, "any": 0} {
		d := mustOpen(t, filepath.Join(dir, name))
		entries, raws, err := readAll(t, d, Position{})
		if err != nil {
			t.Fatal(err)
		}
		agree(t, blocks, entries, raws)
		if entries[0].Chunk != number {
			t.Errorf("%s is chunk %d", name, entries[0].Chunk)
		}
		if got, err := d.Find(t.Context(), entries[1].Slot, entries[1].Hash); err != nil || got != entries[1] {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if changed, err := d.Refresh(t.Context()); changed || err != nil {
			t.Errorf("%s changed: %v", name, err)
		}
	}
}

func compressed(t testing.TB, content []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(content, nil)
}

// isFault checks that an error is of kind BadSource with a code, has one line, and contains all of parts.
func isFault(t testing.TB, err error, code string, parts ...string) {
	t.Helper()
	kind, got := model.KindOf(err)
	if kind != model.BadSource || got != code {
		t.Fatalf("error %q of kind %d, %s; expected %s", err, kind, got, code)
	}
	for _, part := range append(parts, "") {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("error %q does not contain %q, or has several lines", err, part)
		}
	}
}
