package core_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/rocks"
)

// reading is a store that counts the keys and rows that are read. It can fail lookups in one family, and it calls
// tooMany when the count exceeds bound.
type reading struct {
	storage.Store
	read, bound int
	tooMany     func()

	failing storage.Family
	after   int // number of lookups in failing before they fail; negative: never
	lookups map[storage.Family]int
}

func (s *reading) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(readingReader{r, s}) })
}

func (s *reading) count(n int) {
	if s.read += n; s.bound > 0 && s.read > s.bound && s.tooMany != nil {
		s.tooMany()
	}
}

type readingReader struct {
	storage.Reader
	s *reading
}

func (r readingReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	r.s.count(len(keys))
	if r.s.lookups == nil {
		r.s.lookups = map[storage.Family]int{}
	}
	if r.s.lookups[f]++; f == r.s.failing && r.s.after >= 0 && r.s.lookups[f] > r.s.after {
		return nil, errors.New("checksum mismatch in 000103.sst")
	}
	return r.Reader.GetMany(f, keys)
}

func (r readingReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		for kv, err := range r.Reader.Scan(f, from, to, reverse) {
			if r.s.count(1); !yield(kv, err) {
				return
			}
		}
	}
}

// checkOnce checks a database, and stops if the check reads more than bound keys and rows; 0: no bound.
func (s *reading) checkOnce(t *testing.T, db *core.DB, bound int) (*check.Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.read, s.bound, s.tooMany, s.lookups = 0, bound, cancel, map[storage.Family]int{}
	a, err := db.Check(ctx, check.Options{})
	if bound > 0 && s.read > bound {
		t.Errorf("the check read %d keys and rows, the check of an intact database reads %d", s.read, bound)
	}
	return a, err
}

// large returns a chain with enough outputs for several lookup batches of a check.
func large(t *testing.T, v modeltest.Variant) []*model.Block {
	g, outputs := v.NewGenerator(testseed.Of(t, 830)), 0
	var blocks []*model.Block
	for outputs < 9000 {
		b := g.Next()
		for i := range b.Txs {
			outputs += len(b.Txs[i].Outputs)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// If a family cannot be read, check names it, and reads no more than a check of an intact database.
func TestCheckEndsAtAReadError(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[3]
	s := &declared{Store: memory.New()}
	counting := &reading{Store: s, after: -1}
	db := open(t, counting, v, 1<<20)
	appendAll(t, db, large(t, v), 100)
	if a, err := counting.checkOnce(t, db, 0); err != nil || !a.OK {
		t.Fatalf("an intact database: %v, %v", text(a), err)
	}
	whole, lookups, tried := counting.read, counting.lookups, 0
	for _, d := range s.Declarations {
		if d.Name == "meta" || lookups[d.Family] == 0 {
			continue
		}
		tried++
		counting.failing, counting.after = d.Family, lookups[d.Family]/2
		a, err := counting.checkOnce(t, db, whole)
		if err != nil {
			t.Errorf("%s fails after %d lookups: %v", d.Name, counting.after, err)
			continue
		}
		named := slices.ContainsFunc(a.Problems, func(f check.Problem) bool {
			return f.Family == d.Name && strings.Contains(f.Problem, "cannot be read") &&
				strings.Contains(f.Problem, "000103.sst")
		})
		if a.OK || !named || len(a.Problems) > 1 {
			t.Errorf("%s fails after %d lookups: %.300s", d.Name, counting.after, text(a.Problems))
		}
	}
	if tried < 10 {
		t.Errorf("only %d failures were tested", tried)
	}
}

// Check also ends if one byte of a table file is damaged.
func TestCheckEndsAtADamagedTable(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[3]
	dir := t.TempDir()
	disk, err := rocks.Open(dir, rocks.Options{WriteBuffers: 1 << 20, Holder: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, disk, v, 1<<20)
	appendAll(t, db, large(t, v), 200)
	counting := &reading{Store: disk, after: -1}
	if a, err := counting.checkOnce(t, open(t, counting, v, 0), 0); err != nil || !a.OK {
		t.Fatalf("an intact database: %v, %v", text(a), err)
	}
	whole := counting.read
	if err := disk.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) < 10 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for i := 0; i < len(tables); i += max(1, len(tables)/12) {
		path := tables[i]
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(content)
		bad[len(bad)/3] ^= 4
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := checkDamaged(t, dir, v, whole); err != nil {
			t.Errorf("%s, with byte %d of %d changed: %v", filepath.Base(path), len(bad)/3, len(bad), err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkDamaged returns an error if a check does not report the damage.
func checkDamaged(t *testing.T, dir string, v modeltest.Variant, whole int) error {
	t.Helper()
	disk, err := rocks.Open(dir, rocks.Options{ReadOnly: true})
	if err != nil {
		return nil
	}
	defer disk.Close()
	counting := &reading{Store: disk, after: -1}
	db, err := core.Open(t.Context(), counting, core.Options{Chain: v.Chain("one"), ReadOnly: true, Damaged: true})
	if err != nil {
		return nil // a damaged database may be rejected on opening
	}
	a, err := counting.checkOnce(t, db, whole)
	switch {
	case err != nil:
		return err
	case a.OK || len(a.Problems) == 0:
		return errors.New("the check found nothing")
	case len(a.Problems) > 1, !strings.Contains(a.Problems[0].Problem, "cannot be read"),
		!strings.Contains(a.Problems[0].Problem, ".sst"):
		return errors.New("the problem does not name the table: " + text(a.Problems))
	}
	return nil
}

// Status and check count the same number of rows.
func TestCheckCountsTheRowsOfTheStatus(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		l := openChanging(t, v, memory.New(), testseed.Of(t, 840), firstIndexes(v), nil)
		counted := func(when string) {
			t.Helper()
			status, err := l.db.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows := uint64(0)
			for _, f := range status.Families {
				rows += f.Rows()
			}
			a, err := l.db.Check(t.Context(), check.Options{})
			if err != nil || !a.OK || a.Rows != rows {
				t.Errorf("%s: check counts %d rows (%v), status %d", when, a.Rows, err, rows)
			}
		}
		counted("empty")
		l.grow(12, 5)
		sync(t, l.db, events(l.chain[11].Point(), l.chain[8].Point()), core.SyncOptions{})
		l.chain, l.grown = l.chain[:9:9], l.grown[:10]
		counted("with lost blocks")
		if err := l.db.AddIndex(t.Context(), "label", everything4); err != nil {
			t.Fatal(err)
		}
		l.build(2, 1)
		counted("with an index that is being added")
		l.build(-1, 100)
		counted("with an added index")
		if err := l.db.DropIndex(t.Context(), "label"); err != nil {
			t.Fatal(err)
		}
		counted("with an index that is being dropped")
	})
}
