package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/tidwall/btree"

	"birthmark/storage"
)

type row struct {
	prefix     uint64 // of key, padded with zeros: most comparisons end here
	key, value []byte
}

func newRow(key, value []byte) row {
	if len(key) >= 8 {
		return row{binary.BigEndian.Uint64(key), key, value}
	}
	var padded [8]byte
	copy(padded[:], key)
	return row{binary.BigEndian.Uint64(padded[:]), key, value}
}

func less(a, b row) bool {
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	return bytes.Compare(a.key, b.key) < 0
}

type tree = btree.BTreeG[row]

func newTree() *tree {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// families is a state of the store: the rows of each family. It is immutable once the store holds it.
type families map[storage.Family]*tree

// Store implements [storage.Store].
type Store struct {
	gate   storage.Gate
	update sync.Mutex // serialises updates

	mu       sync.Mutex
	families families
	version  uint64 // number of changes of families
}

// New creates an empty store.
func New() *Store { return &Store{families: families{}} }

// Clone returns a store with the same rows. It copies none: trees are copied when they are written.
func (s *Store) Clone() *Store { return &Store{families: s.state().families} }

func (s *Store) state() reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return reader{s.families, s.version}
}

// change replaces the state by what change makes of a copy of it, unless change fails. Changes run one at a time.
func (s *Store) change(change func(next families) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.update.Lock()
	defer s.update.Unlock()
	next := maps.Clone(s.state().families)
	if err := change(next); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.families = next
	s.version++
	return nil
}

// Declare implements [storage.Store].
func (s *Store) Declare(ds ...storage.Declaration) error {
	return s.change(func(next families) error {
		for _, d := range ds {
			if next[d.Family] == nil {
				next[d.Family] = newTree()
			}
		}
		return nil
	})
}

// View implements [storage.Store].
func (s *Store) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(s.state())
}

// Update implements [storage.Store].
func (s *Store) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.change(func(next families) error {
		before := s.state()
		b := batch{from: before.families, to: families{}}
		err := fn(before, &b)
		maps.Copy(next, b.to)
		return cmp.Or(err, b.err, ctx.Err())
	})
}

// Drop implements [storage.Store].
func (s *Store) Drop(ctx context.Context, ds ...storage.Declaration) error {
	return s.change(func(next families) error {
		for _, d := range ds {
			delete(next, d.Family)
		}
		return ctx.Err()
	})
}

// Close implements [storage.Store].
func (s *Store) Close() error {
	s.gate.Close()
	return nil
}

// Size implements [storage.Sizer]. It returns the bytes of keys and values.
func (s *Store) Size(f storage.Family) (n int64, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	t, err := s.state().tree(f)
	if err != nil {
		return 0, err
	}
	t.Scan(func(r row) bool {
		n += int64(len(r.key) + len(r.value))
		return true
	})
	return n, nil
}

func (fs families) tree(f storage.Family) (*tree, error) {
	t := fs[f]
	if t == nil {
		return nil, fmt.Errorf("family %d is not declared", f)
	}
	return t, nil
}

type batch struct {
	from, to families
	err      error
}

// tree returns the batch's copy of a family.
func (b *batch) tree(f storage.Family) *tree {
	if t := b.to[f]; t != nil {
		return t
	}
	t, err := b.from.tree(f)
	if err != nil {
		b.err = err
		return newTree()
	}
	b.to[f] = t.IsoCopy()
	return b.to[f]
}

func (b *batch) Put(f storage.Family, key, value []byte) {
	kv := make([]byte, len(key)+len(value)) // one allocation
	n := copy(kv, key)
	copy(kv[n:], value)
	b.tree(f).Set(newRow(kv[:n:n], kv[n:]))
}

func (b *batch) Delete(f storage.Family, key []byte) { b.tree(f).Delete(newRow(key, nil)) }

// reader implements [storage.Reader] and [storage.Versioned].
type reader struct {
	families
	version uint64
}

// Version implements [storage.Versioned].
func (r reader) Version() (uint64, bool) { return r.version, true }

func (r reader) Get(f storage.Family, key []byte) ([]byte, error) {
	values, err := r.GetMany(f, [][]byte{key})
	if err == nil && values[0] == nil {
		err = storage.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

func (r reader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	t, err := r.tree(f)
	if err != nil {
		return nil, err
	}
	values := make([][]byte, len(keys))
	for i, key := range keys {
		if found, ok := t.Get(newRow(key, nil)); ok {
			values[i] = append([]byte{}, found.value...)
		}
	}
	return values, nil
}

func (r reader) Suffixes(f storage.Family, heads [][]byte) ([][]byte, error) {
	t, err := r.tree(f)
	if err != nil {
		return nil, err
	}
	tails := make([][]byte, len(heads))
	for i, head := range heads {
		t.Ascend(newRow(head, nil), func(found row) bool {
			tail, ok := bytes.CutPrefix(found.key, head)
			if !ok {
				return false
			}
			if tails[i] == nil {
				tails[i] = []byte{}
			}
			tails[i] = append(tails[i], tail...)
			return true
		})
	}
	return tails, nil
}

func (r reader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		t, err := r.tree(f)
		if err != nil {
			yield(storage.KV{}, err)
			return
		}
		from, to := slices.Clone(from), slices.Clone(to)
		visit := func(found row) bool {
			if !reverse && to != nil && bytes.Compare(found.key, to) >= 0 {
				return false
			}
			if reverse && to != nil && bytes.Equal(found.key, to) {
				return true
			}
			if reverse && bytes.Compare(found.key, from) < 0 {
				return false
			}
			return yield(storage.KV{Key: found.key, Value: found.value}, nil)
		}
		switch {
		case !reverse:
			t.Ascend(newRow(from, nil), visit)
		case to == nil:
			t.Reverse(visit)
		default:
			t.Descend(newRow(to, nil), visit)
		}
	}
}
