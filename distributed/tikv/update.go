package tikv

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tikv/client-go/v2/txnkv/transaction"

	"birthmark/internal/guard"
	"birthmark/storage"
)

// change is a row to write, or to delete if value is nil.
type change struct{ key, value []byte }

// limits are those of TiKV 4 with its default configuration (max-key-size 4 KiB after encoding, raft-entry-max-size 8 MB)
// and those of client-go (6 MB).
var limits = storage.Limits{Key: 3000, Value: 5 << 20}

// Limits implements [storage.Limited].
func (s *Store) Limits() storage.Limits { return limits }

// batch implements [storage.Batch].
type batch struct {
	s       *Store
	changes []change
	err     error
}

func (b *batch) add(f storage.Family, key, value []byte) {
	number, ok := b.s.catalogue.numbers()[f]
	if !ok {
		b.err = fmt.Errorf("family %d is not declared", f)
		return
	}
	if len(key) > limits.Key || len(value) > limits.Value {
		b.err = fmt.Errorf("family %d: a row with a key of %d and a value of %d bytes: TiKV stores at most %d and %d",
			f, len(key), len(value), limits.Key, limits.Value)
		return
	}
	if value != nil {
		value = escape(value)
	}
	b.changes = append(b.changes, change{b.s.keys.row(number, key), value})
}

// Put implements [storage.Batch].
func (b *batch) Put(f storage.Family, key, value []byte) { b.add(f, key, append([]byte{}, value...)) }

// Delete implements [storage.Batch].
func (b *batch) Delete(f storage.Family, key []byte) { b.add(f, key, nil) }

// sorted returns the last change of each key in key order, and their size.
func (b *batch) sorted() (changes []change, size int) {
	slices.SortStableFunc(b.changes, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	changes = b.changes[:0]
	for i, c := range b.changes {
		if i+1 < len(b.changes) && bytes.Equal(c.key, b.changes[i+1].key) {
			continue
		}
		changes = append(changes, c)
		size += len(c.key) + len(c.value)
	}
	return changes, size
}

func apply(txn *transaction.KVTxn, changes []change) error {
	for _, c := range changes {
		err := error(nil)
		if c.value == nil {
			err = txn.Delete(c.key)
		} else {
			err = txn.Set(c.key, c.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Update implements [storage.Store].
func (s *Store) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return storage.ErrReadOnly
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	b := &batch{s: s}
	if err := s.collectBatch(ctx, b, fn); err != nil {
		return err
	}
	changes, size := b.sorted()
	if len(changes) == 0 {
		return nil
	}
	write := s.large
	if len(changes) <= s.config.smallKeys && size <= s.config.smallBytes {
		write = s.small
	}
	if err := write(ctx, changes); err != nil {
		s.unsettled.Store(true)
		return s.explain(ctx, err)
	}
	return nil
}

// collectBatch runs fn.
func (s *Store) collectBatch(ctx context.Context, b *batch, fn func(storage.Reader, storage.Batch) error) error {
	r, leave, err := s.newReader(ctx)
	if err != nil {
		return err
	}
	defer leave()
	err = fn(r, b)
	return cmp.Or(err, b.err, ctx.Err())
}

// explain replaces the error of a writer that was replaced by one that names the other.
func (s *Store) explain(ctx context.Context, err error) error {
	if errors.Is(err, errFenced) {
		return s.locked(ctx)
	}
	return err
}

// errDone ends a transaction that an earlier attempt had committed.
var errDone = errors.New("done already")

// step commits a transaction on the fence row of small updates, and again until its result is known. change is not run
// if done, given the fence row, reports that an earlier attempt was committed.
func (s *Store) step(ctx context.Context, done func(fence) bool, change func(*transaction.KVTxn, *fence) error) error {
	err := s.retry(ctx, func() error {
		return s.fenced(ctx, s.keys.state("fence"), func(txn *transaction.KVTxn, f *fence) error {
			if done(*f) {
				return errDone
			}
			return change(txn, f)
		})
	})
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

// small writes an update in one transaction.
func (s *Store) small(ctx context.Context, changes []change) error {
	next := s.version + 1
	s.shown.freeze(0)
	err := s.step(ctx, func(f fence) bool { return f.version == next }, func(txn *transaction.KVTxn, f *fence) error {
		f.version = next
		return apply(txn, changes)
	})
	if err == nil {
		s.ended(next)
	}
	return err
}

func (s *Store) ended(version uint64) {
	s.version = version
	s.shown.move(version)
}

// seal is the row that makes a large update happen.
type seal struct {
	before uint64 // the timestamp that shows the state before the update
	parts  uint32
	digest [sha256.Size]byte // of the digests of the parts
}

func (s seal) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{1}, s.before)
	return append(binary.BigEndian.AppendUint32(b, s.parts), s.digest[:]...)
}

func decodeSeal(b []byte) (s seal, err error) {
	if len(b) != 13+sha256.Size || b[0] != 1 {
		return s, fmt.Errorf("%w: the seal is %x", storage.ErrDamaged, b)
	}
	s.before, s.parts = binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint32(b[9:])
	copy(s.digest[:], b[13:])
	return s, nil
}

// large writes an update of any size.
func (s *Store) large(ctx context.Context, changes []change) error {
	parts := s.split(changes)
	digests := make([]byte, sha256.Size*len(parts))
	err := s.eachPart(ctx, len(parts), func(ctx context.Context, i, lane int) error {
		encoded := encodePart(parts[i])
		sum := sha256.Sum256(encoded)
		copy(digests[sha256.Size*i:], sum[:])
		return s.fenced(ctx, s.laneKey(lane), func(txn *transaction.KVTxn, _ *fence) error {
			return txn.Set(s.keys.log(i), encoded)
		})
	})
	if err != nil {
		return err
	}
	sealed := seal{parts: uint32(len(parts)), digest: sha256.Sum256(digests)}
	key, there := s.keys.state("seal"), false
	err = s.retry(ctx, func() error {
		return s.fenced(ctx, s.keys.state("fence"), func(txn *transaction.KVTxn, _ *fence) error {
			value, err := txn.Get(ctx, key)
			if there = err == nil; there { // an earlier attempt was committed
				sealed, err = decodeSeal(value)
				return cmp.Or(err, errDone)
			}
			if !notFound(err) {
				return err
			}
			sealed.before = txn.StartTS()
			s.shown.freeze(sealed.before)
			return txn.Set(key, sealed.encode())
		})
	})
	if err != nil && !errors.Is(err, errDone) {
		return err
	}
	// The update will happen, whether it is cancelled or not.
	ctx = context.WithoutCancel(ctx)
	s.calls.seals.Add(1)
	return s.finish(ctx, sealed, func(_ context.Context, i int) ([]change, error) { return parts[i], nil })
}

// finish applies the parts of a sealed update and publishes it.
func (s *Store) finish(ctx context.Context, sealed seal, part func(context.Context, int) ([]change, error)) error {
	err := s.eachPart(ctx, int(sealed.parts), func(ctx context.Context, i, lane int) error {
		changes, err := part(ctx, i)
		if err != nil {
			return err
		}
		return s.fenced(ctx, s.laneKey(lane), func(txn *transaction.KVTxn, _ *fence) error { return apply(txn, changes) })
	})
	if err != nil {
		return err
	}
	next := s.version + 1
	err = s.step(ctx, func(f fence) bool { return f.version == next }, func(txn *transaction.KVTxn, f *fence) error {
		f.version = next
		for i := range int(sealed.parts) {
			if err := txn.Delete(s.keys.log(i)); err != nil {
				return err
			}
		}
		return txn.Delete(s.keys.state("seal"))
	})
	if err == nil {
		s.ended(next)
	}
	return err
}

// eachPart runs do for each part, several at once with different lanes, and again while the cluster does not answer.
func (s *Store) eachPart(ctx context.Context, parts int, do func(ctx context.Context, i, lane int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for lane := range min(lanes, parts) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= parts {
					return
				}
				err := guard.Call(func() error { return s.retry(ctx, func() error { return do(ctx, i, lane) }) })
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// settle makes the result of the last update known: it commits an empty transaction, which waits for the locks of
// others, and finishes an update that was sealed.
func (s *Store) settle(ctx context.Context) error {
	if !s.unsettled.Load() {
		return nil
	}
	var version uint64
	var value []byte
	err := s.retry(ctx, func() error {
		return s.fenced(ctx, s.keys.state("fence"), func(txn *transaction.KVTxn, f *fence) (err error) {
			version = f.version
			if value, err = txn.Get(ctx, s.keys.state("seal")); notFound(err) {
				value, err = nil, nil
			}
			return err
		})
	})
	if err != nil {
		return s.explain(ctx, err)
	}
	s.version = version
	if value == nil {
		s.shown.move(version)
		s.unsettled.Store(false)
		return nil
	}
	sealed, err := decodeSeal(value)
	if err != nil {
		return err
	}
	s.shown.move(version)
	s.shown.freeze(sealed.before)
	if err := s.checkLog(ctx, sealed); err != nil {
		return err
	}
	if err := s.finish(ctx, sealed, s.logged); err != nil {
		return s.explain(ctx, err)
	}
	s.unsettled.Store(false)
	return nil
}

// checkLog compares the log with the seal.
func (s *Store) checkLog(ctx context.Context, sealed seal) error {
	digests := make([]byte, sha256.Size*int(sealed.parts))
	for i := range int(sealed.parts) {
		value, err := s.get(ctx, s.keys.log(i))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(value)
		copy(digests[sha256.Size*i:], sum[:])
	}
	if sha256.Sum256(digests) != sealed.digest {
		return fmt.Errorf("%w: the log of an unfinished update differs from its seal", storage.ErrDamaged)
	}
	return nil
}

// logged reads a part of the log.
func (s *Store) logged(ctx context.Context, i int) ([]change, error) {
	value, err := s.get(ctx, s.keys.log(i))
	if err != nil {
		return nil, err
	}
	return decodePart(value)
}

// split cuts changes into parts.
func (s *Store) split(changes []change) (parts [][]change) {
	from, size := 0, 0
	for i, c := range changes {
		n := len(c.key) + len(c.value)
		if i > from && (i-from == s.config.partKeys || size+n > s.config.partBytes) {
			parts, from, size = append(parts, changes[from:i]), i, 0
		}
		size += n
	}
	return append(parts, changes[from:])
}

// encodePart is the value of a row of the log: for each change the size of the key, the key, the size of the value plus
// 1, or 0 for a deletion, and the value.
func encodePart(changes []change) (b []byte) {
	for _, c := range changes {
		b = append(binary.AppendUvarint(b, uint64(len(c.key))), c.key...)
		if c.value == nil {
			b = append(b, 0)
			continue
		}
		b = append(binary.AppendUvarint(b, uint64(len(c.value))+1), c.value...)
	}
	return b
}

func decodePart(b []byte) (changes []change, err error) {
	take := func(n uint64) (taken []byte) {
		if n > uint64(len(b)) {
			err = fmt.Errorf("%w: a part of the log ends early", storage.ErrDamaged)
			n = uint64(len(b))
		}
		taken, b = b[:n:n], b[n:]
		return taken
	}
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			err = fmt.Errorf("%w: a part of the log ends early", storage.ErrDamaged)
			return 0
		}
		b = b[size:]
		return n
	}
	for len(b) > 0 && err == nil {
		c := change{key: take(number())}
		if n := number(); n > 0 {
			c.value = take(n - 1)
		}
		changes = append(changes, c)
	}
	return changes, err
}
