package run

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"birthmark/internal/testseed"
)

// model is the expected content of a run.
type model struct {
	entries []Entry
	dead    map[int32]bool
	limit   uint64
}

func (m *model) live(slot int) bool { return !m.dead[int32(slot)] && m.entries[slot].Pk < m.limit }

// find returns the slot of the first live entry of tag and extra, or -1.
func (m *model) find(tag uint64, extra uint16) int {
	i, _ := slices.BinarySearchFunc(m.entries, tag, func(e Entry, tag uint64) int { return cmp.Compare(e.Tag, tag) })
	for ; i < len(m.entries) && m.entries[i].Tag == tag; i++ {
		if m.entries[i].Extra == extra && m.live(i) {
			return i
		}
	}
	return -1
}

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Extra, b.Extra))
}

// randomModel draws entries. Some have the tag of the one before, and now and then whole pages have the same tag. Some
// models have tags that are not uniformly distributed.
func randomModel(rng *rand.Rand, n, payload int) *model {
	m := &model{dead: map[int32]bool{}, limit: math.MaxUint64}
	skew := rng.IntN(4)
	for len(m.entries) < n {
		tag, times := max(rng.Uint64(), 1), 1
		if squared, _ := bits.Mul64(tag, tag); skew == 0 {
			tag = squared + 1
		} else if skew == 1 {
			tag = -squared - 1
		}
		switch rng.IntN(200) {
		case 0:
			times = 1 + rng.IntN(600)
		case 1:
			tag = math.MaxUint64
		case 2:
			tag = 1
		case 3, 4, 5, 6, 7, 8, 9:
			times = 2
		}
		for range min(times, n-len(m.entries)) {
			e := Entry{Tag: tag, Extra: uint16(rng.IntN(700)), Pk: rng.Uint64N(1 << 40), Payload: make([]byte, payload)}
			for i := range e.Payload {
				e.Payload[i] = byte(rng.Uint32())
			}
			m.entries = append(m.entries, e)
		}
	}
	slices.SortStableFunc(m.entries, compareEntries)
	return m
}

func write(t testing.TB, path string, payload, expected int, entries []Entry) *Run {
	t.Helper()
	w, err := Create(path, payload, expected)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Add(e.Tag, e.Extra, e.Pk, e.Payload); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// check compares lookups of present and absent entries, and all live entries, with the model.
func check(t *testing.T, rng *rand.Rand, r *Run, m *model, s *Scratch) {
	t.Helper()
	if r.Len() != len(m.entries) || r.Dead() != len(m.dead) || r.Limit() != m.limit {
		t.Fatalf("%d entries, %d dead, limit %d; expected %d, %d, %d", r.Len(), r.Dead(), r.Limit(), len(m.entries), len(m.dead), m.limit)
	}
	var qs []Query
	for range 1 + rng.IntN(3000) {
		q := Query{Tag: max(rng.Uint64(), 1), Index: int32(len(qs)), Found: rng.IntN(20) == 0, Pk: math.MaxUint64}
		if len(m.entries) > 0 && rng.IntN(3) > 0 {
			e := m.entries[rng.IntN(len(m.entries))]
			q.Tag, q.Extra = e.Tag, e.Extra
			if rng.IntN(10) == 0 {
				q.Extra++
			}
		}
		qs = append(qs, q)
	}
	slices.SortFunc(qs, func(a, b Query) int { return cmp.Compare(a.Tag, b.Tag) })
	before := slices.Clone(qs)
	s.Reset()
	if err := r.Lookup(qs, s); err != nil {
		t.Fatal(err)
	}
	for i, q := range qs {
		if before[i].Found {
			if q != before[i] {
				t.Fatalf("the query of an entry that is found already changes to %+v", q)
			}
			continue
		}
		slot := m.find(q.Tag, q.Extra)
		if q.Found != (slot >= 0) || q.Index != before[i].Index {
			t.Fatalf("query %+v: expected slot %d", q, slot)
		}
		if slot >= 0 {
			e := m.entries[slot]
			if int(q.Slot) != slot || q.Pk != e.Pk || !bytes.Equal(s.Payload(&q), e.Payload) {
				t.Fatalf("query %+v with payload %x: expected slot %d, %+v", q, s.Payload(&q), slot, e)
			}
			if !r.May(q.Tag, q.Extra) {
				t.Fatalf("the filter lacks %x", q.Tag)
			}
		}
	}
	i := 0
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		for ; !m.live(i); i++ {
		}
		if want := m.entries[i]; int(e.Slot) != i || compareEntries(e, want) != 0 || e.Pk != want.Pk || !bytes.Equal(e.Payload, want.Payload) {
			t.Fatalf("entry %d is %+v, expected %+v", i, e, want)
		}
		i++
	}
	for ; i < len(m.entries); i++ {
		if m.live(i) {
			t.Fatalf("entry %d is missing", i)
		}
	}
}

func TestModel(t *testing.T) {
	rng := testseed.Rand(t)
	for range 8 {
		dir, payload, s := t.TempDir(), []int{0, 2, 7, 15, 23}[rng.IntN(5)], &Scratch{}
		var runs []*Run
		var models []*model
		for i := range 1 + rng.IntN(5) {
			m := randomModel(rng, []int{0, 1, 300, 3000, 40000}[rng.IntN(5)], payload)
			r := write(t, filepath.Join(dir, string(rune('a'+i))), payload, len(m.entries)+rng.IntN(2)*500, m.entries)
			check(t, rng, r, m, s)
			for n := rng.IntN(2) * len(m.entries) / 3; len(m.dead) < n; {
				slot := int32(rng.IntN(len(m.entries)))
				r.MarkDead(slot)
				m.dead[slot] = true
			}
			if rng.IntN(2) == 0 {
				m.limit = 1 << 39
				r.SetLimit(m.limit)
				r.SetLimit(m.limit + 1)
			}
			check(t, rng, r, m, s)
			if rng.IntN(2) == 0 {
				memory := r.Memory()
				if err := r.MapFilter(); err != nil {
					t.Fatal(err)
				}
				mapping := unsafe.SliceData(r.mapping)
				if err := r.MapFilter(); err != nil || unsafe.SliceData(r.mapping) != mapping {
					t.Fatalf("mapping the filter again: %v", err)
				}
				if r.mapping != nil && r.Memory() >= memory {
					t.Fatalf("%d bytes of memory, %d with the filter in a file", memory, r.Memory())
				}
				check(t, rng, r, m, s)
				r.ReleaseFilter(rng.IntN(3))
				check(t, rng, r, m, s)
			}
			if rng.IntN(2) == 0 {
				r = reopen(t, r)
				check(t, rng, r, m, s)
			}
			runs, models = append(runs, r), append(models, m)
		}
		merged, m := mergeAll(t, rng, filepath.Join(dir, "merged"), runs, models)
		check(t, rng, merged, m, s)
		merged = reopen(t, merged)
		check(t, rng, merged, m, s)
		if err := merged.Remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(merged.Path()); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("a removed file: %v", err)
		}
	}
}

// reopen closes a run and opens it again with its dead bits and limit.
func reopen(t *testing.T, r *Run) *Run {
	t.Helper()
	limit, words, length := r.Limit(), slices.Clone(r.DeadBits()), r.Bytes()
	if err := errors.Join(r.Sync(), r.Sync(), r.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := Open(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	again.SetLimit(limit)
	if err := again.SetDeadBits(words); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(r.Path()); err != nil || info.Size() != length || again.Bytes() != length {
		t.Fatalf("%v %v bytes, %d, and %d after opening it again", err, info.Size(), length, again.Bytes())
	}
	return again
}

func mergeAll(t *testing.T, rng *rand.Rand, path string, runs []*Run, models []*model) (*Run, *model) {
	t.Helper()
	var keep func(pk uint64) bool
	if rng.IntN(2) == 0 {
		keep = func(pk uint64) bool { return pk%3 > 0 }
	}
	merged, err := Merge(path, runs, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = merged.Close() })
	m := &model{limit: math.MaxUint64}
	for _, from := range slices.Backward(models) { // of equal entries, those of later runs are first
		for i, e := range from.entries {
			if from.live(i) && (keep == nil || keep(e.Pk)) {
				m.entries = append(m.entries, e)
			}
		}
	}
	slices.SortStableFunc(m.entries, compareEntries)
	return merged, m
}

// Entries may die while a run is merged, and it may be searched: run with -race.
func TestMergeDuringUse(t *testing.T) {
	rng := testseed.Rand(t)
	dir := t.TempDir()
	m := randomModel(rng, 20000, 7)
	r := write(t, filepath.Join(dir, "a"), 7, len(m.entries), m.entries)
	merged := make(chan *Run)
	go func() {
		to, err := Merge(filepath.Join(dir, "b"), []*Run{r}, nil)
		if err != nil {
			t.Error(err)
		}
		merged <- to
	}()
	s := &Scratch{}
	for range 30 {
		for range 100 {
			slot := int32(rng.IntN(r.Len()))
			r.MarkDead(slot)
			m.dead[slot] = true
		}
		check(t, rng, r, m, s)
	}
	if to := <-merged; to != nil {
		if n := to.Len(); n < r.Len()-r.Dead() || n > r.Len() {
			t.Errorf("%d entries merged of %d, %d of them dead", n, r.Len(), r.Dead())
		}
		_ = to.Close()
	}
}

// Of 100,000 tags that are absent, at most 1.6% pass the filter.
func TestFalsePositives(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 1), 0))
	const n = 200_000
	tags := make([]uint64, n)
	for i := range tags {
		tags[i] = max(rng.Uint64(), 1)
	}
	slices.Sort(tags)
	w, err := Create(filepath.Join(t.TempDir(), "a"), 0, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags {
		if err := w.Add(tag, 0, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found := 0
	for range 100_000 {
		if r.May(rng.Uint64(), 0) {
			found++
		}
	}
	t.Logf("%d of 100000 pass, %.2f bits per entry", found, float64(len(r.filter)*512)/n)
	if found > 1600 {
		t.Errorf("%d of 100000 absent tags pass the filter", found)
	}
}

func TestWriterRejects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	add := func(w *Writer, tag uint64, extra uint16) error { return w.Add(tag, extra, 0, []byte{1}) }
	for name, wrong := range map[string]func(w *Writer) error{
		"tag 0":            func(w *Writer) error { return add(w, 0, 5) },
		"descending tag":   func(w *Writer) error { return errors.Join(add(w, 5, 5), add(w, 4, 9)) },
		"descending extra": func(w *Writer) error { return errors.Join(add(w, 5, 5), add(w, 5, 4)) },
		"payload":          func(w *Writer) error { return w.Add(1, 1, 1, nil) },
	} {
		w, err := Create(path, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := wrong(w); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if add(w, 6, 6) == nil {
			t.Errorf("%s: the next entry is accepted", name)
		}
		if r, err := w.Finish(); r != nil || err == nil {
			t.Errorf("%s: Finish returns %v, %v", name, r, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the file remains: %v", name, err)
		}
		w.Abort()
	}
	if _, err := Create(path, MaxPayload+1, 1); err == nil {
		t.Error("a payload that is too large is accepted")
	}
	if r, err := Open(write(t, path+"l", MaxPayload, 1, []Entry{{Tag: 1, Payload: make([]byte, MaxPayload)}}).Path()); err != nil {
		t.Errorf("the largest payload: %v", err)
	} else {
		_ = r.Close()
	}
	a := write(t, path, 1, 0, nil)
	if _, err := Merge(path+"m", []*Run{a, write(t, path+"b", 2, 0, nil)}, nil); err == nil {
		t.Error("runs of two payload sizes are merged")
	}
	if _, err := Merge(path+"m", nil, nil); err == nil {
		t.Error("no runs are merged")
	}
}

func TestSetDeadBitsRejects(t *testing.T) {
	r := write(t, filepath.Join(t.TempDir(), "a"), 0, 3, []Entry{{Tag: 1}, {Tag: 2}, {Tag: 3}})
	for _, words := range [][]uint64{{}, {0, 0}, {8}} {
		if err := r.SetDeadBits(words); err == nil || !strings.Contains(err.Error(), r.Path()) {
			t.Errorf("%v: %v", words, err)
		}
	}
	if err := r.SetDeadBits([]uint64{5}); err != nil || r.Dead() != 2 {
		t.Errorf("%v, %d dead", err, r.Dead())
	}
	if err := r.SetDeadBits(nil); err != nil || r.Dead() != 0 || r.DeadBits() != nil {
		t.Errorf("%v, %d dead", err, r.Dead())
	}
}

// Every changed byte and every truncation is found, by Open or by the first use of a page. Nothing panics.
func TestDamage(t *testing.T) {
	rng := testseed.Rand(t)
	path := filepath.Join(t.TempDir(), "a")
	m := randomModel(rng, 1000, 2)
	good := write(t, path, 2, len(m.entries), m.entries)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	use := func() error { // finds all entries
		r, err := Open(path)
		if err != nil {
			return err
		}
		defer r.Close()
		var qs []Query
		for _, e := range m.entries {
			qs = append(qs, Query{Tag: e.Tag, Extra: e.Extra})
		}
		if err := r.Lookup(qs, &Scratch{}); err != nil {
			return err
		}
		return nil
	}
	fails := func(what string, at int, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := use(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s %d: %v", what, at, err)
		}
	}
	if err := use(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		at := rng.IntN(len(want))
		b := slices.Clone(want)
		b[at] ^= 1 << rng.IntN(8)
		fails("changed byte", at, b)
		fails("truncated to", at, want[:at])
	}
	for range 100 { // with correct checksums there may be no error
		b := slices.Clone(want)
		b[rng.IntN(len(want))] ^= 1 << rng.IntN(8)
		b[rng.IntN(72)] ^= byte(rng.IntN(2) << rng.IntN(8))
		seal(b)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = use()
	}
	fails("longer by", 1, append(slices.Clone(want), 0))
	swapped := slices.Clone(want)
	copy(swapped[good.layout.pageAt(0):][:pageSize], want[good.layout.pageAt(1):])
	copy(swapped[good.layout.pageAt(1):][:pageSize], want[good.layout.pageAt(0):])
	fails("pages exchanged", 1, swapped)
	// A file that is truncated while it is in use.
	if err := os.Truncate(path, good.layout.pageAt(1)); err != nil {
		t.Fatal(err)
	}
	last := m.entries[len(m.entries)-1]
	if err := good.Lookup([]Query{{Tag: last.Tag, Extra: last.Extra}}, &Scratch{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("truncated in use: %v", err)
	}
	if _, err := Merge(path+"m", []*Run{good}, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("truncated in use, merged: %v", err)
	}
	if _, err := os.Stat(path + "m"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a failed merge: %v", err)
	}
	if _, err := Open(path + "none"); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrDamaged) {
		t.Errorf("a missing file: %v", err)
	}
}

// Open and the use of what it opens never panic. The fuzzer sees through the checksums of the header and the pages.
func FuzzOpen(f *testing.F) {
	for _, n := range []int{0, 1, 500} {
		path := filepath.Join(f.TempDir(), "a")
		m := randomModel(rand.New(rand.NewPCG(uint64(n), 0)), n, 2)
		write(f, path, 2, n, m.entries)
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint64(1)<<63)
	}
	f.Fuzz(func(t *testing.T, b []byte, tag uint64) {
		b = slices.Clone(b)
		seal(b)
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		_ = r.MapFilter()
		_ = r.Lookup([]Query{{Tag: 1}, {Tag: tag}, {Tag: math.MaxUint64}}, &Scratch{})
		for range r.All() {
		}
	})
}

// seal sets the checksums of a damaged run, if its header describes a file of its size.
func seal(b []byte) {
	if len(b) < headerSize {
		return
	}
	sum := func() { binary.LittleEndian.PutUint32(b[68:], checksum(0, b[:68])) }
	sum()
	l, err := parseHeader(b, int64(len(b)))
	if err != nil {
		return
	}
	for i := range l.pages {
		page := b[l.pageAt(i):][:pageSize]
		binary.LittleEndian.PutUint32(page[pageData:], checksum(uint32(i), page[:pageData]))
	}
	binary.LittleEndian.PutUint32(b[64:], checksum(0, b[l.filterAt():]))
	sum()
}
