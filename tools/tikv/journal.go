package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/pingcap/badger"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv/mvcc"
)

// journal is unistore's writer with locks that survive a kill. unistore holds the locks of transactions in memory and
// writes them to a file only when it is closed: after a kill, the locks of a transaction whose first key was committed
// are lost, and with them its other keys. TiKV replicates locks like rows. The journal is a file of changes of locks,
// which the next start applies.
type journal struct {
	mvcc.DBWriter
	mu   sync.Mutex
	file *os.File
}

// openJournal loads the locks of the file into the bundle and begins a new file with them.
func openJournal(path string, bundle *mvcc.DBBundle) (*journal, error) {
	locks, err := load(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(path + ".new")
	if err != nil {
		return nil, err
	}
	j := &journal{DBWriter: tikv.NewDBWriter(bundle), file: file}
	for key, lock := range locks {
		ended, err := committed(bundle.DB, []byte(key), lock)
		if err != nil {
			return nil, err
		}
		if ended {
			continue
		}
		bundle.LockStore.Put([]byte(key), lock)
		if err := j.write([]change{{key: []byte(key), lock: lock}}); err != nil {
			return nil, err
		}
	}
	return j, os.Rename(path+".new", path)
}

// load returns the locks by key. An incomplete change at the end was not acknowledged.
func load(path string) (map[string][]byte, error) {
	locks := map[string][]byte{}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return locks, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	for {
		var header [8]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return locks, ended(err)
		}
		key := make([]byte, binary.BigEndian.Uint32(header[:]))
		lock := make([]byte, binary.BigEndian.Uint32(header[4:]))
		if _, err := io.ReadFull(r, key); err != nil {
			return locks, ended(err)
		}
		if _, err := io.ReadFull(r, lock); err != nil {
			return locks, ended(err)
		}
		if len(lock) == 0 {
			delete(locks, string(key))
		} else {
			locks[string(key)] = lock
		}
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// committed reports whether the transaction of a lock was committed or rolled back at the key: the kill came between
// the row and the removal of its lock.
func committed(db *badger.DB, key, lock []byte) (found bool, err error) {
	startTS := mvcc.DecodeLock(lock).StartTS
	err = db.View(func(txn *badger.Txn) error {
		for _, at := range [][]byte{key, mvcc.EncodeExtraTxnStatusKey(key, startTS)} {
			item, err := txn.Get(at)
			if errors.Is(err, badger.ErrKeyNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if meta := item.UserMeta(); len(meta) == 16 && mvcc.DBUserMeta(meta).StartTS() == startTS {
				found = true
			}
		}
		return nil
	})
	return found, err
}

// change sets the lock of a key, or removes it if lock is empty.
type change struct{ key, lock []byte }

func (j *journal) write(changes []change) error {
	var b []byte
	for _, c := range changes {
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.key)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.lock)))
		b = append(append(b, c.key...), c.lock...)
	}
	if len(b) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err := j.file.Write(b)
	return err
}

type batch struct {
	mvcc.WriteBatch
	locks, ended []change
}

func (j *journal) NewWriteBatch(startTS, commitTS uint64, ctx *kvrpcpb.Context) mvcc.WriteBatch {
	return &batch{WriteBatch: j.DBWriter.NewWriteBatch(startTS, commitTS, ctx)}
}

// Write writes new locks before, and ended ones after the rows: a lock may outlive its row, not the other way round.
func (j *journal) Write(b mvcc.WriteBatch) error {
	both := b.(*batch)
	if err := j.write(both.locks); err != nil {
		return err
	}
	if err := j.DBWriter.Write(both.WriteBatch); err != nil {
		return err
	}
	return j.write(both.ended)
}

func (b *batch) lock(key []byte, lock *mvcc.Lock) {
	b.locks = append(b.locks, change{key: key, lock: lock.MarshalBinary()})
}

func (b *batch) end(key []byte) { b.ended = append(b.ended, change{key: key}) }

func (b *batch) Prewrite(key []byte, lock *mvcc.Lock) {
	b.lock(key, lock)
	b.WriteBatch.Prewrite(key, lock)
}

func (b *batch) PessimisticLock(key []byte, lock *mvcc.Lock) {
	b.lock(key, lock)
	b.WriteBatch.PessimisticLock(key, lock)
}

func (b *batch) Commit(key []byte, lock *mvcc.Lock) {
	b.end(key)
	b.WriteBatch.Commit(key, lock)
}

func (b *batch) Rollback(key []byte, deleteLock bool) {
	if deleteLock {
		b.end(key)
	}
	b.WriteBatch.Rollback(key, deleteLock)
}

func (b *batch) PessimisticRollback(key []byte) {
	b.end(key)
	b.WriteBatch.PessimisticRollback(key)
}
