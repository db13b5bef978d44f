package rocks

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/linxGnu/grocksdb"
	"golang.org/x/sync/errgroup"

	"birthmark/internal/guard"
	"birthmark/storage"
)

const (
	// keysPerThread is the minimum number of keys per thread. Starting a thread costs less than reading ten keys.
	keysPerThread = 256
	// waitingThreads is the number of threads per processor while reads wait for the disk: these waits overlap. Such
	// threads read keysPerPart keys at a time. Otherwise large parts are faster, because their keys share blocks.
	waitingThreads = 4
	keysPerPart    = 64
)

// part is a part of the keys or prefixes of a read. The values are stored in to.
type part struct {
	column *grocksdb.ColumnFamilyHandle
	mode   readMode
	keys   [][]byte
	to     [][]byte
}

// readMany sets the values of reads of keys and prefixes. It reads parts of them concurrently.
func (r *reader) readMany(reads ...*storage.Read) error {
	whole, total := make([]part, 0, 4), 0
	for _, read := range reads {
		p := part{keys: read.Keys}
		if len(p.keys) == 0 {
			p.keys, p.mode = read.Prefixes, readSuffixes
			r.s.lookups.Add(int64(len(p.keys)))
		}
		var err error
		if p.column, err = r.s.column(read.Family); err != nil {
			return err
		}
		read.Values = make([][]byte, len(p.keys))
		if p.to = read.Values; p.column != nil {
			whole, total = append(whole, p), total+len(p.keys)
		}
	}
	threads := max(1, min(runtime.GOMAXPROCS(0), total/keysPerThread))
	size := (total + threads - 1) / threads
	if r.s.waiting.Load() {
		threads, size = max(1, min(waitingThreads*runtime.GOMAXPROCS(0), total/keysPerPart)), keysPerPart
	}
	if total < 2*keysPerPart {
		for _, p := range whole {
			if err := r.readPart(p); err != nil {
				return r.s.failed("read", err)
			}
		}
		return nil
	}
	var parts []part
	for _, p := range whole {
		for keys := range slices.Chunk(p.keys, size) {
			parts = append(parts, part{p.column, p.mode, keys, p.to[:len(keys)]})
			p.to = p.to[len(keys):]
		}
	}
	var next, waits atomic.Int64
	var reading errgroup.Group
	for range threads {
		reading.Go(func() error {
			return guard.Call(func() error {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				before := threadWaits()
				for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
					if err := r.readPart(parts[i]); err != nil {
						return err
					}
				}
				waits.Add(threadWaits() - before)
				return nil
			})
		})
	}
	if err := reading.Wait(); err != nil {
		return r.s.failed("read", err)
	}
	switch n := waits.Load(); { // between these bounds the number of threads stays
	case n > int64(total)/8:
		r.s.waiting.Store(true)
	case n < int64(total)/32:
		r.s.waiting.Store(false)
	}
	return nil
}

func (r *reader) readPart(p part) error {
	return readMany(r.s.db, p.column, r.snapshot, p.keys, p.mode, p.to)
}
