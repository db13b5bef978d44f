package pointers

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"

	"birthmark/core/meter"
	"birthmark/model"
	"birthmark/storage"
)

// Scans is the [storage.Reader] of a query. It counts the rows of scans and ranges: a scan ends with an error when the
// context ends, or when the query has scanned more rows than its budget. All that is read is reported to the
// [meter.Meter] of the context, whose errors end the query. Queries have no other access to the store.
type Scans struct {
	store storage.Reader
	ctx   context.Context
	meter *meter.Meter
	rows  int   // scanned so far
	most  int   // the budget
	above error // the error above the budget

	newRows, newBytes int // of scans, not reported to the meter yet
}

// MaxScanned is the budget of a query that has no other.
const MaxScanned = 1 << 22

// ErrTooManyRows is returned for a query that reads more rows than its caller allows.
var ErrTooManyRows = errors.New("the query reads more rows than its limit")

var errScanned = model.Errorf(model.Usage, "too_many_rows", "the answer needs a scan of more than %d rows: narrow the "+
	"range, or use the command line, which has no limit", MaxScanned)

// NewScans returns a reader with the budget [MaxScanned].
func NewScans(ctx context.Context, store storage.Reader) *Scans {
	return &Scans{store: store, ctx: ctx, meter: meter.Of(ctx), most: MaxScanned, above: errScanned}
}

// With returns a reader for another query on the same snapshot, with the same budget.
func (s *Scans) With(ctx context.Context) *Scans {
	copied := *s
	copied.ctx, copied.meter, copied.newRows, copied.newBytes = ctx, meter.Of(ctx), 0, 0
	return &copied
}

// AtMost sets the budget, above which scans fail with [ErrTooManyRows]; 0: the budget [MaxScanned].
func (s *Scans) AtMost(rows int) {
	if s.most, s.above = rows, ErrTooManyRows; rows == 0 {
		s.most, s.above = MaxScanned, errScanned
	}
}

// Unlimited removes the budget: for commands, for streams, whose consumer ends them, and for tables that are read once
// per process. Scans still end with the context.
func (s *Scans) Unlimited() { s.most = math.MaxInt }

// Hold counts bytes that the answer holds until it ends: see [meter.Meter.Hold].
func (s *Scans) Hold(bytes int64) error { return s.meter.Hold(bytes) }

// HoldHashes is [Scans.Hold] for the texts of n hashes.
func (s *Scans) HoldHashes(n int) error { return s.Hold(max(0, int64(n)*hashBytes-meter.Free)) }

const hashBytes = 80

// contextRows is the number of rows between two checks of the context.
const contextRows = 256

// pass counts rows.
func (s *Scans) pass(rows int) error {
	before := s.rows
	if s.rows += rows; s.rows > s.most {
		return s.above
	}
	if before/contextRows != s.rows/contextRows {
		return s.ctx.Err()
	}
	return nil
}

// Get implements [storage.Reader].
func (s *Scans) Get(f storage.Family, key []byte) ([]byte, error) {
	if err := s.meter.Reads(1); err != nil {
		return nil, err
	}
	b, err := s.store.Get(f, key)
	return b, cmp.Or(err, s.meter.Bytes(len(b)))
}

// GetMany implements [storage.Reader].
func (s *Scans) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	if err := s.meter.Reads(len(keys)); err != nil {
		return nil, err
	}
	found, err := s.store.GetMany(f, keys)
	return found, cmp.Or(err, s.meter.Bytes(total(found)))
}

// Suffixes implements [storage.Reader].
func (s *Scans) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	if err := s.meter.Reads(len(prefixes)); err != nil {
		return nil, err
	}
	found, err := s.store.Suffixes(f, prefixes)
	return found, cmp.Or(err, s.meter.Bytes(total(found)))
}

// total returns the bytes of values.
func total(values [][]byte) (n int) {
	for _, v := range values {
		n += len(v)
	}
	return n
}

// reportRows is the number of rows between two reports of a scan to the meter.
const reportRows = 64

// Scan implements [storage.Reader].
func (s *Scans) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		if err := s.meter.Reads(1); err != nil {
			yield(storage.KV{}, err)
			return
		}
		defer func() { _ = s.reportScans() }() // the next report has the error too
		for kv, err := range s.store.Scan(f, from, to, reverse) {
			if err == nil {
				err = s.pass(1)
			}
			s.newBytes += len(kv.Value)
			if s.newRows++; s.newRows >= reportRows && err == nil {
				err = s.reportScans()
			}
			if !yield(kv, err) || err != nil {
				return
			}
		}
	}
}

// reportScans reports what scans have read since the last report.
func (s *Scans) reportScans() error {
	rows, size := s.newRows, s.newBytes
	s.newRows, s.newBytes = 0, 0
	return s.report(rows, size)
}

// report reports rows and bytes.
func (s *Scans) report(rows, size int) error { return cmp.Or(s.meter.Rows(rows), s.meter.Bytes(size)) }

// ReadTogether implements [storage.TogetherReader].
func (s *Scans) ReadTogether(reads []*storage.Read) error {
	looked := 0
	for _, r := range reads {
		looked += len(r.Keys) + len(r.Prefixes) + len(r.Ranges)
	}
	if err := s.meter.Reads(looked); err != nil {
		return err
	}
	if err := storage.ReadTogether(s.store, reads...); err != nil {
		return err
	}
	rows, size := 0, 0
	for _, r := range reads {
		size += total(r.Values)
		for _, of := range r.Rows {
			rows += len(of)
			for _, kv := range of {
				size += len(kv.Value)
			}
		}
	}
	if err := s.report(rows, size); err != nil {
		return err
	}
	return s.pass(rows)
}

// Version implements [storage.Versioned].
func (s *Scans) Version() (uint64, bool) {
	if v, ok := s.store.(storage.Versioned); ok {
		return v.Version()
	}
	return 0, false
}
