package export_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/export"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// history is a database that grows and is reorganized at random.
type history struct {
	v          modeltest.Variant
	rng        *rand.Rand
	db         *core.DB
	blocks     []*model.Block
	generators []*modeltest.Generator // after each block
}

func newHistory(t *testing.T, v modeltest.Variant) *history {
	t.Helper()
	seed := testseed.Of(t, 901)
	return &history{v: v, rng: rand.New(rand.NewPCG(seed, 1)), db: coretest.Open(t, memory.New(), v, 1<<16), generators: []*modeltest.Generator{v.NewGenerator(seed)}}
}

// grow appends blocks.
func (h *history) grow(t *testing.T, n int) {
	t.Helper()
	var batch []*model.Block
	for range n {
		g := h.generators[len(h.generators)-1].Fork(h.rng.Uint64N(1 << 20)) // else branches have equal headers
		b := g.Next()
		batch, h.blocks, h.generators = append(batch, b), append(h.blocks, b), append(h.generators, g)
	}
	coretest.AppendAll(t, h.db, batch, 5)
}

// fork removes some blocks, and begins another branch.
func (h *history) fork(t *testing.T) {
	t.Helper()
	keep := max(1, len(h.blocks)-1-h.rng.IntN(15)) // another genesis would be another chain
	coretest.Rollback(t, h.db, coretest.Point(h.blocks, keep-1))
	h.blocks, h.generators = h.blocks[:keep:keep], h.generators[:keep+1:keep+1]
}

// An export that is repeated while the chain grows and is reorganized has the files and the manifest of a new one.
func TestRepeatedExportsEqualANewOne(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		h := newHistory(t, v)
		dir := t.TempDir()
		export.SetLimits(t, 7, 40, 1000)
		o := export.Options{Format: export.Formats[h.rng.IntN(3)], Partition: 1 + h.rng.IntN(12), Confirmations: h.rng.IntN(9), Memory: 1 << 14}
		if h.rng.IntN(2) == 0 {
			o.Hashes = export.HashesBinary
		}
		kept := 0
		for range testrun.Amount(20, 6) {
			if len(h.blocks) > 3 && h.rng.IntN(2) == 0 {
				h.fork(t)
			}
			h.grow(t, 1+h.rng.IntN(8))
			o.Jobs = 1 + h.rng.IntN(3)
			r := run(t, h.db, dir, o)
			kept += r.Parts - r.Written
			fresh := t.TempDir()
			run(t, h.db, fresh, o)
			sameFolder(t, "a repeated export", dir, fresh)
			if again := run(t, h.db, dir, o); again.Written != 0 {
				t.Errorf("%d parts were written without new blocks", again.Written)
			}
			if t.Failed() {
				return
			}
		}
		if kept == 0 {
			t.Error("every part was written again")
		}
		coretest.Consistent(t, h.db)
	})
}

var errInjected = errors.New("injected")

// failing is a folder that fails at a step: steps are calls and writes.
type failing struct {
	export.Folder
	mu   sync.Mutex
	left int // steps before the failure
}

func (f *failing) step() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left < 0 {
		return errInjected
	}
	return nil
}

func (f *failing) Read(ctx context.Context, name string) ([]byte, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	return f.Folder.Read(ctx, name)
}

func (f *failing) Replace(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := f.step(); err != nil {
		return err
	}
	err := f.Folder.Replace(ctx, name, func(w io.Writer) error { return write(failingWriter{f, w}) })
	if err != nil {
		return err
	}
	return f.step() // after the file was replaced
}

func (f *failing) Remove(ctx context.Context, name string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Folder.Remove(ctx, name)
}

func (f *failing) List(ctx context.Context) (map[string]int64, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	return f.Folder.List(ctx)
}

type failingWriter struct {
	f *failing
	w io.Writer
}

func (w failingWriter) Write(b []byte) (int, error) {
	if err := w.f.step(); err != nil {
		return 0, err
	}
	return w.w.Write(b)
}

// An export that fails at any step continues: the files are those of a new one. The manifest lists only files that are
// complete.
func TestExportsContinueAfterAFailureAtAnyStep(t *testing.T) {
	v := modeltest.Variants()[1]
	h := newHistory(t, v)
	export.SetLimits(t, 5, 40, 1000)
	o := export.Options{Partition: 6, Confirmations: 4, Jobs: 1, Memory: 1 << 14}
	h.grow(t, 17)
	before := t.TempDir()
	run(t, h.db, before, o)
	h.fork(t)
	h.grow(t, 12)
	fresh := t.TempDir()
	run(t, h.db, fresh, o)
	steps := 0
	for ; ; steps += testrun.Amount(9, 40) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
			t.Fatal(err)
		}
		_, err := h.db.Export(t.Context(), &failing{Folder: export.LocalFolder(dir), left: steps}, o)
		if err == nil {
			break
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("step %d: %v", steps, err)
		}
		m, err := export.ReadManifest(t.Context(), export.LocalFolder(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			for _, f := range p.Files {
				if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil || sha256Of(b) != f.SHA256 {
					t.Errorf("step %d: %s is not the file that the manifest lists (%v)", steps, f.Path, err)
				}
			}
		}
		// A killed process leaves unfinished files.
		if err := os.WriteFile(filepath.Join(dir, "outputs", "from=000000000", "part.parquet~"), []byte("cut"), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, h.db, dir, o)
		sameFolder(t, "after a failure", dir, fresh)
		if t.Failed() {
			t.Fatalf("after a failure at step %d", steps)
		}
	}
	if steps < 100 { // a new export has more
		t.Errorf("%d steps", steps)
	}
}

// A part is read from the chain of the plan, or the export begins again.
func TestAForkDuringAnExport(t *testing.T) {
	v := modeltest.Variants()[0]
	h := newHistory(t, v)
	export.SetLimits(t, 5, 40, 1000)
	h.grow(t, 30)
	o := export.Options{Partition: 4, Confirmations: 2, Jobs: 1, Memory: 1 << 14}
	dir, fresh := t.TempDir(), t.TempDir()
	forks, parts := 0, 0
	o.Progress = func(export.Progress) {
		if parts++; parts%5 == 0 && forks < 3 {
			forks++
			h.fork(t)
			h.grow(t, 9)
		}
	}
	run(t, h.db, dir, o)
	o.Progress = nil
	run(t, h.db, dir, o) // of the blocks that were added meanwhile
	run(t, h.db, fresh, o)
	sameFolder(t, "forks during an export", dir, fresh)
	if forks < 3 {
		t.Errorf("%d forks", forks)
	}
}

// A range of blocks and a selection of tables has their rows of a whole export.
func TestRangesAndTablesAreAPartOfTheWhole(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		db, blocks := generated(t, v, 902, 30)
		all := t.TempDir()
		run(t, db, all, export.Options{Partition: 10})
		whole := readTables(t, all)
		for range testrun.Amount(8, 3) {
			from := blocks[rng.IntN(len(blocks))].Height
			to := from + model.HeightPk(rng.IntN(12))
			o := export.Options{From: from, To: &to, Partition: 1 + rng.IntN(20), Confirmations: rng.IntN(5), Tables: []string{}}
			for _, name := range export.Tables {
				if rng.IntN(2) == 0 {
					o.Tables = append(o.Tables, name)
				}
			}
			dir := t.TempDir()
			run(t, db, dir, o)
			got := readTables(t, dir)
			for _, name := range export.Tables {
				var want []row
				for _, r := range whole[name] {
					if h := number(t, r["block_number"]); contains(o.Tables, name) && h >= int(from) && h <= int(to) {
						want = append(want, r)
					}
				}
				sameRows(t, name, got[name], want)
			}
		}
	})
}

// Options that are not valid, and a folder with another export, are errors.
func TestExportsAreRefused(t *testing.T) {
	db, _ := generated(t, modeltest.Variants()[0], 903, 12)
	dir := t.TempDir()
	run(t, db, dir, export.Options{Partition: 5})
	low := model.HeightPk(3)
	for _, c := range []struct {
		o    export.Options
		code string
		text string
	}{
		{export.Options{Tables: []string{"coins"}}, "bad_value", `no table "coins": expected blocks, transactions`},
		{export.Options{Format: "xml"}, "bad_value", `no format "xml": expected parquet, csv, ndjson`},
		{export.Options{Hashes: "base64"}, "bad_value", `expected hex or binary`},
		{export.Options{From: 4, To: &low}, "bad_value", "the last block 3 is below the first one, 4"},
		{export.Options{Partition: 6}, "export_mismatch", "differs in partition"},
		{export.Options{Partition: 5, Format: "csv"}, "export_mismatch", "differs in format"},
		{export.Options{Partition: 5, Hashes: "binary"}, "export_mismatch", "differs in hashes"},
		{export.Options{Partition: 5, From: 1}, "export_mismatch", "differs in from"},
		{export.Options{Partition: 5, Tables: []string{"blocks"}}, "export_mismatch", "differs in tables"},
	} {
		_, err := db.Export(t.Context(), export.LocalFolder(dir), c.o)
		if _, code := model.KindOf(err); code != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v (%s), expected %q (%s)", c.o, err, code, c.text, c.code)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, export.ManifestName), []byte(`{"version":9}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Export(t.Context(), export.LocalFolder(dir), export.Options{}); err == nil || !strings.Contains(err.Error(), "export to another folder") {
		t.Error(err)
	}
}

// A database without blocks has an empty export.
func TestADatabaseWithoutBlocks(t *testing.T) {
	db := coretest.Open(t, memory.New(), modeltest.Variants()[0], 0)
	dir := t.TempDir()
	if r := run(t, db, dir, export.Options{}); r.Tip != nil || r.Parts != 0 {
		t.Errorf("%+v", r)
	}
}

// Files of others in the folder stay.
func TestFilesOfOthersStay(t *testing.T) {
	db, _ := generated(t, modeltest.Variants()[0], 904, 12)
	dir := t.TempDir()
	run(t, db, dir, export.Options{Partition: 5})
	others := []string{"notes.txt", "outputs/from=000000000/participants.csv", "outputs/part.parquet", "labels/part.csv", "outputs/from=1/part.csv"}
	for _, name := range others {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(dir, "outputs", "from=000000000", "part-000000003.parquet~")
	if err := os.WriteFile(left, []byte("cut"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, db, dir, export.Options{Partition: 5})
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unfinished file is left (%v)", err)
	}
}
