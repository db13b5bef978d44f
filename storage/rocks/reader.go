package rocks

import (
	"iter"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// reader implements [storage.Reader], [storage.TogetherReader] and [storage.Versioned] on a snapshot. A read-only database
// does not change and needs none.
type reader struct {
	s        *Store
	snapshot *grocksdb.Snapshot
	version  uint64 // of Store.writes; odd: unknown
}

func (s *Store) newReader() *reader {
	if s.options.ReadOnly {
		return &reader{s: s}
	}
	s.snapshotMu.RLock()
	defer s.snapshotMu.RUnlock()
	r := &reader{s: s, version: s.writes.Load()}
	r.snapshot = s.db.NewSnapshot()
	if s.writes.Load() != r.version {
		r.version = 1 // a write ran meanwhile
	}
	return r
}

// Version implements [storage.Versioned].
func (r *reader) Version() (uint64, bool) { return r.version, r.version%2 == 0 }

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
	read := storage.Read{Family: f, Keys: keys}
	err := r.readMany(&read)
	return read.Values, err
}

// Suffixes implements [storage.Reader].
func (r *reader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	read := storage.Read{Family: f, Prefixes: prefixes}
	err := r.readMany(&read)
	return read.Values, err
}

// ReadTogether implements [storage.TogetherReader].
func (r *reader) ReadTogether(reads []*storage.Read) (err error) {
	many := make([]*storage.Read, 0, len(reads))
	for _, read := range reads {
		if len(read.Ranges) == 0 {
			many = append(many, read)
		} else if read.Rows, err = r.ranges(read.Family, read.Ranges); err != nil {
			return err
		}
	}
	return r.readMany(many...)
}

func (r *reader) ranges(f storage.Family, ranges []storage.Range) ([][]storage.KV, error) {
	h, err := r.s.column(f)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return make([][]storage.KV, len(ranges)), nil
	}
	rows, err := readRanges(r.s.db, h, r.snapshot, ranges)
	if err != nil {
		return nil, r.s.failed("scan", err)
	}
	return rows, nil
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
