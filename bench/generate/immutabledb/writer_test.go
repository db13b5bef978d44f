package immutabledb_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/immutabledb"
	"birthmark/chains/cardano/immutable"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/immutabletest"
)

// previewSlots is the number of slots in a chunk of preview: ten times k.
const previewSlots = 4320

// Files that are rewritten from the blocks of a node's files are identical.
func TestFilesMatchNode(t *testing.T) {
	dir := testblocks.Path(t, "cardano", "dingo-immutable")
	db, err := immutable.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	f, err := immutabledb.Create(again, previewSlots)
	if err != nil {
		t.Fatal(err)
	}
	const chunks = 20
	for e, err := range db.Entries(context.Background(), immutable.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Chunk == chunks {
			break
		}
		raw, err := db.Read(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := immutabledb.Block{Raw: raw, Slot: e.Slot, Hash: e.Hash, HeaderOffset: uint16(e.HeaderOffset), HeaderSize: uint16(e.HeaderSize)}
		if err := f.Append(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range chunks {
		for _, suffix := range []string{"chunk", "secondary", "primary"} {
			name := fmt.Sprintf("%05d.%s", n, suffix)
			expected, got := read(t, dir, name), read(t, again, name)
			if n == chunks-1 && suffix == "primary" { // a node completes this index with the next chunk
				expected = expected[:len(got)]
			}
			if !bytes.Equal(got, expected) {
				t.Errorf("%s: %d bytes differ from the node's %d bytes", name, len(got), len(expected))
			}
		}
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFolderRoundTrip(t *testing.T) {
	dir := t.TempDir()
	f, err := immutabledb.Create(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []immutabletest.Block
	for i, slot := range []uint64{0, 1, 99, 100, 450, 451} { // chunks 2 and 3 have no blocks
		b := immutabletest.Later(7, uint64(i), slot, 50)
		blocks = append(blocks, b)
		if err := f.Append(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Append(&blocks[5]); err == nil || !strings.Contains(err.Error(), "slot 451 after slot 451") {
		t.Errorf("a second block in a slot: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	db, err := immutable.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var chunks []int
	for e, err := range db.Entries(context.Background(), immutable.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := db.Read(e, nil)
		if want := blocks[len(chunks)]; err != nil || !bytes.Equal(raw, want.Raw) || e.Slot != want.Slot || e.Hash != want.Hash {
			t.Errorf("block %d: %+v %v", len(chunks), e, err)
		}
		chunks = append(chunks, e.Chunk)
	}
	if !slices.Equal(chunks, []int{0, 0, 0, 1, 4, 4}) {
		t.Errorf("the blocks are in chunks %v", chunks)
	}
	if _, err := immutabledb.Create(dir, 100); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder with blocks: %v", err)
	}
}
