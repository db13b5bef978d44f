package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/internal/snapshot/target"
	"birthmark/internal/testseed"
)

// Prune keeps the newest snapshots, the latest one, every file that they need, and files of the last day.
func TestPruneRemovesOnlyWhatNobodyNeeds(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	w := newWorld(t, testseed.Rand(t), dir)
	w.key = newKey(t)
	var names []string
	var contents []map[string]string
	for range 4 {
		names, contents = append(names, w.mustCreate().Name), append(contents, w.content(w.work.Checkpoint()))
		if err := os.Remove(filepath.Join(w.work.Checkpoint(), fmt.Sprintf("%06d.sst", w.number-1))); err != nil {
			t.Fatal(err)
		}
		w.tables(2)
	}
	r := w.repository()
	p, err := r.Prune(ctx, 2, time.Now())
	if err != nil || !slices.Equal(p.Removed, []string{names[1], names[0]}) || !slices.Equal(p.Kept, []string{names[3], names[2]}) || p.Files != 0 {
		t.Fatalf("%+v: %v", p, err)
	}
	later := time.Now().Add(25 * time.Hour)
	// A signature whose create was killed, and a damaged manifest: the files that it needs are unknown.
	if err := r.write(ctx, "snapshots/"+names[0]+".json.minisig", []byte("x")); err != nil {
		t.Fatal(err)
	}
	damagedName := "000000100-20261122T070012.000Z-0123456789abcdef"
	if err := r.write(ctx, "snapshots/"+damagedName+".json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Prune(ctx, 3, later); codeOf(err) != "snapshot_damaged" || p.Files != 0 {
		t.Errorf("with a damaged manifest: %+v, %v", p, err)
	}
	if err := w.storage.Remove(ctx, r.prefix+"snapshots/"+damagedName+".json"); err != nil {
		t.Fatal(err)
	}
	p, err = r.Prune(ctx, 2, later)
	if err != nil || len(p.Removed) != 0 || p.Files != 5 || p.Bytes == 0 { // a table and a manifest of each, a signature
		t.Fatalf("%+v: %v", p, err)
	}
	for i := 2; i < 4; i++ {
		to := filepath.Join(t.TempDir(), "db")
		if _, err := w.restore(ctx, w.storage, names[i], to, w.key.Public()); err != nil || !maps.Equal(w.content(to), contents[i]) {
			t.Errorf("%s after prune: %v", names[i], err)
		}
	}
	if problems, err := r.VerifyAll(ctx, w.key.Public()); err != nil || len(problems) > 0 {
		t.Errorf("%v: %v", problems, err)
	}
	if p, err = r.Prune(ctx, 2, later); err != nil || p.Files+len(p.Removed) != 0 {
		t.Errorf("again: %+v: %v", p, err)
	}
}

// A prune that ends anywhere leaves complete snapshots.
func TestAPruneThatFailsAnywhereHarmsNoSnapshot(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	later := time.Now().Add(25 * time.Hour)
	for n := int64(0); ; n++ {
		for range 3 {
			w.mustCreate()
			w.tables(1)
		}
		f := &faulty{Target: w.storage}
		f.left.Store(n)
		_, err := NewRepository(f, "bitcoin", "mainnet").Prune(ctx, 1, later)
		if problems, err := w.repository().VerifyAll(ctx, nil); err != nil || len(problems) > 0 {
			t.Fatalf("after a failure at call %d: %v %v", n, problems, err)
		}
		all, _, listErr := w.repository().List(ctx)
		if listErr != nil {
			t.Fatal(listErr)
		}
		for _, s := range all {
			if problems, err := w.repository().Verify(ctx, s, 3, nil); err != nil || len(problems) > 0 {
				t.Fatalf("after a failure at call %d, %s: %v %v", n, s.Name, problems, err)
			}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errStorage) {
			t.Fatalf("a failure at call %d: %v", n, err)
		}
	}
}

// Files that a prune on another machine removes while a snapshot is created are stored again.
func TestCreateDetectsConcurrentPrune(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	w.mustCreate()
	w.tables(1)
	created, err := w.create(t.Context(), &removing{Target: w.storage})
	if err != nil || created.UploadedFiles < 7 {
		t.Fatalf("%+v: %v", created, err)
	}
	s, err := w.repository().Find(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := w.repository().Verify(t.Context(), s, 3, nil); err != nil || len(problems) > 0 {
		t.Errorf("%v: %v", problems, err)
	}
}

// removing removes all files when the manifest of a snapshot is stored.
type removing struct{ target.Target }

func (r *removing) Put(ctx context.Context, name string, c target.Content) error {
	if err := r.Target.Put(ctx, name, c); err != nil || !strings.Contains(name, "/snapshots/") {
		return err
	}
	for e, err := range r.List(ctx, "bitcoin-mainnet/files") {
		if err != nil {
			return err
		}
		if err := r.Remove(ctx, e.Name); err != nil {
			return err
		}
	}
	return nil
}

func TestOneProcessCreatesASnapshotOfADatabase(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	if _, err := BeginWork(w.db, "other"); codeOf(err) != "snapshot_running" || !strings.Contains(err.Error(), "by test") {
		t.Errorf("%v", err)
	}
	if err := RemoveLeftover(w.db); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(w.work.Checkpoint()); err != nil {
		t.Errorf("the checkpoint of a running create: %v", err)
	}
	if err := w.work.lock.Release(); err != nil { // it is killed
		t.Fatal(err)
	}
	if err := os.Mkdir(w.work.Checkpoint()+".tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := RemoveLeftover(w.db); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(w.db, workName)); err != nil || len(entries) != 1 {
		t.Errorf("%v is left: %v", entries, err)
	}
	var err error
	if w.work, err = BeginWork(w.db, "test"); err != nil { // for the end of the test
		t.Fatal(err)
	}
}
