package rocks

import (
	"iter"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// reader implements [storage.Reader] over a snapshot. A database that is only read does not change: it needs none.
type reader struct {
	s        *Store
	snapshot *grocksdb.Snapshot
}

func (s *Store) newReader() *reader {
	if s.options.ReadOnly {
		return &reader{s: s}
	}
	s.moment.RLock()
	defer s.moment.RUnlock()
	return &reader{s, s.db.NewSnapshot()}
}

func (r *reader) release() {
	if r.snapshot != nil {
		r.s.db.ReleaseSnapshot(r.snapshot)
	}
}

// Get implements [storage.Reader].
func (r *reader) Get(f storage.Family, key []byte) ([]byte, error) {
	values, err := r.GetMany(f, [][]byte{key})
	if err != nil {
		return nil, err
	}
	if values[0] == nil {
		return nil, storage.ErrNotFound
	}
	return values[0], nil
}

// GetMany implements [storage.Reader].
func (r *reader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	return r.many(f, keys, valuesOf)
}

// Suffixes implements [storage.Reader].
func (r *reader) Suffixes(f storage.Family, heads [][]byte) ([][]byte, error) {
	return r.many(f, heads, tailsOf)
}

func (r *reader) many(f storage.Family, keys [][]byte, what part) ([][]byte, error) {
	h, err := r.s.column(f)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return make([][]byte, len(keys)), nil
	}
	found, err := readMany(r.s.db, h, r.snapshot, keys, what)
	if err != nil {
		return nil, r.s.failed("read", err)
	}
	return found, nil
}

// Scan implements [storage.Reader].
func (r *reader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		h, err := r.s.column(f)
		if err != nil {
			yield(storage.KV{}, err)
			return
		}
		if h == nil {
			return
		}
		s := openScan(r.s.db, h, r.snapshot, from, to, reverse)
		defer s.close()
		for {
			key, value, ok, err := s.next()
			if err != nil {
				yield(storage.KV{}, r.s.failed("scan", err))
				return
			}
			if !ok || !yield(storage.KV{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}
