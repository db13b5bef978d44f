// Package naive is the baseline of the write benchmarks: a RocksDB TransactionDB with default options, one transaction
// per Update and one call per Put, Delete and Get. It is below storage/rocks because only that folder may use cgo,
// which grocksdb is.
package naive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

type store struct {
	db      *grocksdb.TransactionDB
	options *grocksdb.Options
	locking *grocksdb.TransactionDBOptions
	begin   *grocksdb.TransactionOptions
	write   *grocksdb.WriteOptions
	gate    storage.Gate
	update  sync.Mutex

	mu       sync.RWMutex
	columns  map[string]*grocksdb.ColumnFamilyHandle
	families map[storage.Family]*grocksdb.ColumnFamilyHandle
}

// Open opens or creates the store in the folder dir.
func Open(dir string) (storage.Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create database folder: %w", err)
	}
	s := &store{
		options: grocksdb.NewDefaultOptions(), locking: grocksdb.NewDefaultTransactionDBOptions(),
		begin: grocksdb.NewDefaultTransactionOptions(), write: grocksdb.NewDefaultWriteOptions(),
		columns: map[string]*grocksdb.ColumnFamilyHandle{}, families: map[storage.Family]*grocksdb.ColumnFamilyHandle{},
	}
	s.options.SetCreateIfMissing(true)
	names := []string{"default"}
	_, err := os.Stat(filepath.Join(dir, "CURRENT"))
	if err == nil {
		names, err = grocksdb.ListColumnFamilies(s.options, dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var handles []*grocksdb.ColumnFamilyHandle
	if err == nil {
		each := make([]*grocksdb.Options, len(names))
		for i := range each {
			each[i] = s.options
		}
		s.db, handles, err = grocksdb.OpenTransactionDbColumnFamilies(s.options, s.locking, dir, names, each)
	}
	if err != nil {
		s.destroy()
		return nil, fmt.Errorf("open database %s: %w", dir, err)
	}
	for i, h := range handles {
		s.columns[names[i]] = h
	}
	return s, nil
}

func (s *store) destroy() {
	s.options.Destroy()
	s.locking.Destroy()
	s.begin.Destroy()
	s.write.Destroy()
}

func (s *store) Declare(ds ...storage.Declaration) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range ds {
		h := s.columns[d.Name]
		if h == nil {
			var err error
			if h, err = s.db.CreateColumnFamily(s.options, d.Name); err != nil {
				return err
			}
			s.columns[d.Name] = h
		}
		s.families[d.Family] = h
	}
	return nil
}

// Drop implements [storage.Store]. It deletes the rows one by one: a TransactionDB cannot drop column families.
func (s *store) Drop(ctx context.Context, ds ...storage.Declaration) error {
	var there []storage.Family
	s.mu.Lock()
	for _, d := range ds {
		if h := s.columns[d.Name]; h != nil {
			s.families[d.Family], there = h, append(there, d.Family)
		}
	}
	s.mu.Unlock()
	err := s.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		for _, f := range there {
			for kv, err := range r.Scan(f, nil, nil, false) {
				if err != nil {
					return err
				}
				b.Delete(f, kv.Key)
			}
		}
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range there {
		delete(s.families, f)
	}
	return err
}

func (s *store) column(f storage.Family) (*grocksdb.ColumnFamilyHandle, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if h := s.families[f]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("family %d is not declared", f)
}

func (s *store) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	r := s.newReader()
	defer r.release()
	return fn(r)
}

func (s *store) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.update.Lock()
	defer s.update.Unlock()
	r := s.newReader()
	defer r.release()
	tx := s.db.TransactionBegin(s.write, s.begin, nil)
	defer tx.Destroy()
	b := &batch{s: s, tx: tx}
	err := fn(r, b)
	if err = cmp.Or(err, b.err, ctx.Err()); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *store) Close() error {
	if !s.gate.Close() {
		return nil
	}
	for _, h := range s.columns {
		h.Destroy()
	}
	s.db.Close()
	s.destroy()
	return nil
}

type batch struct {
	s   *store
	tx  *grocksdb.Transaction
	err error
}

func (b *batch) Put(f storage.Family, key, value []byte) {
	h, err := b.s.column(f)
	if err == nil {
		err = b.tx.PutCF(h, key, value)
	}
	b.err = cmp.Or(b.err, err)
}

func (b *batch) Delete(f storage.Family, key []byte) {
	h, err := b.s.column(f)
	if err == nil {
		err = b.tx.DeleteCF(h, key)
	}
	b.err = cmp.Or(b.err, err)
}

type reader struct {
	s        *store
	snapshot *grocksdb.Snapshot
	options  *grocksdb.ReadOptions
}

func (s *store) newReader() *reader {
	r := &reader{s, s.db.NewSnapshot(), grocksdb.NewDefaultReadOptions()}
	r.options.SetSnapshot(r.snapshot)
	return r
}

func (r *reader) release() {
	r.options.Destroy()
	r.s.db.ReleaseSnapshot(r.snapshot)
}

func (r *reader) Get(f storage.Family, key []byte) ([]byte, error) {
	h, err := r.s.column(f)
	if err != nil {
		return nil, err
	}
	v, err := r.s.db.GetCF(r.options, h, key)
	if err != nil {
		return nil, err
	}
	defer v.Free()
	if !v.Exists() {
		return nil, storage.ErrNotFound
	}
	return append([]byte{}, v.Data()...), nil
}

func (r *reader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		v, err := r.Get(f, key)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

func (r *reader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	if _, err := r.s.column(f); err != nil {
		return nil, err
	}
	suffixes := make([][]byte, len(prefixes))
	for i, prefix := range prefixes {
		for kv, err := range r.Scan(f, prefix, nil, false) {
			if err != nil {
				return nil, err
			}
			suffix, ok := bytes.CutPrefix(kv.Key, prefix)
			if !ok {
				break
			}
			if suffixes[i] == nil {
				suffixes[i] = []byte{}
			}
			suffixes[i] = append(suffixes[i], suffix...)
		}
	}
	return suffixes, nil
}

func (r *reader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		h, err := r.s.column(f)
		if err != nil {
			yield(storage.KV{}, err)
			return
		}
		from, to := bytes.Clone(from), bytes.Clone(to)
		it := r.s.db.NewIteratorCF(r.options, h)
		defer it.Close()
		step := it.Next
		if reverse {
			step = it.Prev
		}
		for seek(it, from, to, reverse); it.Valid(); step() {
			k, v := it.Key(), it.Value()
			if !reverse && to != nil && bytes.Compare(k.Data(), to) >= 0 || reverse && bytes.Compare(k.Data(), from) < 0 {
				break
			}
			if !yield(storage.KV{Key: k.Data(), Value: v.Data()}, nil) {
				return
			}
		}
		if err := it.Err(); err != nil {
			yield(storage.KV{}, err)
		}
	}
}

// seek moves to the first row of a scan.
func seek(it *grocksdb.Iterator, from, to []byte, reverse bool) {
	switch {
	case !reverse && from == nil:
		it.SeekToFirst()
	case !reverse:
		it.Seek(from)
	case to == nil:
		it.SeekToLast()
	default:
		it.SeekForPrev(to)
		if it.Valid() {
			k := it.Key()
			if bytes.Equal(k.Data(), to) {
				it.Prev()
			}
		}
	}
}
