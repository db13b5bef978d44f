package tikv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv/txnsnapshot"

	"birthmark/internal/guard"
	"birthmark/storage"
)

const (
	scanFirst    = 32   // rows of the first request of a scan
	scanMost     = 4096 // rows of a later one
	scanBytes    = 1 << 20
	requestsMost = 64 // at once
)

// reader implements [storage.Reader] at a timestamp. Each call has a snapshot of its own, because one keeps in memory
// every value it ever read.
type reader struct {
	s       *Store
	ctx     context.Context
	ts      uint64
	version uint64
	numbers map[storage.Family]uint32
}

func (r *reader) number(f storage.Family) (uint32, error) {
	number, ok := r.numbers[f]
	if !ok {
		// A family can be declared while a View runs.
		number, ok = r.s.catalogue.numbers()[f]
	}
	if !ok {
		return 0, fmt.Errorf("family %d is not declared", f)
	}
	return number, nil
}

// read runs one request, and again while the cluster does not answer.
func (r *reader) read(request func(*txnsnapshot.KVSnapshot) error) error {
	if lost := r.s.views.lost.Load(); r.ts < lost {
		return fmt.Errorf("%s: the state that is read was garbage collected: begin again; if this repeats, a writer must finish its update", r.s.config)
	}
	return r.s.retry(r.ctx, func() error {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.s.calls.reads.Add(1)
		return request(r.s.client.GetSnapshot(r.ts))
	})
}

// Get implements [storage.Reader].
func (r *reader) Get(f storage.Family, key []byte) ([]byte, error) {
	values, err := r.GetMany(f, [][]byte{key})
	if err == nil && values[0] == nil {
		err = storage.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// GetMany implements [storage.Reader].
func (r *reader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	read := &storage.Read{Family: f, Keys: keys}
	if err := r.keys([]*storage.Read{read}); err != nil {
		return nil, err
	}
	return read.Values, nil
}

// keys reads the keys of several families in one request.
func (r *reader) keys(reads []*storage.Read) error {
	rows, unique := make([][][]byte, len(reads)), [][]byte{}
	for i, read := range reads {
		number, err := r.number(read.Family)
		if err != nil {
			return err
		}
		read.Values = make([][]byte, len(read.Keys))
		if number == nothing {
			continue
		}
		rows[i] = make([][]byte, len(read.Keys))
		for j, key := range read.Keys {
			rows[i][j] = r.s.keys.row(number, key)
		}
		unique = append(unique, rows[i]...)
	}
	requested := len(unique)
	slices.SortFunc(unique, bytes.Compare)
	if unique = slices.CompactFunc(unique, bytes.Equal); len(unique) == 0 {
		return nil
	}
	var found map[string][]byte
	err := r.read(func(snapshot *txnsnapshot.KVSnapshot) (err error) {
		found, err = snapshot.BatchGet(r.ctx, unique)
		return err
	})
	if err != nil {
		return err
	}
	for i, read := range reads {
		for j, row := range rows[i] {
			stored, ok := found[string(row)]
			if !ok {
				continue
			}
			value := unescape(stored)
			if len(unique) < requested {
				value = append(make([]byte, 0, len(value)), value...) // another key may be the same
			}
			read.Values[j] = value
		}
	}
	return nil
}

// Version implements [storage.Versioned].
func (r *reader) Version() (uint64, bool) { return r.version, true }

// ReadTogether implements [storage.TogetherReader]: all keys in one request, and everything else beside it.
func (r *reader) ReadTogether(reads []*storage.Read) error {
	var keys []*storage.Read
	var tasks []func() error
	for _, read := range reads {
		switch {
		case len(read.Keys) > 0:
			keys = append(keys, read)
		case len(read.Prefixes) > 0:
			tasks = append(tasks, func() (err error) {
				read.Values, err = r.Suffixes(read.Family, read.Prefixes)
				return err
			})
		default:
			read.Rows = make([][]storage.KV, len(read.Ranges))
			for i := range read.Ranges {
				tasks = append(tasks, func() (err error) {
					read.Rows[i], err = r.rangeOf(read.Family, read.Ranges[i])
					return err
				})
			}
		}
	}
	if len(keys) > 0 {
		tasks = append(tasks, func() error { return r.keys(keys) })
	}
	return atOnce(len(tasks), func(i int) error { return tasks[i]() })
}

// rangeOf reads a range. The rows belong to the caller.
func (r *reader) rangeOf(f storage.Family, of storage.Range) (kvs []storage.KV, err error) {
	number, err := r.number(f)
	if err != nil || number == nothing {
		return nil, err
	}
	first, end := r.s.keys.bounds(number, of.From, of.To)
	for bytes.Compare(first, end) < 0 {
		n := scanMost
		if of.Limit > 0 {
			n = min(n, of.Limit-len(kvs))
		}
		got := r.fetch(first, end, n, false)
		if got.err != nil {
			return nil, got.err
		}
		for _, kv := range got.kvs {
			kvs = append(kvs, storage.KV{Key: kv.Key[r.s.keys.head():], Value: unescape(kv.Value)})
		}
		if len(got.kvs) < n || len(kvs) == of.Limit {
			break
		}
		first = append(bytes.Clone(got.kvs[len(got.kvs)-1].Key), 0)
	}
	return kvs, nil
}

// atOnce runs do for 0 to n-1, several at once, and returns an error of one.
func atOnce(n int, do func(i int) error) error {
	var next atomic.Int64
	var failed error
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := guard.Call(func() error { return do(i) }); err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				next.Store(int64(n))
			}
		}
	}
	for range min(requestsMost, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return failed
}

// Suffixes implements [storage.Reader].
func (r *reader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	number, err := r.number(f)
	if err != nil {
		return nil, err
	}
	suffixes := make([][]byte, len(prefixes))
	if len(prefixes) == 0 || number == nothing {
		return suffixes, nil
	}
	err = atOnce(len(prefixes), func(i int) (err error) {
		suffixes[i], err = r.suffixes(number, prefixes[i])
		return err
	})
	return suffixes, err
}

func (r *reader) suffixes(number uint32, prefix []byte) (found []byte, err error) {
	first := r.s.keys.row(number, prefix)
	err = r.read(func(snapshot *txnsnapshot.KVSnapshot) error {
		found = nil
		snapshot.SetKeyOnly(true)
		snapshot.SetScanBatchSize(16)
		it, err := snapshot.Iter(first, following(first))
		if err != nil {
			return err
		}
		defer it.Close()
		for it.Valid() {
			if found == nil {
				found = []byte{}
			}
			found = append(found, it.Key()[len(first):]...)
			if err := it.Next(); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// following is the first key after all keys with a prefix. A key of the store never consists of 0xff only.
func following(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}

// Scan implements [storage.Reader]. It requests the next rows while the last ones are consumed.
func (r *reader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	from, to = bytes.Clone(from), bytes.Clone(to)
	return func(yield func(storage.KV, error) bool) {
		number, err := r.number(f)
		if err != nil {
			yield(storage.KV{}, err)
			return
		}
		first, end := r.s.keys.bounds(number, from, to)
		if number == nothing || bytes.Compare(first, end) >= 0 {
			return
		}
		var pending chan rows
		defer func() {
			if pending != nil {
				<-pending // the store must not close before the request ends
			}
		}()
		got := r.fetch(first, end, scanFirst, reverse)
		for asked := scanFirst; ; {
			if got.err != nil {
				yield(storage.KV{}, got.err)
				return
			}
			more := len(got.kvs) == asked
			if more {
				last := got.kvs[len(got.kvs)-1].Key
				if reverse {
					end = bytes.Clone(last)
				} else {
					first = append(bytes.Clone(last), 0)
				}
				asked = min(4*asked, scanMost, max(1, scanBytes*asked/max(1, got.bytes)))
				pending = make(chan rows, 1)
				go func(first, end []byte, asked int, to chan rows) {
					var next rows
					err := guard.Call(func() error { next = r.fetch(first, end, asked, reverse); return nil })
					next.err = cmp.Or(next.err, err)
					to <- next
				}(first, end, asked, pending)
			}
			for _, kv := range got.kvs {
				if !yield(storage.KV{Key: kv.Key[r.s.keys.head():], Value: unescape(kv.Value)}, nil) {
					return
				}
			}
			if !more {
				return
			}
			got = <-pending
			pending = nil
		}
	}
}

type rows struct {
	kvs   []storage.KV
	bytes int
	err   error
}

// fetch reads at most n rows of [first, end), or its last ones in descending order.
func (r *reader) fetch(first, end []byte, n int, reverse bool) (got rows) {
	got.err = r.read(func(snapshot *txnsnapshot.KVSnapshot) error {
		got.kvs, got.bytes = got.kvs[:0], 0
		snapshot.SetScanBatchSize(max(n, 2)) // client-go replaces 1 by its default
		iterate := func() (interface {
			Valid() bool
			Key() []byte
			Value() []byte
			Next() error
			Close()
		}, error) {
			if reverse {
				return snapshot.IterReverse(end)
			}
			return snapshot.Iter(first, end)
		}
		it, err := iterate()
		if err != nil {
			return err
		}
		defer it.Close()
		// IterReverse has no lower bound.
		for it.Valid() && (!reverse || bytes.Compare(it.Key(), first) >= 0) {
			got.kvs = append(got.kvs, storage.KV{Key: it.Key(), Value: it.Value()})
			got.bytes += len(it.Key()) + len(it.Value())
			if len(got.kvs) == n {
				return nil
			}
			if err := it.Next(); err != nil {
				return err
			}
		}
		return nil
	})
	return got
}

func notFound(err error) bool { return tikverr.IsErrNotFound(err) }
