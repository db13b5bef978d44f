package snapshot

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"aead.dev/minisign"

	"birthmark/internal/snapshot/target"
	"birthmark/model"
)

// world is a database folder with a checkpoint of files as RocksDB names them, and a storage.
type world struct {
	t       *testing.T
	rng     *mathrand.Rand
	db      string
	work    *Work
	storage target.Target
	number  int       // of the next file
	at      time.Time // of the next snapshot
	height  uint32
	key     *SigningKey
}

func newWorld(t *testing.T, rng *mathrand.Rand, url string) *world {
	t.Helper()
	w := &world{t: t, rng: rng, db: t.TempDir(), number: 10, at: time.Date(2026, 11, 22, 7, 0, 12, 0, time.UTC), height: 100}
	var err error
	if w.storage, err = target.Open(url, target.Options{}); err != nil {
		t.Fatal(err)
	}
	if w.work, err = BeginWork(w.db, "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.work.End(); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(w.work.Checkpoint(), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("OPTIONS-000007", []byte("wal_dir=/home/me"))
	w.write("000004.log", nil)
	w.tables(6)
	return w
}

func (w *world) write(name string, text []byte) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.work.Checkpoint(), name), text, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return b
}

// tables adds n tables and replaces the manifest of RocksDB.
func (w *world) tables(n int) {
	w.t.Helper()
	for range n {
		w.write(fmt.Sprintf("%06d.sst", w.number), w.random(1+w.rng.IntN(3000)))
		w.number++
	}
	w.write("MANIFEST-000005", w.random(50+w.number))
	w.write(currentName, []byte("MANIFEST-000005\n"))
	w.height++
	w.at = w.at.Add(time.Minute)
}

func (w *world) repository() *Repository { return NewRepository(w.storage, "bitcoin", "mainnet") }

func (w *world) manifest() Manifest {
	return Manifest{
		Chain: "bitcoin", Network: "mainnet", Format: 5, Raw: "off", Indexes: []Index{{Name: "address", Kind: "one-to-many"}},
		Tip: Tip{w.height, "00aa", 1}, Rows: map[string]uint64{"a": 1}, Checksum: "1", Engine: Engine{"rocksdb", "7.8.3"},
		Made: Made{w.at, "test"},
	}
}

// create creates a snapshot of the checkpoint in a storage.
func (w *world) create(ctx context.Context, s target.Target) (*Created, error) {
	return NewRepository(s, "bitcoin", "mainnet").Create(ctx, w.work.Checkpoint(), w.manifest(), CreateOptions{Work: w.work, Key: w.key, Jobs: 3})
}

func (w *world) mustCreate() *Created {
	w.t.Helper()
	c, err := w.create(w.t.Context(), w.storage)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// restore restores a snapshot of a storage into dir.
func (w *world) restore(ctx context.Context, s target.Target, which, dir string, key *TrustedKey) (*Restored, error) {
	r, err := FindRepository(ctx, s, "", "")
	if err != nil {
		return nil, err
	}
	found, err := r.Find(ctx, which, key)
	if err != nil {
		return nil, err
	}
	return r.Restore(ctx, found, dir, RestoreOptions{Lock: "lock", Holder: "test", Jobs: 3, Check: func(folder string) error {
		if _, err := os.Stat(filepath.Join(folder, currentName)); err != nil {
			w.t.Error("the database is checked before it is complete")
		}
		return nil
	}})
}

// content returns the files of a folder, without files that a snapshot leaves out.
func (w *world) content(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if fileForm.MatchString(e.Name()) {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				w.t.Fatal(err)
			}
			all[e.Name()] = string(text)
		} else if e.Name() != "lock" && e.Name() != "OPTIONS-000007" {
			w.t.Errorf("%s has %s", dir, e.Name())
		}
	}
	return all
}

// wantNotOpen fails if an unfinished restore left a database.
func (w *world) wantNotOpen(dir string) {
	w.t.Helper()
	for _, folder := range []string{dir, dir + UnfinishedSuffix} {
		if _, err := os.Stat(filepath.Join(folder, currentName)); !errors.Is(err, fs.ErrNotExist) {
			w.t.Fatalf("%s can be opened after a failed restore: %v", folder, err)
		}
	}
}

func newKey(t *testing.T) *SigningKey {
	t.Helper()
	_, key, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &SigningKey{key}
}

func codeOf(err error) string { _, code := model.KindOf(err); return code }

// errStorage is the error of a faulty storage.
var errStorage = errors.New("the storage is on fire")

// faulty is a storage that fails at one call, and at all later ones, as if the process was killed there. A failing Put
// may have stored its file, a failing read yields a part.
type faulty struct {
	target.Target
	left   atomic.Int64 // calls that succeed
	stores bool         // a failing Put stores the file
}

func (f *faulty) fails() bool { return f.left.Add(-1) < 0 }

func (f *faulty) Open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	r, err := f.Target.Open(ctx, name, from)
	if err != nil || !f.fails() {
		return r, err
	}
	defer r.Close()
	text, _ := io.ReadAll(r)
	return io.NopCloser(io.MultiReader(bytes.NewReader(text[:len(text)/2]), failing{})), nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errStorage }

func (f *faulty) Put(ctx context.Context, name string, c target.Content) error {
	if !f.fails() {
		return f.Target.Put(ctx, name, c)
	}
	if f.stores {
		if err := f.Target.Put(ctx, name, c); err != nil {
			return err
		}
	}
	return errStorage
}

func (f *faulty) List(ctx context.Context, folder string) iter.Seq2[target.Entry, error] {
	if f.fails() {
		return func(yield func(target.Entry, error) bool) { yield(target.Entry{}, errStorage) }
	}
	return f.Target.List(ctx, folder)
}

func (f *faulty) Remove(ctx context.Context, name string) error {
	if f.fails() {
		return errStorage
	}
	return f.Target.Remove(ctx, name)
}
