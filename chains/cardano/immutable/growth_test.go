package immutable

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"birthmark/internal/testnode/immutabletest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// writeAsANode appends blocks as a node does: the bytes of a block in pieces, then its entry in pieces. After each
// piece it calls after with the number of complete blocks.
func writeAsANode(t *testing.T, r *rand.Rand, dir string, chunks [][]immutabletest.Block, after func(whole int)) {
	whole := 0
	for number, blocks := range chunks {
		files := map[string]*os.File{}
		for _, suffix := range []string{chunkSuffix, indexSuffix} {
			f, err := os.Create(filepath.Join(dir, fileName(number, suffix)))
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			files[suffix] = f
			after(whole)
		}
		_, index := immutabletest.Chunk(blocks...)
		for i, b := range blocks {
			for _, part := range []struct {
				suffix string
				raw    []byte
			}{{chunkSuffix, b.Raw}, {indexSuffix, index[i*entrySize : (i+1)*entrySize]}} {
				for raw := part.raw; len(raw) > 0; {
					n := len(raw)
					if r.IntN(2) == 0 {
						n = 1 + r.IntN(n)
					}
					if _, err := files[part.suffix].Write(raw[:n]); err != nil {
						t.Error(err)
						return
					}
					if raw = raw[n:]; len(raw) == 0 && part.suffix == indexSuffix {
						whole++
					}
					after(whole)
				}
			}
		}
	}
}

// follower resumes at its last position on each call.
type follower struct {
	db      *DB
	at      Position
	entries []Entry
	blocks  [][]byte
}

func (f *follower) look(t *testing.T) {
	t.Helper()
	entries, blocks, err := readAll(t, f.db, f.at)
	if err != nil {
		t.Fatal(err)
	}
	f.entries, f.blocks = append(f.entries, entries...), append(f.blocks, blocks...)
	if len(entries) > 0 {
		f.at = entries[len(entries)-1].Next()
	}
}

// TestGrowth: after each piece that a node writes, exactly the complete blocks are returned, and Refresh reports each.
func TestGrowth(t *testing.T) {
	r := testseed.Rand(t)
	for range testrun.Amount(5, 2) {
		chunks := mainnetLike(r)
		all := slices.Concat(chunks...)
		dir := t.TempDir()
		f := follower{}
		writeAsANode(t, r, dir, chunks, func(whole int) {
			if f.db == nil {
				f.db = mustOpen(t, dir)
			}
			changed, err := f.db.Refresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if changed {
				f.look(t)
			}
			agree(t, all[:whole], f.entries, f.blocks)
			if err := f.db.Cut(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		if changed, err := f.db.Refresh(t.Context()); changed || err != nil {
			t.Fatalf("changed again: %v, %v", changed, err)
		}
		agree(t, all, f.entries, f.blocks)
	}
}

// TestGrowthWhileReading: a node writes while the follower reads.
func TestGrowthWhileReading(t *testing.T) {
	r := testseed.Rand(t)
	for range testrun.Amount(5, 2) {
		chunks := mainnetLike(r)
		all := slices.Concat(chunks...)
		dir := t.TempDir()
		immutabletest.Write(t, dir, map[string][]byte{fileName(0, chunkSuffix): nil})
		f := follower{db: mustOpen(t, dir)}
		seed := r.Uint64()
		done := make(chan struct{})
		go func() {
			defer close(done)
			writeAsANode(t, rand.New(rand.NewPCG(seed, 0)), dir, chunks, func(int) { time.Sleep(20 * time.Microsecond) })
		}()
		for writing := true; writing; {
			select {
			case <-done:
				writing = false
			default:
			}
			if _, err := f.db.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.look(t)
		}
		agree(t, all, f.entries, f.blocks)
	}
}
