package core_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	gosync "sync"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// distant is a store in memory whose calls take a millisecond, on the clock of a synctest bubble. So the time of a query
// is the number of calls that follow one another; calls that run concurrently count once.
type distant struct {
	storage.Store
	names map[storage.Family]string
	mu    gosync.Mutex
	began time.Time
	calls []string
}

const roundTrip = time.Millisecond

func (s *distant) Declare(ds ...storage.Declaration) error {
	for _, d := range ds {
		s.names[d.Family] = d.Name
	}
	return s.Store.Declare(ds...)
}

// call waits for a call and records its start.
func (s *distant) call(what string, parts ...string) {
	s.mu.Lock()
	at := time.Since(s.began) / roundTrip
	s.calls = append(s.calls, fmt.Sprintf("%3d %s %s", at+1, what, strings.Join(parts, ", ")))
	s.mu.Unlock()
	time.Sleep(roundTrip)
}

func (s *distant) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(distantReader{r, s}) })
}

func (s *distant) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		if err := fn(distantReader{r, s}, b); err != nil {
			return err
		}
		s.call("write")
		return nil
	})
}

type distantReader struct {
	storage.Reader
	s *distant
}

func (r distantReader) Version() (uint64, bool) { return r.Reader.(storage.Versioned).Version() }

// part describes a read.
func (r distantReader) part(read *storage.Read) string {
	n, what := len(read.Keys), "keys"
	switch {
	case len(read.Prefixes) > 0:
		n, what = len(read.Prefixes), "prefixes"
	case len(read.Ranges) > 0:
		n, what = len(read.Ranges), "ranges"
	}
	return fmt.Sprintf("%s (%d %s)", r.s.names[read.Family], n, what)
}

func (r distantReader) ReadTogether(reads []*storage.Read) error {
	var parts []string
	for _, read := range reads {
		parts = append(parts, r.part(read))
	}
	r.s.call("together", parts...)
	return storage.ReadTogether(r.Reader, reads...)
}

func (r distantReader) Get(f storage.Family, key []byte) ([]byte, error) {
	r.s.call("get", r.s.names[f])
	return r.Reader.Get(f, key)
}

func (r distantReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	if len(keys) > 0 {
		r.s.call("get many", r.part(&storage.Read{Family: f, Keys: keys}))
	}
	return r.Reader.GetMany(f, keys)
}

func (r distantReader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	if len(prefixes) > 0 {
		r.s.call("suffixes", r.part(&storage.Read{Family: f, Prefixes: prefixes}))
	}
	return r.Reader.Suffixes(f, prefixes)
}

// scannedRows is the number of rows of a scan that one call returns.
const scannedRows = 128

func (r distantReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		n := 0
		for kv, err := range r.Reader.Scan(f, from, to, reverse) {
			if n%scannedRows == 0 {
				r.s.call("scan", r.s.names[f])
			}
			if n++; !yield(kv, err) {
				return
			}
		}
		if n == 0 {
			r.s.call("scan", r.s.names[f])
		}
	}
}

// sequence fails the test if do makes more than the given number of sequential calls, and prints them.
func (s *distant) sequence(t *testing.T, what string, most int, do func() error) {
	t.Helper()
	s.calls, s.began = nil, time.Now()
	err := do()
	if n := int(time.Since(s.began) / roundTrip); n > most || err != nil {
		t.Errorf("%s takes %d sequential calls, expected at most %d (%v):\n%s", what, n, most, err, strings.Join(s.calls, "\n"))
	}
}

// Queries and blocks at the tip of a distant store take few sequential calls, on every variant of a chain and with every
// option of indexes, even if nothing is cached. Growth beyond one machine depends on these numbers.
func TestDistantStoresTakeFewSequentialCalls(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 900)).Blocks(44)
		blocks, later := blocks[:40], blocks[40:]
		inner := memory.New()
		appendAll(t, open(t, inner, v, 1<<20), blocks, 10)
		synctest.Test(t, func(t *testing.T) {
			s := &distant{Store: inner, names: map[storage.Family]string{}}
			ctx, chain := t.Context(), v.Chain("one")
			// fresh opens the database again, so that no label is cached, and reads the state.
			fresh := func() *core.DB {
				db := open(t, s, v, 0)
				if _, err := db.Block(ctx, "tip"); err != nil {
					t.Fatal(err)
				}
				return db
			}
			places := 0 // reads of the places of raw transactions
			if v.Placed {
				places = 2
			}
			var hashes []string
			for _, b := range blocks[len(blocks)-4:] {
				for i := range b.Txs {
					hash := chain.FormatHash(b.Txs[i].Hash)
					hashes = append(hashes, hash)
					db := fresh()
					s.sequence(t, "a transaction", 5+places, func() error { _, err := db.Tx(ctx, hash); return err })
					db = fresh()
					s.sequence(t, "an output", 8, func() error { _, err := db.Output(ctx, query.OutputRef(hash, b.Txs[i].OutputIndex(0))); return err })
					for _, k := range b.Txs[i].Outputs[0].Keys {
						index, value := modeltest.IndexNames[k.Index], chain.Indexes()[k.Index].Format(k.Value)
						page := query.Page{Limit: 10, Descending: true}
						db = fresh()
						s.sequence(t, "a page of "+index, 5, func() error { _, err := db.Find(ctx, index, value, query.Terms{}, page); return err })
						if v.Kept && index == "address" {
							db = fresh()
							a, err := db.Balance(ctx, index, value)
							if err != nil {
								t.Fatal(err)
							}
							names := min(1, len(a.Assets)) // one read for the ids of assets
							db = fresh()
							s.sequence(t, "a stored balance", 3+names, func() error { _, err := db.Balance(ctx, index, value); return err })
						}
					}
				}
			}
			db := fresh()
			s.sequence(t, fmt.Sprint(len(hashes), " transactions"), 5+places, func() error { _, err := db.Txs(ctx, hashes); return err })
			s.sequence(t, "a locator", 1, func() error { _, err := db.Locator(ctx); return err })
			s.sequence(t, "a block", 3, func() error { _, err := db.Block(ctx, chain.FormatHash(blocks[30].Hash)); return err })
			most := 12
			if v.Tokens {
				most = 13 // the states of the assets that names refer to
			}
			if v.Statistics {
				most += 2 // the sums of the block before, and the rows of days
			}
			db = fresh()
			for i, b := range later {
				switch {
				case !v.Statistics:
					db = fresh()
				case i == 0: // the first block after opening reads the blocks of its day, for the values that they have
					appendAll(t, db, later[:1], 1)
					continue
				}
				s.sequence(t, fmt.Sprintf("appending %d transactions", len(b.Txs)), most, func() error { return db.Append(ctx, []*model.Block{b}) })
			}
		})
	})
}
