package core_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// sideFiles is a store in memory that keeps side files, and counts the keys that updates look up by hash or value.
type sideFiles struct {
	storage.Store
	files   map[string][]byte
	lookups int
	minted  int // of them for births of assets
}

func newSideFiles() *sideFiles { return &sideFiles{Store: memory.New(), files: map[string][]byte{}} }

func (s *sideFiles) WriteSideFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		s.files[name] = b.Bytes()
	}
	return err
}

func (s *sideFiles) ReadSideFile(name string, read func(io.Reader) error) error {
	b, ok := s.files[name]
	if !ok {
		return storage.ErrNotFound
	}
	return read(bytes.NewReader(b))
}

func (s *sideFiles) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(&sideFilesReader{r, s}) })
}

type sideFilesReader struct {
	storage.Reader
	s *sideFiles
}

func (r *sideFilesReader) Suffixes(f storage.Family, heads [][]byte) ([][]byte, error) {
	r.s.lookups += len(heads)
	if f == schema.FamilyAssetBirth {
		r.s.minted += len(heads)
	}
	return r.Reader.Suffixes(f, heads)
}

// The caches are restored when a sync begins: from the snapshot, from the snapshot and the rows written since, or
// from the rows alone. The lookups are then the same as those of an uninterrupted sync. A snapshot that is damaged,
// truncated or of an orphaned branch changes nothing.
func TestCachesAreRestored(t *testing.T) {
	testrun.Slow(t)
	const room, falseLookups = 8 << 20, 5
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 310)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(40)
		want := fresh(t, v, blocks)
		untouched := newSideFiles()
		db := open(t, untouched, v, room)
		sync(t, db, events(blocks[:20]), core.SyncOptions{BatchWeight: 30})
		untouched.lookups = 0
		sync(t, db, events(blocks[20:]), core.SyncOptions{BatchWeight: 30})
		ways := map[string]func(s *sideFiles){
			"from the snapshot":    func(*sideFiles) {},
			"without the snapshot": func(s *sideFiles) { clear(s.files) },
			"from the snapshot and rows": func(s *sideFiles) {
				older := newSideFiles()
				sync(t, open(t, older, v, room), events(blocks[:12]), core.SyncOptions{})
				s.files = older.files
			},
			"from a truncated snapshot": func(s *sideFiles) {
				for name, b := range s.files {
					s.files[name] = b[:rng.IntN(len(b))]
				}
			},
			"from a snapshot with a wrong byte": func(s *sideFiles) {
				for _, b := range s.files {
					b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
				}
			},
			"from a snapshot of another chain": func(s *sideFiles) {
				other := newSideFiles()
				sync(t, open(t, other, v, room), events(v.NewGenerator(n+1).Blocks(20)), core.SyncOptions{})
				s.files = other.files
			},
		}
		for name, way := range ways {
			t.Run(name, func(t *testing.T) {
				s := newSideFiles()
				sync(t, open(t, s, v, room), events(blocks[:20]), core.SyncOptions{BatchWeight: 30})
				if len(s.files) != 1 {
					t.Fatalf("%d side files after a sync", len(s.files))
				}
				way(s)
				db := open(t, s, v, room)
				s.lookups = 0
				sync(t, db, events(blocks[20:]), core.SyncOptions{BatchWeight: 30})
				consistent(t, db)
				same(t, name, dump(t, db), want)
				// The filter finds 1 in 80 values that are not there.
				if s.lookups > untouched.lookups+falseLookups {
					t.Errorf("%d lookups, without a restart there are %d", s.lookups, untouched.lookups)
				}
			})
		}
		t.Run("without room", func(t *testing.T) {
			s := newSideFiles()
			sync(t, open(t, s, v, room), events(blocks[:20]), core.SyncOptions{})
			db := open(t, s, v, 0)
			sync(t, db, events(blocks[20:]), core.SyncOptions{BatchWeight: 30})
			consistent(t, db)
			same(t, "without room", dump(t, db), want)
		})
	})
}

// Reading a snapshot with any content ends, and a snapshot is used only if all of it is valid.
func TestADamagedSnapshotIsIgnored(t *testing.T) {
	v := modeltest.Variants()[3]
	n := testseed.Of(t, 312)
	rng := rand.New(rand.NewPCG(n, 0))
	blocks := v.NewGenerator(n).Blocks(20)
	want := fresh(t, v, blocks)
	s := newSideFiles()
	sync(t, open(t, s, v, 1<<20), events(blocks[:15]), core.SyncOptions{})
	whole := bytes.Clone(s.files["caches"])
	for range amount(100, 15) {
		b := bytes.Clone(whole)
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(b))
			if rng.IntN(2) == 0 {
				at = rng.IntN(120) // the fields that contain lengths
			}
			b[at] ^= byte(1 + rng.IntN(255))
		}
		s.files["caches"] = b[:len(b)-rng.IntN(2)*rng.IntN(len(b))]
		db := open(t, s, v, 1<<20)
		sync(t, db, events(blocks[15:]), core.SyncOptions{})
		same(t, "after a damaged snapshot", dump(t, db), want)
		rollback(t, db, blocks[14].Point())
	}
	consistent(t, open(t, s, v, 1<<20))
}

// If a snapshot cannot be written, the sync fails, but its blocks are in the database.
func TestAFailedSnapshotIsReported(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 311)).Blocks(5)
	s := &badSideFiles{newSideFiles()}
	db := open(t, s, v, 1<<20)
	if err := core.Sync(context.Background(), db, events(blocks), core.SyncOptions{}); !errors.Is(err, errDisk) {
		t.Errorf("the sync returns %v", err)
	}
	same(t, "without a snapshot", dump(t, db), fresh(t, v, blocks))
	consistent(t, db)
}

var errDisk = errors.New("the disk is full")

type badSideFiles struct{ *sideFiles }

func (badSideFiles) WriteSideFile(string, func(io.Writer) error) error { return errDisk }

// With small caches, warm-up reads no more rows than fit into a part of them.
func TestWarmUpReadsAreBounded(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 313)).Blocks(400)
	s := &counting{Store: memory.New()}
	db := open(t, s, v, 1<<20)
	appendAll(t, db, blocks, 50)
	rows := int64(totalRows(t, db))
	for _, c := range []struct {
		caches int64
		reads  bool
	}{{8 << 20, true}, {rows, false}} {
		db := open(t, s, v, c.caches)
		s.steps.Store(0)
		sync(t, db, events(blocks), core.SyncOptions{})
		if reads := s.steps.Load() > rows/4; reads != c.reads {
			t.Errorf("with %d bytes for caches, warming up read %d of %d rows", c.caches, s.steps.Load(), rows)
		}
		consistent(t, db)
	}
}
