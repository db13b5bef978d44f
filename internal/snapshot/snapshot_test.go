package snapshot

import (
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/snapshot/target"
	"birthmark/internal/testnode/s3test"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// A restored folder has the files of the checkpoint. Of a second snapshot only new files are stored, and both can be
// restored.
func TestRestoreUndoesCreate(t *testing.T) {
	endpoint := s3test.Start(t)
	for kind, url := range map[string]string{
		"folder": filepath.Join(t.TempDir(), "repository"), "bucket": "s3://" + s3test.Bucket + "/a?region=us-east-1&endpoint=" + endpoint,
	} {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			w := newWorld(t, testseed.Rand(t), url)
			first, before := w.mustCreate(), w.content(w.work.Checkpoint())
			if first.UploadedFiles != len(before) || len(first.Manifest.Files) != len(before) {
				t.Errorf("%d files stored of %d in %d", first.UploadedFiles, len(first.Manifest.Files), len(before))
			}
			again := w.mustCreate() // of the same second: the same snapshot
			if again.UploadedFiles != 0 || again.Name != first.Name {
				t.Errorf("%d files stored again, as %s and %s", again.UploadedFiles, first.Name, again.Name)
			}
			w.tables(2)
			second, after := w.mustCreate(), w.content(w.work.Checkpoint())
			if second.UploadedFiles != 3 { // and RocksDB's manifest
				t.Errorf("%d files stored, expected 3", second.UploadedFiles)
			}
			for which, want := range map[string]map[string]string{
				"": after, second.Name: after, first.Name: before, "101": before, "102": after, first.Name[:16]: before,
			} {
				dir := filepath.Join(t.TempDir(), "db")
				restored, err := w.restore(ctx, w.storage, which, dir, nil)
				if err != nil {
					t.Fatalf("%q: %v", which, err)
				}
				if got := w.content(dir); !maps.Equal(got, want) || restored.DownloadedFiles < len(want)-1 { // one is empty
					t.Errorf("%q: restored %v, expected %v (%+v)", which, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)), restored)
				}
			}
			all, newest, err := w.repository().List(ctx)
			if err != nil || len(all) != 2 || all[0].Name != second.Name || all[1].Name != first.Name || newest != second.Name {
				t.Errorf("%v, latest %s: %v", all, newest, err)
			}
			for _, which := range []string{"103", "000000102-2027"} {
				if _, err := w.restore(ctx, w.storage, which, filepath.Join(t.TempDir(), "db"), nil); codeOf(err) != "no_snapshot" {
					t.Errorf("%s: %v", which, err)
				}
			}
		})
	}
}

func TestRestoreOverHTTPS(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, testseed.Rand(t), dir)
	first, before := w.mustCreate(), w.content(w.work.Checkpoint())
	w.tables(1)
	w.mustCreate()
	server := httptest.NewTLSServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, path := range []string{"", "/bitcoin-mainnet/"} {
		web, err := target.Open(server.URL+path, target.Options{Transport: server.Client().Transport})
		if err != nil {
			t.Fatal(err)
		}
		r, err := FindRepository(t.Context(), web, "bitcoin", "mainnet")
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Find(t.Context(), first.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "db")
		if _, err := r.Restore(t.Context(), s, to, RestoreOptions{Lock: "lock", Check: func(string) error { return nil }}); err != nil {
			t.Fatal(err)
		}
		if got := w.content(to); !maps.Equal(got, before) {
			t.Errorf("restored %v", got)
		}
		if all, _, err := r.List(t.Context()); err != nil || len(all) != 2 {
			t.Errorf("%v: %v", all, err)
		}
		if problems, err := r.Verify(t.Context(), s, 0, nil); err != nil || len(problems) > 0 {
			t.Errorf("%v: %v", problems, err)
		}
		for what, do := range map[string]func() error{
			"create": func() error { _, err := w.create(t.Context(), web); return err },
			"prune":  func() error { _, err := r.Prune(t.Context(), 1, time.Now()); return err },
		} {
			if err := do(); codeOf(err) != "bad_url" || !strings.Contains(err.Error(), "can only be read") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if path == "" {
			if _, err := FindRepository(t.Context(), web, "", ""); codeOf(err) != "no_snapshot" || !strings.Contains(err.Error(), "--chain") {
				t.Errorf("without a chain: %v", err)
			}
		}
	}
}

// A flipped bit in any file of a repository is found: verify names the file, and a restore fails or restores what was
// stored.
func TestEveryFlippedBitIsFound(t *testing.T) {
	rng := testseed.Rand(t)
	dir := t.TempDir()
	w := newWorld(t, rng, dir)
	w.key = newKey(t)
	w.mustCreate()
	w.tables(1)
	w.mustCreate()
	want := w.content(w.work.Checkpoint())
	r, trusted := w.repository(), w.key.Public()
	var paths []string
	err := filepath.WalkDir(filepath.Join(dir, "bitcoin-mainnet"), func(path string, e fs.DirEntry, err error) error {
		if info, _ := e.Info(); err == nil && !e.IsDir() && info.Size() > 0 {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	verify := func() (problems []Problem, err error) {
		if problems, err = r.VerifyAll(t.Context(), trusted); err != nil {
			return nil, err
		}
		all, _, err := r.List(t.Context())
		for _, s := range all {
			more, err := r.Verify(t.Context(), s, 3, nil)
			if err != nil {
				return nil, err
			}
			problems = append(problems, more...)
		}
		return problems, err
	}
	if problems, err := verify(); err != nil || len(problems) > 0 {
		t.Fatalf("%v: %v", problems, err)
	}
	kinds := map[string]int{}
	for i := range testrun.Amount(500, 60) {
		path := paths[rng.IntN(len(paths))]
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at, bit := rng.IntN(len(text)), byte(1)<<rng.IntN(8)
		text[at] ^= bit
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		kinds[filepath.Base(filepath.Dir(path))[:1]+filepath.Ext(path)]++
		problems, err := verify()
		if len(problems) == 0 && err == nil {
			t.Errorf("bit %08b of byte %d of %s was not found", bit, at, path)
		}
		to := filepath.Join(t.TempDir(), "db")
		if _, err := w.restore(t.Context(), w.storage, "", to, trusted); err == nil {
			if got := w.content(to); !maps.Equal(got, want) {
				t.Errorf("bit %08b of byte %d of %s was restored", bit, at, path)
			}
		} else {
			w.wantNotOpen(to)
		}
		text[at] ^= bit
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 { // the folder of a failed restore is used by the next one
			if _, err := w.restore(t.Context(), w.storage, "", to+"2", trusted); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("flipped bits: %v", kinds)
}

// A create that ends at any call of the storage leaves the previous snapshot the latest one, or the whole new one. The
// next create stores the rest only.
func TestACreateThatFailsAnywhereIsCompletedByTheNext(t *testing.T) {
	for _, stores := range []bool{false, true} {
		w := newWorld(t, testseed.Rand(t), t.TempDir())
		w.key = newKey(t)
		w.mustCreate()
		for n := int64(0); ; n++ {
			w.tables(1)
			f := &faulty{Target: w.storage, stores: stores}
			f.left.Store(n)
			created, err := w.create(t.Context(), f)
			s, findErr := w.repository().Find(t.Context(), "", w.key.Public())
			if findErr != nil {
				t.Fatalf("after a failure at call %d: %v", n, findErr)
			}
			if problems, err := w.repository().Verify(t.Context(), s, 3, nil); err != nil || len(problems) > 0 {
				t.Fatalf("after a failure at call %d: %v %v", n, problems, err)
			}
			if err == nil {
				if s.Name != created.Name || n < 8 {
					t.Errorf("%s is the latest of %d calls, expected %s", s.Name, n, created.Name)
				}
				break
			}
			if !errors.Is(err, errStorage) {
				t.Fatalf("a failure at call %d: %v", n, err)
			}
			if next := w.mustCreate(); next.UploadedFiles > 2 {
				t.Errorf("after a failure at call %d, %d files were stored", n, next.UploadedFiles)
			}
		}
	}
}

// A restore that ends at any call of the storage, or while it checks, leaves no database. The next one reads the rest
// only.
func TestARestoreThatFailsAnywhereIsCompletedByTheNext(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	created, want := w.mustCreate(), w.content(w.work.Checkpoint())
	dir := filepath.Join(t.TempDir(), "db")
	for n := int64(0); ; n++ {
		f := &faulty{Target: w.storage}
		f.left.Store(n)
		restored, err := w.restore(t.Context(), f, "", dir, nil)
		if err == nil {
			if got := w.content(dir); !maps.Equal(got, want) || n < 3 {
				t.Errorf("restored %v with %d calls", got, n)
			}
			if restored.DownloadedBytes >= created.Manifest.Bytes {
				t.Errorf("%d bytes were read, expected only the rest", restored.DownloadedBytes)
			}
			break
		}
		if !errors.Is(err, errStorage) {
			t.Fatalf("a failure at call %d: %v", n, err)
		}
		w.wantNotOpen(dir)
	}
	s, err := w.repository().Find(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir += "2"
	bad := errors.New("the rows differ")
	_, err = w.repository().Restore(t.Context(), s, dir, RestoreOptions{Lock: "lock", Check: func(string) error { return bad }})
	if !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	w.wantNotOpen(dir)
	restored, err := w.restore(t.Context(), w.storage, "", dir, nil)
	if err != nil || restored.DownloadedFiles != 1 { // CURRENT
		t.Errorf("%+v: %v", restored, err)
	}
}

// What another snapshot, another program or a damaged disk left in the folder of a restore is replaced.
func TestARestoreUsesOnlyWhatBelongsToTheSnapshot(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	w.mustCreate()
	want := w.content(w.work.Checkpoint())
	dir := filepath.Join(t.TempDir(), "db")
	folder := dir + UnfinishedSuffix
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(currentName, "MANIFEST-000099\n") // of another snapshot
	put("MANIFEST-000099", "x")
	put("000099.sst", "x")
	put("notes/caches", "key")
	put("000010.sst", strings.Repeat("x", 1<<20))                          // longer
	put("000011.sst", strings.Repeat("x", len(want["000011.sst"])))        // of the same size
	put("000012.sst", "x"+want["000012.sst"][1:len(want["000012.sst"])/2]) // a part, with a wrong byte
	put("000013.sst", want["000013.sst"][:len(want["000013.sst"])/2])      // a part
	put("000014.sst", want["000014.sst"])                                  // complete
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "000015.sst")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.restore(t.Context(), w.storage, "", dir, nil); err != nil {
		t.Fatal(err)
	}
	if got := w.content(dir); !maps.Equal(got, want) {
		t.Errorf("restored %v", slices.Sorted(maps.Keys(got)))
	}
	if info, err := os.Lstat(filepath.Join(dir, "000015.sst")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v %v", info, err)
	}
	if _, err := w.restore(t.Context(), w.storage, "", dir, nil); codeOf(err) != "not_empty" {
		t.Errorf("a restore over a database: %v", err)
	}
	empty := t.TempDir()
	if _, err := w.restore(t.Context(), w.storage, "", empty, nil); err != nil || !maps.Equal(w.content(empty), want) {
		t.Errorf("a restore into an empty folder: %v", err)
	}
}

func TestOneProcessRestoresAFolder(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	w.mustCreate()
	s, err := w.repository().Find(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "db")
	_, err = w.repository().Restore(t.Context(), s, dir, RestoreOptions{Lock: "lock", Holder: "the first", Check: func(string) error {
		_, err := w.restore(t.Context(), w.storage, "", dir, nil)
		if codeOf(err) != "locked" || !strings.Contains(err.Error(), "is being restored by the first") {
			t.Errorf("a second restore: %v", err)
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
}

func TestRestoreRequiresFreeSpace(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	created := w.mustCreate()
	m := *created.Manifest
	m.Files = slices.Clone(m.Files)
	m.Files[0].Size += 1 << 49
	m.Bytes += 1 << 49
	name, text, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.repository().write(t.Context(), "snapshots/"+name+".json", text); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "db")
	_, err = w.restore(t.Context(), w.storage, name, dir, nil)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "needs 512.0 TiB more") {
		t.Errorf("%v", err)
	}
	w.wantNotOpen(dir)
}
