package upgrade_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/schema"
	"birthmark/core/upgrade"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// earlier are the databases that earlier releases wrote: testdata/FORMAT-VARIANT.txt has a row per line, the number of
// its family, the key and the value in hex. Each has the first blocks of the generator of the variant with seed 77.
const (
	seed   = 77
	blocks = 4
)

// load writes the rows of a file to the store, and returns the variant of its chain.
func load(t *testing.T, file string, s storage.Store) modeltest.Variant {
	t.Helper()
	_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
	var variant modeltest.Variant
	for _, v := range modeltest.Variants() {
		if v.Name == name {
			variant = v
		}
	}
	l, err := schema.NewLayout(variant.Chain("one"), nil, variant.Keep(), variant.Raw, variant.Placed)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Declare(append(l.Declarations(), schema.SegmentFamily)...); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			parts := strings.SplitN(lines.Text(), " ", 3)
			var family storage.Family
			if _, err := fmt.Sscan(parts[0], &family); err != nil {
				return err
			}
			key, err := hex.DecodeString(parts[1])
			if err != nil {
				return err
			}
			value, err := hex.DecodeString(parts[2])
			if err != nil {
				return err
			}
			b.Put(family, key, value)
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return variant
}

// opened opens the upgraded database.
func opened(t *testing.T, s storage.Store, v modeltest.Variant) *core.DB {
	t.Helper()
	db, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one")})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// fresh returns the dump of a database that this release makes of the same blocks.
func fresh(t *testing.T, v modeltest.Variant, drop bool) coretest.Dumped {
	t.Helper()
	db := coretest.Open(t, memory.New(), v, 1<<20)
	coretest.AppendAll(t, db, v.NewGenerator(seed).Blocks(blocks), 3)
	if drop {
		if err := db.DropIndex(t.Context(), "tag"); err != nil {
			t.Fatal(err)
		}
	}
	return coretest.Dump(t, db)
}

// Every database of an earlier release becomes equal to one of this release.
func TestEarlierDatabasesEqualNewOnes(t *testing.T) {
	files, err := filepath.Glob("testdata/format*.txt")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := memory.New()
			v := load(t, file, s)
			_, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one")})
			if _, code := model.KindOf(err); code != "wrong_format" || !strings.Contains(err.Error(), "birthmark upgrade") {
				t.Errorf("opened before the upgrade: %v", err)
			}
			for _, want := range []int{5, schema.FormatVersion} {
				var last, total uint64
				from, err := upgrade.Run(t.Context(), s, upgrade.Options{Part: 3, Progress: func(d, n uint64) {
					if d > n || d < last {
						t.Errorf("%d of %d rows after %d", d, n, last)
					}
					last, total = d, n
				}})
				if err != nil || from != want || last != total {
					t.Fatalf("from %d, %v, %d of %d rows", from, err, last, total)
				}
			}
			db := opened(t, s, v)
			coretest.Consistent(t, db)
			coretest.Same(t, "upgraded", coretest.Dump(t, db), fresh(t, v, v.Name == "like-cardano"))
			if v.Name == "like-cardano" {
				return // blocks have values of the index that is being dropped
			}
			more := v.NewGenerator(seed)
			more.Blocks(blocks)
			coretest.AppendAll(t, db, more.Blocks(3), 2)
			coretest.Consistent(t, db)
		})
	}
}

// An upgrade that fails at any read or write changes nothing that the next one does not complete.
func TestAnInterruptedUpgradeIsCompleted(t *testing.T) {
	for step := 1; ; step++ {
		s := storetest.NewFaulty(memory.New())
		v := load(t, "testdata/format5-like-bitcoin.txt", s)
		s.FailAt(step)
		_, err := upgrade.Run(t.Context(), s, upgrade.Options{Part: 2})
		steps := s.Steps()
		s.FailAt(0)
		if err != nil && !errors.Is(err, storetest.ErrInjected) {
			t.Fatalf("step %d: %v", step, err)
		}
		if _, err := upgrade.Run(t.Context(), s, upgrade.Options{Part: 2}); err != nil {
			t.Fatalf("after a failure at step %d: %v", step, err)
		}
		db := opened(t, s, v)
		coretest.Consistent(t, db)
		coretest.Same(t, fmt.Sprint("failed at step ", step), coretest.Dump(t, db), fresh(t, v, false))
		if steps < step {
			if step < 10 {
				t.Errorf("only %d steps", step)
			}
			return
		}
	}
}

// A program of the earlier release that writes between two parts of an upgrade makes it begin again.
func TestAnUpgradeOfAChangedDatabaseBeginsAgain(t *testing.T) {
	s := memory.New()
	v := load(t, "testdata/format5-like-bitcoin.txt", s)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := &stopping{Store: s, after: 2, stop: cancel}
	if _, err := upgrade.Run(ctx, stopped, upgrade.Options{Part: 2}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the upgrade was not interrupted: %v", err)
	}
	var tip []byte
	err := s.Update(t.Context(), func(r storage.Reader, b storage.Batch) error {
		rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTip, []byte("upgrade")})
		if err == nil && rows[1] == nil {
			return errors.New("no progress is stored")
		}
		tip = append(tip, rows[0]...)
		other := append([]byte{}, tip...)
		other[len(other)-2]++ // another hash
		b.Put(schema.FamilyMeta, schema.MetaTip, other)
		first, _, err := firstRaw(r)
		b.Put(schema.FamilyRaw, first, []byte("the row of another block"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := upgrade.Run(t.Context(), s, upgrade.Options{Part: 2}); err != nil {
		t.Fatal(err)
	}
	var sum, want uint64
	err = s.View(t.Context(), func(r storage.Reader) error {
		l, err := schema.ReadLayout(r, v.Chain("one"))
		if err != nil {
			return err
		}
		state, err := new(schema.StateReader).Read(r, l)
		if err != nil {
			return err
		}
		sum = state.Totals.RawChecksum
		for kv, err := range r.Scan(schema.FamilyRaw, nil, nil, false) {
			if err != nil {
				return err
			}
			pk, err := model.ParseTxPk(kv.Key)
			if err != nil {
				return err
			}
			want += schema.RawChecksum(pk, kv.Value)
		}
		return nil
	})
	if err != nil || sum != want {
		t.Errorf("the sum is %d, the rows have %d, %v", sum, want, err)
	}
}

func firstRaw(r storage.Reader) (key, value []byte, err error) {
	for kv, err := range r.Scan(schema.FamilyRaw, nil, nil, false) {
		return append([]byte{}, kv.Key...), append([]byte{}, kv.Value...), err
	}
	return nil, nil, errors.New("no row")
}

// stopping is a store that calls stop before an update.
type stopping struct {
	storage.Store
	after int
	stop  func()
}

func (s *stopping) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	if s.after--; s.after == 0 {
		s.stop()
		return ctx.Err()
	}
	return s.Store.Update(ctx, fn)
}

// Databases that cannot be upgraded are refused and do not change.
func TestRefusedUpgrades(t *testing.T) {
	meta := func(t *testing.T, key, value []byte, f storage.Family) storage.Store {
		s := memory.New()
		load(t, "testdata/format5-like-bitcoin.txt", s)
		err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error { b.Put(f, key, value); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for what, c := range map[string]struct {
		store storage.Store
		code  string
	}{
		"empty":        {memory.New(), "no_database"},
		"older":        {meta(t, schema.MetaFormat, []byte{4}, schema.FamilyMeta), "wrong_format"},
		"newer":        {meta(t, schema.MetaFormat, []byte{schema.FormatVersion + 1}, schema.FamilyMeta), "wrong_format"},
		"a replica":    {meta(t, schema.SegmentPrimary, []byte("https://primary"), schema.FamilySegments), "replica"},
		"cut totals":   {meta(t, schema.MetaTotals, []byte{1, 2}, schema.FamilyMeta), "internal"},
		"cut progress": {meta(t, schema.MetaChange, []byte{1, 2}, schema.FamilyMeta), "internal"},
	} {
		_, err := upgrade.Run(t.Context(), c.store, upgrade.Options{})
		if _, code := model.KindOf(err); err == nil || code != c.code {
			t.Errorf("%s: %v, expected %s", what, err, c.code)
		}
	}
}
