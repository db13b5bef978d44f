package rocks

import (
	"iter"
	"runtime"
	"slices"

	"github.com/linxGnu/grocksdb"
	"golang.org/x/sync/errgroup"

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
	return r.readMany(f, keys, readValues)
}

// Suffixes implements [storage.Reader].
func (r *reader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	r.s.lookups.Add(int64(len(prefixes)))
	return r.readMany(f, prefixes, readSuffixes)
}

// keysPerThread is the minimum number of keys that one thread reads. Starting a thread costs less than reading ten keys.
const keysPerThread = 256

// readMany reads parts of keys concurrently, on up to as many threads as there are processors.
func (r *reader) readMany(f storage.Family, keys [][]byte, mode readMode) ([][]byte, error) {
	h, err := r.s.column(f)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return make([][]byte, len(keys)), nil
	}
	n := max(1, min(runtime.GOMAXPROCS(0), len(keys)/keysPerThread))
	if n == 1 {
		found, err := readMany(r.s.db, h, r.snapshot, keys, mode)
		if err != nil {
			return nil, r.s.failed("read", err)
		}
		return found, nil
	}
	size := (len(keys) + n - 1) / n
	all := make([][]byte, len(keys))
	found := all
	var reading errgroup.Group
	for part := range slices.Chunk(keys, size) {
		to := found[:len(part)]
		found = found[len(part):]
		reading.Go(func() error {
			values, err := readMany(r.s.db, h, r.snapshot, part, mode)
			copy(to, values)
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, r.s.failed("read", err)
	}
	return all, nil
}

// ReadTogether implements [storage.TogetherReader].
func (r *reader) ReadTogether(reads []*storage.Read) (err error) {
	for _, read := range reads {
		switch {
		case len(read.Keys) > 0:
			read.Values, err = r.GetMany(read.Family, read.Keys)
		case len(read.Prefixes) > 0:
			read.Values, err = r.Suffixes(read.Family, read.Prefixes)
		default:
			read.Rows, err = r.ranges(read.Family, read.Ranges)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
