package core_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
)

// overflowing is a store in memory with side files and a folder for overflow runs.
type overflowing struct {
	*sideFiles
	folder string
	limit  int // maximum of open files; 0: no limit
}

func (s *overflowing) CacheFolder() (string, int) { return s.folder, cmp.Or(s.limit, math.MaxInt) }

// copied returns a copy of the side files and of the folder, as a killed process leaves them.
func (s *overflowing) copied(t *testing.T) (files map[string][]byte, folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(s.folder)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return maps.Clone(s.files), folder
}

func (s *overflowing) runs(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// overflowMemory is a size of the caches that even the first blocks of a test exceed.
func overflowMemory(rng *rand.Rand) int64 { return int64(1 + rng.IntN(120<<10)) }

// Overflow runs do not change the database: it equals one whose tables were in memory, also after interruptions, kills,
// rollbacks, changes of the memory, and lost or damaged files.
func TestOverflowRunsDoNotChangeTheDatabase(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 320)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(120)
		want := fresh(t, v, blocks)
		spilled := 0
		for range amount(6, 3) {
			s := &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(t.TempDir(), "overflow")}
			memory := overflowMemory(rng)
			have := 0
			for have < len(blocks) {
				if rng.IntN(4) == 0 {
					memory = overflowMemory(rng)
				}
				db := open(t, s, v, memory)
				to := have + 1 + rng.IntN(len(blocks)-have)
				o := core.SyncOptions{BatchWeight: 1 + rng.IntN(400)}
				part := blocks[have:to] // up to the tip: later blocks are appended there
				if rng.IntN(3) > 0 {
					height := blocks[to-1].Height
					o.To, part = &height, blocks[have:]
				}
				files, folder := s.copied(t)
				sync(t, db, events(point(blocks, have-1), part), o)
				have = to
				spilled += len(s.runs(t))
				switch rng.IntN(8) {
				case 0: // killed after the last commit: the caches are those of the last start
					s.files, s.folder = files, folder
				case 1:
					for _, name := range s.runs(t)[:len(s.runs(t))/2] {
						if err := os.Remove(name); err != nil {
							t.Fatal(err)
						}
					}
				case 2:
					for _, name := range s.runs(t) {
						damage(t, rng, name)
					}
				case 3: // the caches are restored from all rows
					clear(s.files)
				case 4, 5:
					have -= rng.IntN(min(have, 30))
					if err := db.Rollback(t.Context(), point(blocks, have-1)); err != nil {
						t.Fatal(err)
					}
				}
				consistent(t, db)
			}
			db := open(t, s, v, memory)
			sync(t, db, events(blocks[len(blocks)-1].Point()), core.SyncOptions{})
			same(t, "with overflow runs", dump(t, db), want)
			for _, left := range s.runs(t) {
				if !strings.HasPrefix(filepath.Base(left), "outputs-") {
					t.Errorf("run %s still exists at the tip", left)
				}
			}
		}
		if spilled == 0 {
			t.Error("no run was written")
		}
	})
}

func damage(t *testing.T, rng *rand.Rand, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		err = os.WriteFile(name, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// With overflow runs, a first sync looks up no inputs and no values of outputs in the database.
func TestAFirstSyncBeyondMemoryReadsNoRows(t *testing.T) {
	v := modeltest.Variants()[0]
	n := testseed.Of(t, 321)
	blocks := v.NewGenerator(n).Blocks(200)
	s := &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(t.TempDir(), "overflow")}
	db := open(t, s, v, 32<<10)
	s.lookups = 0
	var spills int64
	var reads float64
	sync(t, db, events(blocks), core.SyncOptions{BatchWeight: 200, Progress: func(p core.Progress) {
		spills, reads = max(spills, p.Overflow.Written), max(reads, p.OverflowReads)
	}})
	if s.lookups > s.minted {
		t.Errorf("%d rows were looked up, %d of them for minted assets", s.lookups, s.minted)
	}
	if spills == 0 || reads == 0 {
		t.Errorf("the progress shows an overflow of %d bytes and %g reads per transaction, expected more than 0", spills, reads)
	}
	consistent(t, db)
	same(t, "beyond memory", dump(t, db), fresh(t, v, blocks))
}

// At the tip, inputs are found in the runs of the first sync, and no row is read for them. This holds after a restart,
// and after a kill, when the outputs that the last blocks spent are removed from the runs.
func TestInputsBeyondMemoryAreFoundAtTheTip(t *testing.T) {
	outputs := func(b *model.Block) *model.Block {
		for i := range uint64(100) {
			b.Txs[0].Outputs = append(b.Txs[0].Outputs, model.Output{Value: i})
		}
		return b
	}
	blocks := []*model.Block{outputs(after(nil, 1))}
	for n := byte(2); n < 150; n++ {
		blocks = append(blocks, outputs(after(blocks[len(blocks)-1], n)))
	}
	s := &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(t.TempDir(), "overflow")}
	sync(t, open(t, s, bitcoin, 16<<10), events(blocks), core.SyncOptions{BatchWeight: 200})
	if len(s.runs(t)) == 0 {
		t.Fatal("no run was left at the tip")
	}
	add := func(txs ...model.Tx) error {
		tip := blocks[len(blocks)-1]
		blocks = append(blocks, after(tip, byte(len(blocks)+1), txs...))
		db := open(t, s, bitcoin, 16<<10)
		before := s.lookups
		err := core.Sync(t.Context(), db, events(tip.Point(), blocks[len(blocks)-1:]), core.SyncOptions{})
		if looked := s.lookups - before; err == nil && looked > 0 {
			t.Errorf("block %d: %d rows were looked up", len(blocks), looked)
		}
		return err
	}
	for n := byte(1); n < 40; n += 4 {
		a, b := model.Input{Tx: hash(n), Index: 7}, model.Input{Tx: hash(n + 1), Index: 7}
		if err := add(spending(200+n, a)); err != nil {
			t.Fatal(err)
		}
		files, folder := s.copied(t)
		if err := add(spending(201+n, b)); err != nil {
			t.Fatal(err)
		}
		s.files, s.folder = files, folder // killed: the caches are those of the block before
		for i, again := range []model.Input{a, b} {
			if err := add(spending(202+n, again)); err == nil || !strings.Contains(err.Error(), "already spent") {
				t.Fatalf("output %d was spent again: %v", i, err)
			}
			blocks = blocks[:len(blocks)-1]
		}
	}
	db := open(t, s, bitcoin, 16<<10)
	consistent(t, db)
	same(t, "at the tip", dump(t, db), fresh(t, bitcoin, blocks))
}

// If a folder for runs cannot be written, the sync continues without it.
func TestASyncContinuesWithoutAFolderForRuns(t *testing.T) {
	v := modeltest.Variants()[3]
	blocks := v.NewGenerator(testseed.Of(t, 322)).Blocks(100)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(file, "overflow")}
	db := open(t, s, v, 32<<10)
	if err := core.Sync(context.Background(), db, events(blocks), core.SyncOptions{BatchWeight: 200, Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(log.Bytes(), []byte("caches beyond memory")) || !bytes.Contains(log.Bytes(), []byte(file)) {
		t.Errorf("the log lacks the folder: %s", log.String())
	}
	consistent(t, db)
	same(t, "without a folder", dump(t, db), fresh(t, v, blocks))
}

// If the limit of open files is too low for the runs, the sync continues without them.
func TestASyncContinuesIfTooManyFilesAreOpen(t *testing.T) {
	v := modeltest.Variants()[3]
	blocks := v.NewGenerator(testseed.Of(t, 323)).Blocks(100)
	var log bytes.Buffer
	s := &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(t.TempDir(), "overflow"), limit: 3}
	db := open(t, s, v, 32<<10)
	if err := core.Sync(t.Context(), db, events(blocks), core.SyncOptions{BatchWeight: 200, Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(log.Bytes(), []byte("3 files are open")) || !bytes.Contains(log.Bytes(), []byte("LimitNOFILE")) {
		t.Errorf("the log lacks the limit: %s", log.String())
	}
	consistent(t, db)
	same(t, "with few open files", dump(t, db), fresh(t, v, blocks))
}

// A first sync whose snapshot cannot be used logs why, reads all rows, and looks up no rows afterwards.
func TestAFirstSyncWithoutASnapshotReadsAllRows(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 324)).Blocks(300)
	height := blocks[149].Height
	s := &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(t.TempDir(), "overflow")}
	sync(t, open(t, s, v, 32<<10), events(blocks), core.SyncOptions{BatchWeight: 200, To: &height})
	names := s.runs(t)
	if len(names) == 0 {
		t.Fatal("no run was written")
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	db := open(t, s, v, 32<<10)
	s.lookups, s.minted = 0, 0
	o := core.SyncOptions{BatchWeight: 200, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if err := core.Sync(t.Context(), db, events(blocks[149].Point(), blocks[150:]), o); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"cannot use the snapshot", names[0], "restored the caches"} {
		if !bytes.Contains(log.Bytes(), []byte(text)) {
			t.Errorf("the log lacks %q: %s", text, log.String())
		}
	}
	if s.lookups > s.minted {
		t.Errorf("%d rows were looked up, %d of them for minted assets", s.lookups, s.minted)
	}
	consistent(t, db)
	same(t, "after rows were read", dump(t, db), fresh(t, v, blocks))
}

// partsStore counts the parts in which rows are read to restore the caches.
type partsStore struct {
	*overflowing
	parts int
}

func (s *partsStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.overflowing.View(ctx, func(r storage.Reader) error { return fn(&partsReader{r, s}) })
}

type partsReader struct {
	storage.Reader
	s *partsStore
}

func (r *partsReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	if f == schema.FamilySpentUtxo {
		r.s.parts++
	}
	return r.Reader.Scan(f, from, to, reverse)
}

// A fork of many blocks, below entries of runs, during a first sync whose caches were restored in several parts.
func TestADeepForkAfterCachesAreRestoredInParts(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		v.ByHand = true // block hashes do not depend on the content
		const early, fork, late, all = 20, 40, 150, 200
		blocks := v.NewGenerator(testseed.Of(t, 325)).Blocks(all)
		branch := branchOf(blocks, fork)
		want := fresh(t, v, slices.Concat(blocks[:fork], branch))
		for _, reopened := range []bool{false, true} {
			const memory = 16 << 10
			s := &partsStore{overflowing: &overflowing{sideFiles: newSideFiles(), folder: filepath.Join(t.TempDir(), "overflow")}}
			to := func(db *core.DB, n int) {
				t.Helper()
				height, have := blocks[n-1].Height, 0
				for have < len(blocks) && blocks[have].Height <= db.Tip().Height && !db.Tip().IsOrigin() {
					have++
				}
				sync(t, db, events(point(blocks, have-1), blocks[have:]), core.SyncOptions{BatchWeight: 100, To: &height})
			}
			db := open(t, s, v, memory)
			to(db, early)
			files, folder := s.copied(t)
			to(db, late)
			s.files, s.folder = files, folder // killed: the caches are those of the early block

			db = open(t, s, v, memory)
			s.parts = 0
			to(db, late+10)
			if s.parts < 4 {
				t.Errorf("the caches were restored in %d parts", s.parts)
			}
			if len(s.runs(t)) == 0 {
				t.Error("no run was written")
			}
			if reopened {
				db = open(t, s, v, memory)
			}
			sync(t, db, events(blocks[late+9].Point(), blocks[late+10:], blocks[fork-1].Point(), branch), core.SyncOptions{BatchWeight: 100})
			same(t, "after a deep fork", dump(t, db), want)
			consistent(t, db)
		}
	})
}
