package bench

import (
	"context"
	"encoding/binary"
	"runtime"
	"time"

	"birthmark/bench/process"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// floor is a store that measures the cost of encoding rows: the time in which a batch is filled, with each row appended
// to one buffer. A store in memory then applies the rows and serves reads, which is not measured.
type floor struct {
	storage.Store
	took, cpu time.Duration
	bytes     int64 // of keys and values
	buffer    buffer

	txFamily storage.Family // one row per transaction
	txs      int
	marks    []mark
}

// txFamilyName is the name of a family with one row per transaction.
const txFamilyName = "tx_hash_by_tx_pk"

func newFloor() *floor { return &floor{Store: memory.New()} }

// Declare implements [storage.Store].
func (f *floor) Declare(ds ...storage.Declaration) error {
	for _, d := range ds {
		if d.Name == txFamilyName {
			f.txFamily = d.Family
		}
	}
	return f.Store.Declare(ds...)
}

// Update measures fn and then applies its rows.
func (f *floor) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return f.Store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		runtime.LockOSThread() // so that the thread's CPU time is that of fn
		defer runtime.UnlockOSThread()
		f.buffer.rows = f.buffer.rows[:0]
		u := &uncounted{Reader: r}
		started, cpu := time.Now(), process.ThreadCPU()
		if err := fn(u, &f.buffer); err != nil {
			return err
		}
		f.cpu += process.ThreadCPU() - cpu - u.cpu
		f.took += time.Since(started) - u.took
		bytes, txs := f.buffer.replay(b, f.txFamily)
		f.bytes += bytes
		f.txs += txs
		f.marks = append(f.marks, mark{f.took, float64(f.txs)})
		return nil
	})
}

// uncounted measures GetMany, which reads previous holdings while a batch is filled.
type uncounted struct {
	storage.Reader
	took, cpu time.Duration
}

// GetMany implements [storage.Reader].
func (u *uncounted) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	started, cpu := time.Now(), process.ThreadCPU()
	values, err := u.Reader.GetMany(f, keys)
	u.cpu += process.ThreadCPU() - cpu
	u.took += time.Since(started)
	return values, err
}

// buffer is a sequence of rows: operation, family (uvarint), key and value, each after its size (uvarint).
type buffer struct{ rows []byte }

const (
	put     = 0
	deleted = 1
)

func (w *buffer) Put(f storage.Family, key, value []byte) {
	w.rows = append(w.rows, put)
	w.rows = binary.AppendUvarint(w.rows, uint64(f))
	w.rows = appendBytes(w.rows, key)
	w.rows = appendBytes(w.rows, value)
}

func (w *buffer) Delete(f storage.Family, key []byte) {
	w.rows = append(w.rows, deleted)
	w.rows = binary.AppendUvarint(w.rows, uint64(f))
	w.rows = appendBytes(w.rows, key)
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// replay applies the rows to b. It returns the bytes of their keys and values and the number of rows put into a family.
func (w *buffer) replay(b storage.Batch, counted storage.Family) (n int64, rows int) {
	rest := w.rows
	number := func() uint64 {
		v, size := binary.Uvarint(rest)
		rest = rest[size:]
		return v
	}
	bytes := func() []byte {
		size := number()
		v := rest[:size]
		rest = rest[size:]
		n += int64(size)
		return v
	}
	for len(rest) > 0 {
		op := rest[0]
		rest = rest[1:]
		family := storage.Family(number())
		key := bytes()
		if op == deleted {
			b.Delete(family, key)
		} else {
			b.Put(family, key, bytes())
			if family == counted {
				rows++
			}
		}
	}
	return n, rows
}
