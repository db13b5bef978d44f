package tikv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"birthmark/storage"
)

// lanes is the number of parts of a large update that are applied at once. Each has a fence row of its own, so that the
// parts of one writer do not conflict with each other.
const lanes = 8

const (
	leaseRenewal = 5 * time.Second
	leaseLife    = 15 * time.Second
)

// errFenced is the reason why a writer that was replaced writes nothing.
var errFenced = errors.New("another process took over writing")

// fence is the value of the rows fence and fence/LANE. version counts the updates; only the row fence has it.
type fence struct{ epoch, version uint64 }

func (f fence) encode() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{1}, f.epoch), f.version)
}

func decodeFence(b []byte) (fence, error) {
	if len(b) == 0 {
		return fence{}, nil // a new database
	}
	if len(b) != 17 || b[0] != 1 {
		return fence{}, fmt.Errorf("%w: a fence row is %x", storage.ErrDamaged, b)
	}
	return fence{binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])}, nil
}

// lease is who writes, and when that was last confirmed by the clock of the placement driver.
type lease struct {
	epoch   uint64
	renewed time.Time
	holder  string
}

func (l lease) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{1}, l.epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(l.renewed.UnixMilli()))
	return append(b, l.holder...)
}

func decodeLease(b []byte) (lease, error) {
	if len(b) == 0 {
		return lease{}, nil
	}
	if len(b) < 17 || b[0] != 1 {
		return lease{}, fmt.Errorf("%w: the lease is %x", storage.ErrDamaged, b)
	}
	renewed := time.UnixMilli(int64(binary.BigEndian.Uint64(b[9:])))
	return lease{binary.BigEndian.Uint64(b[1:]), renewed, string(b[17:])}, nil
}

// fenceKeys are the rows of the fence: the first is that of small updates.
func (s *Store) fenceKeys() [][]byte {
	keys := [][]byte{s.keys.state("fence")}
	for lane := range lanes {
		keys = append(keys, s.laneKey(lane))
	}
	return keys
}

func (s *Store) laneKey(lane int) []byte { return s.keys.state(fmt.Sprintf("fence/%03d", lane)) }

// takeOver makes this process the writer. It returns a LockedError while the lease of another one is valid.
func (s *Store) takeOver(ctx context.Context) error {
	for {
		err := s.tryTakeOver(ctx)
		var locked *storage.LockedError
		if err == nil || errors.As(err, &locked) || errors.Is(err, storage.ErrDamaged) || ctx.Err() != nil {
			return err
		}
		if !tikverr.IsErrWriteConflict(err) && !tikverr.IsErrorUndetermined(err) && !transient(err) {
			return err
		}
		// A writer at work changes the fence all the time, and the locks of a dead one end by time.
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *Store) tryTakeOver(ctx context.Context) error {
	txn, err := s.client.Begin()
	if err != nil {
		return err
	}
	defer rollback(txn)
	txn.SetPessimistic(true)
	all := append(s.fenceKeys(), s.keys.state("lease"))
	now, err := s.client.GetOracle().GetTimestamp(ctx, &oracle.Option{TxnScope: oracle.GlobalTxnScope})
	if err != nil {
		return err
	}
	if err := txn.LockKeys(ctx, kv.NewLockCtx(now, time.Second.Milliseconds(), time.Now()), all...); err != nil {
		return err
	}
	// The rows did not change after now, or locking them would have failed, and cannot change until the commit.
	values, err := s.client.GetSnapshot(now).BatchGet(ctx, all)
	if err != nil {
		return err
	}
	old, err := decodeLease(values[string(s.keys.state("lease"))])
	if err != nil {
		return err
	}
	if !s.config.TakeOver && old.holder != "" && oracle.GetTimeFromTS(now).Sub(old.renewed) < leaseLife && !gone(old.holder) {
		return &storage.LockedError{Path: s.config.String(), Holder: old.holder}
	}
	current, err := decodeFence(values[string(s.keys.state("fence"))])
	if err != nil {
		return err
	}
	next := fence{current.epoch + 1, current.version}
	for _, key := range s.fenceKeys() {
		if err := txn.Set(key, next.encode()); err != nil {
			return err
		}
	}
	mine := lease{next.epoch, oracle.GetTimeFromTS(now), s.holder}
	if err := txn.Set(s.keys.state("lease"), mine.encode()); err != nil {
		return err
	}
	if err := txn.Commit(ctx); err != nil {
		return err
	}
	s.epoch = next.epoch
	return nil
}

// holderText names this process: the description of its purpose, and a process id by which the same machine can see
// that it ended.
func holderText(purpose string) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s, process %d on %s", purpose, os.Getpid(), host)
}

// gone reports whether the holder of a lease was a process of this machine that ended.
func gone(holder string) bool {
	host, _ := os.Hostname()
	rest, here := strings.CutSuffix(holder, " on "+host)
	pid, err := strconv.Atoi(rest[strings.LastIndexByte(rest, ' ')+1:])
	return here && err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// fenced runs change in a transaction that commits only if this process is still the writer. next gets the fence row of
// small updates and returns its new value; with a lane the row of the lane is used instead, unchanged. It returns the
// timestamp of the commit.
func (s *Store) fenced(ctx context.Context, row []byte, change func(*transaction.KVTxn, *fence) error) error {
	txn, err := s.client.Begin()
	if err != nil {
		return err
	}
	defer rollback(txn)
	value, err := txn.Get(ctx, row)
	if err != nil && !tikverr.IsErrNotFound(err) {
		return err
	}
	f, err := decodeFence(value)
	if err != nil {
		return err
	}
	if f.epoch != s.epoch {
		return errFenced
	}
	if err := change(txn, &f); err != nil {
		return err
	}
	if err := txn.Set(row, f.encode()); err != nil {
		return err
	}
	return s.commit(ctx, txn)
}

// commit commits a transaction. client-go does not stop waiting for locks when ctx ends, so a cancelled update is
// checked before.
func (s *Store) commit(ctx context.Context, txn *transaction.KVTxn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.calls.commits.Add(1)
	// From here on the result must be known: an update that was cancelled may have been written.
	return txn.Commit(context.WithoutCancel(ctx))
}

func rollback(txn *transaction.KVTxn) {
	if txn.Valid() {
		_ = txn.Rollback() // its locks end by time otherwise
	}
}

// locked is the error of a writer that was replaced.
func (s *Store) locked(ctx context.Context) error {
	holder := "another process, which took over"
	if value, err := s.get(ctx, s.keys.state("lease")); err == nil {
		if l, err := decodeLease(value); err == nil && l.epoch != s.epoch && l.holder != "" {
			holder = l.holder + ", which took over"
		}
	}
	return fmt.Errorf("%w: %w", errFenced, &storage.LockedError{Path: s.config.String(), Holder: holder})
}

// renewLease keeps the lease until the store is closed or replaced.
func (s *Store) renewLease() {
	for sleep(s.background, leaseRenewal) == nil {
		_ = s.setLease(s.background, s.holder) // an expired lease invites others, and they fence this process
	}
}

// setLease renews the lease, or ends it if holder is empty. It does nothing if another process took over.
func (s *Store) setLease(ctx context.Context, holder string) error {
	txn, err := s.client.Begin()
	if err != nil {
		return err
	}
	defer rollback(txn)
	key := s.keys.state("lease")
	value, err := txn.Get(ctx, key)
	if err != nil && !tikverr.IsErrNotFound(err) {
		return err
	}
	l, err := decodeLease(value)
	if err != nil || l.epoch != s.epoch {
		return err
	}
	renewed := lease{s.epoch, oracle.GetTimeFromTS(txn.StartTS()), holder}
	if err := txn.Set(key, renewed.encode()); err != nil {
		return err
	}
	return txn.Commit(ctx)
}

// transient reports whether an error may disappear by itself: a server restarts, or a region moves.
func transient(err error) bool {
	if err == nil || errors.Is(err, errFenced) || errors.Is(err, storage.ErrDamaged) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var large *tikverr.ErrEntryTooLarge
	var early *tikverr.ErrGCTooEarly
	return !errors.As(err, &large) && !errors.As(err, &early) && !errors.Is(err, tikverr.ErrCannotSetNilValue)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
