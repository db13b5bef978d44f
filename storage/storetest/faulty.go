package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"birthmark/storage"
)

// ErrInjected is wrapped by every failure of a [Faulty].
var ErrInjected = errors.New("injected failure")

// Faulty is a store that fails once, at a step chosen with [Faulty.FailAt]. Steps are: every Get, GetMany, Suffixes and
// ReadTogether, the start of every Scan and its rows 1, 2, 4, 8 and so on, and the end of every Update's fn, where the write would
// follow. A failing step does nothing else; the steps after it succeed.
type Faulty struct {
	storage.Store // Declare, Drop and Close are not steps

	mu     sync.Mutex
	steps  int
	failAt int  // 0: none
	panics bool // the failing step panics
	viewed []func(ctx context.Context, rows int64)
}

// NewFaulty wraps a store. Nothing fails until FailAt is called.
func NewFaulty(inner storage.Store) *Faulty { return &Faulty{Store: inner} }

// FailAt makes the n-th step from now fail, counted from 1; with 0 none fails. It replaces an earlier call.
func (s *Faulty) FailAt(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.failAt = 0, n
}

// Panics makes failing steps panic, or return errors again.
func (s *Faulty) Panics(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panics = on
}

// OnView calls viewed at the end of each View with the rows that it read: keys, begins of scans, and rows of scans.
func (s *Faulty) OnView(viewed func(ctx context.Context, rows int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewed = append(slices.Clip(s.viewed), viewed)
}

// Steps returns the number of steps since the last FailAt, including the one that failed.
func (s *Faulty) Steps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps
}

func (s *Faulty) step(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps++
	if s.steps == s.failAt && s.panics {
		panic(what)
	}
	if s.steps == s.failAt {
		return fmt.Errorf("%w at step %d, %s", ErrInjected, s.steps, what)
	}
	return nil
}

// View implements [storage.Store].
func (s *Faulty) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error {
		var rows atomic.Int64
		s.mu.Lock()
		all := s.viewed
		s.mu.Unlock()
		defer func() {
			for _, viewed := range all {
				viewed(ctx, rows.Load())
			}
		}()
		return fn(faultyReader{s, r, &rows})
	})
}

// Update implements [storage.Store].
func (s *Faulty) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		if err := fn(faultyReader{s, r, new(atomic.Int64)}, b); err != nil {
			return err
		}
		return s.step("the write of an update")
	})
}

type faultyReader struct {
	s     *Faulty
	inner storage.Reader
	rows  *atomic.Int64 // that were read
}

// read counts n rows that a step reads, unless it fails.
func (r faultyReader) read(n int, step string, family storage.Family) error {
	err := r.s.step(fmt.Sprintf(step, family))
	if err == nil {
		r.rows.Add(int64(n))
	}
	return err
}

func (r faultyReader) Get(f storage.Family, key []byte) ([]byte, error) {
	if err := r.read(1, "a Get in family %d", f); err != nil {
		return nil, err
	}
	return r.inner.Get(f, key)
}

func (r faultyReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	if err := r.read(len(keys), "a GetMany in family %d", f); err != nil {
		return nil, err
	}
	return r.inner.GetMany(f, keys)
}

func (r faultyReader) Suffixes(f storage.Family, heads [][]byte) ([][]byte, error) {
	if err := r.read(len(heads), "a Suffixes in family %d", f); err != nil {
		return nil, err
	}
	return r.inner.Suffixes(f, heads)
}

func (r faultyReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		if err := r.read(1, "the start of a Scan of family %d", f); err != nil {
			yield(storage.KV{}, err)
			return
		}
		row := 0
		for kv, err := range r.inner.Scan(f, from, to, reverse) {
			if row++; err == nil && row&(row-1) == 0 {
				err = r.s.step(fmt.Sprintf("row %d of a Scan of family %d", row, f))
			}
			if err != nil {
				yield(storage.KV{}, err)
				return
			}
			r.rows.Add(1)
			if !yield(kv, nil) {
				return
			}
		}
	}
}

// ReadTogether implements [storage.TogetherReader].
func (r faultyReader) ReadTogether(reads []*storage.Read) error {
	if err := r.s.step("a ReadTogether"); err != nil {
		return err
	}
	err := storage.ReadTogether(r.inner, reads...)
	for _, read := range reads {
		r.rows.Add(int64(len(read.Keys) + len(read.Prefixes) + len(read.Ranges)))
		for _, rows := range read.Rows {
			r.rows.Add(int64(len(rows)))
		}
	}
	return err
}

// Version implements [storage.Versioned].
func (r faultyReader) Version() (uint64, bool) {
	if v, ok := r.inner.(storage.Versioned); ok {
		return v.Version()
	}
	return 0, false
}
