package storetest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/storage"
)

var randomGuarantees = []guarantee{
	{"any sequence of operations answers like a map", func(t *testing.T, s storage.Store) {
		m := newModel(testseed.Rand(t))
		for range 120 {
			m.step(t, s)
		}
		m.compare(t, s)
	}},
}

// model is the reference: a map per family.
type model struct {
	rng  *rand.Rand
	rows map[storage.Family]map[string]string
}

func newModel(rng *rand.Rand) *model {
	m := &model{rng, map[storage.Family]map[string]string{}}
	for _, f := range families {
		m.rows[f] = map[string]string{}
	}
	return m
}

// step applies one random operation to the store and the model and compares the results.
func (m *model) step(t *testing.T, s storage.Store) {
	t.Helper()
	switch n := m.rng.IntN(100); {
	case n < 50:
		m.update(t, s, nil)
	case n < 60:
		m.update(t, s, errors.New("given up"))
	case n < 97:
		view(t, s, func(r storage.Reader) { m.read(t, r) })
	case n < 99:
		if flusher, ok := s.(storage.Flusher); ok {
			if err := flusher.Flush(context.Background()); err != nil {
				t.Fatalf("flush: %v", err)
			}
		}
	default:
		if compactor, ok := s.(storage.Compactor); ok {
			if err := compactor.Compact(context.Background()); err != nil {
				t.Fatalf("compact: %v", err)
			}
		}
	}
}

// update changes random rows, or none if it ends with an error.
func (m *model) update(t *testing.T, s storage.Store, end error) {
	t.Helper()
	next := map[storage.Family]map[string]string{}
	for f, rows := range m.rows {
		next[f] = maps.Clone(rows)
	}
	err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		for range m.rng.IntN(40) {
			f, key := m.family(), m.key()
			if m.rng.IntN(3) == 0 {
				delete(next[f], string(key))
				b.Delete(f, key)
				continue
			}
			value := make([]byte, m.rng.IntN(30))
			if m.rng.IntN(50) == 0 {
				value = make([]byte, m.rng.IntN(20_000))
			}
			for i := range value {
				value[i] = byte(m.rng.Uint32())
			}
			next[f][string(key)] = string(value)
			b.Put(f, key, value)
		}
		m.read(t, r) // the state before
		return end
	})
	if !errors.Is(err, end) {
		t.Fatalf("update: %v, want %v", err, end)
	}
	if end == nil {
		m.rows = next
	}
}

// read compares the results of random reads.
func (m *model) read(t *testing.T, r storage.Reader) {
	t.Helper()
	for range 5 {
		f := m.family()
		keys := make([][]byte, m.rng.IntN(20))
		for i := range keys {
			keys[i] = m.key()
		}
		values, err := r.GetMany(f, keys)
		if err != nil || len(values) != len(keys) {
			t.Fatalf("GetMany(%d, %x) = %x, %v", f, keys, values, err)
		}
		for i, key := range keys {
			want, there := m.rows[f][string(key)]
			one, err := r.Get(f, key)
			if there != (err == nil) || !there && !errors.Is(err, storage.ErrNotFound) || string(one) != want {
				t.Fatalf("Get(%d, %x) = %x, %v; want %x, there %t", f, key, one, err, want, there)
			}
			if (values[i] != nil) != there || string(values[i]) != want {
				t.Fatalf("GetMany(%d): %x is %x, want %x, there %t", f, key, values[i], want, there)
			}
		}
		m.readSuffixes(t, r)
		from, to, reverse, limit := m.bound(), m.bound(), m.rng.IntN(2) == 0, m.rng.IntN(30)
		want := m.scan(f, from, to, reverse)
		want = want[:min(limit, len(want))]
		if got := scan(t, r, f, from, to, reverse, limit); !slices.Equal(got, want) {
			t.Fatalf("Scan(%d, %x, %x, %t), %d rows: %x, want %x", f, from, to, reverse, limit, got, want)
		}
		m.readTogether(t, r)
	}
}

// readTogether compares ranges and keys of several families.
func (m *model) readTogether(t *testing.T, r storage.Reader) {
	t.Helper()
	reads := make([]*storage.Read, m.rng.IntN(4))
	for i := range reads {
		reads[i] = &storage.Read{Family: m.family()}
		for range m.rng.IntN(4) {
			reads[i].Ranges = append(reads[i].Ranges, storage.Range{From: m.bound(), To: m.bound(), Limit: m.rng.IntN(20)})
		}
		if reads[i].Ranges == nil {
			reads[i].Keys = [][]byte{m.key(), m.key()}
		}
	}
	together(t, r, reads...)
	for _, read := range reads {
		for i, key := range read.Keys {
			if want, there := m.rows[read.Family][string(key)]; string(read.Values[i]) != want || there != (read.Values[i] != nil) {
				t.Fatalf("ReadTogether(%d): %x is %x, want %x, there %t", read.Family, key, read.Values[i], want, there)
			}
		}
		for i, of := range read.Ranges {
			want := m.scan(read.Family, of.From, of.To, false)
			if of.Limit > 0 {
				want = want[:min(of.Limit, len(want))]
			}
			if got := rowsOf(read.Rows[i]); !slices.Equal(got, want) {
				t.Fatalf("ReadTogether(%d, %x, %x), limit %d: %x, want %x", read.Family, of.From, of.To, of.Limit, got, want)
			}
		}
	}
}

func (m *model) readSuffixes(t *testing.T, r storage.Reader) {
	t.Helper()
	prefixes := make([][]byte, m.rng.IntN(20))
	for i := range prefixes {
		prefixes[i] = append([]byte("prefix"), m.key()...)
		prefixes[i] = append(prefixes[i], "k"...)[:storage.PrefixSize]
	}
	suffixes, err := r.Suffixes(hashed, prefixes)
	if err != nil || len(suffixes) != len(prefixes) {
		t.Fatalf("Suffixes(%x) = %x, %v", prefixes, suffixes, err)
	}
	for i, prefix := range prefixes {
		var want []byte
		for _, row := range m.scan(hashed, prefix, nil, false) {
			tail, ok := strings.CutPrefix(row.key, string(prefix))
			if !ok {
				break
			}
			want = append(append([]byte{}, want...), tail...)
		}
		if !bytes.Equal(suffixes[i], want) || (suffixes[i] == nil) != (want == nil) {
			t.Fatalf("Suffixes: %x has %#v, want %#v", prefix, suffixes[i], want)
		}
	}
}

func (m *model) scan(f storage.Family, from, to []byte, reverse bool) (rows []row) {
	for _, key := range slices.Sorted(maps.Keys(m.rows[f])) {
		if (from == nil || key >= string(from)) && (to == nil || key < string(to)) {
			rows = append(rows, row{key, m.rows[f][key]})
		}
	}
	if reverse {
		slices.Reverse(rows)
	}
	return rows
}

// compare fails unless the store has exactly the rows of the model.
func (m *model) compare(t *testing.T, s storage.Store) {
	t.Helper()
	want := content{}
	for _, f := range families {
		if rows := m.scan(f, nil, nil, false); rows != nil {
			want[f] = rows
		}
	}
	if got := all(t, s); !reflect.DeepEqual(got, want) {
		t.Fatalf("the store holds %s, want %s", got, want)
	}
}

func (m *model) family() storage.Family { return families[m.rng.IntN(len(families))] }

// key returns one of few keys, so that they repeat, with bytes of extreme values and lengths around the eight bytes
// that rocks sorts by first.
func (m *model) key() []byte {
	alphabet := []byte{0, 1, 'k', 0x7f, 0x80, 0xff}
	key := make([]byte, 1+m.rng.IntN(3))
	for i := range key {
		key[i] = alphabet[m.rng.IntN(len(alphabet))]
	}
	if m.rng.IntN(4) == 0 {
		key = slices.Concat([]byte("prefix"), key)
	}
	return key
}

func (m *model) bound() []byte {
	if m.rng.IntN(4) == 0 {
		return nil
	}
	return m.key()
}
