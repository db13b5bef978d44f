package rocks

import (
	"iter"
	"runtime"
	"sync"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// reader implements [storage.Reader] on a snapshot. A read-only database does not change and needs none.
type reader struct {
	s        *Store
	snapshot *grocksdb.Snapshot
}

func (s *Store) newReader() *reader {
	if s.options.ReadOnly {
		return &reader{s: s}
	}
	s.snapshotMu.RLock()
	defer s.snapshotMu.RUnlock()
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
	return r.readMany(f, keys, readValues)
}

// Suffixes implements [storage.Reader].
func (r *reader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	return r.readMany(f, prefixes, readSuffixes)
}

func (r *reader) readMany(f storage.Family, keys [][]byte, mode readMode) ([][]byte, error) {
	h, err := r.s.column(f)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return make([][]byte, len(keys)), nil
	}
	found := make([][]byte, 0, len(keys))
	for part, err := range inParallel(keys, func(keys [][]byte) ([][]byte, error) {
		return readMany(r.s.db, h, r.snapshot, keys, mode)
	}) {
		if err != nil {
			return nil, r.s.failed("read", err)
		}
		found = append(found, part...)
	}
	return found, nil
}

// keysPerThread is how many keys one thread reads at least. Starting a thread costs less than reading ten keys.
const keysPerThread = 256

// inParallel reads parts of keys at the same time, on as many threads as there are processors, and yields the results
// in the order of keys.
func inParallel(keys [][]byte, read func([][]byte) ([][]byte, error)) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		n := max(1, min(runtime.GOMAXPROCS(0), len(keys)/keysPerThread))
		size := (len(keys) + n - 1) / n
		found, errs := make([][][]byte, n), make([]error, n)
		var reading sync.WaitGroup
		for i := range n {
			part := keys[i*size : min((i+1)*size, len(keys))]
			if i == n-1 {
				found[i], errs[i] = read(part)
				break
			}
			reading.Go(func() { found[i], errs[i] = read(part) })
		}
		reading.Wait()
		for i := range n {
			if !yield(found[i], errs[i]) {
				return
			}
		}
	}
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
