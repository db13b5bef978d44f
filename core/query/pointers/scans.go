package pointers

import (
	"context"
	"errors"
	"iter"
	"math"

	"birthmark/model"
	"birthmark/storage"
)

// Scans is the [storage.Reader] of a query. It counts the rows of scans and ranges: a scan ends with an error when the
// context ends, or when the query has scanned more rows than its budget. Queries have no other access to the store.
type Scans struct {
	store storage.Reader
	ctx   context.Context
	rows  int   // scanned so far
	most  int   // the budget
	above error // the error above the budget
}

// MaxScanned is the budget of a query that has no other.
const MaxScanned = 1 << 22

// ErrTooManyRows is returned for a query that reads more rows than its caller allows.
var ErrTooManyRows = errors.New("the query reads more rows than its limit")

var errScanned = model.Errorf(model.Usage, "too_many_rows", "the answer needs a scan of more than %d rows: narrow the "+
	"range, or use the command line, which has no limit", MaxScanned)

// NewScans returns a reader with the budget [MaxScanned].
func NewScans(ctx context.Context, store storage.Reader) *Scans {
	return &Scans{store: store, ctx: ctx, most: MaxScanned, above: errScanned}
}

// With returns a reader for another query on the same snapshot, with the same budget.
func (s *Scans) With(ctx context.Context) *Scans {
	copied := *s
	copied.ctx = ctx
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
func (s *Scans) Get(f storage.Family, key []byte) ([]byte, error) { return s.store.Get(f, key) }

// GetMany implements [storage.Reader].
func (s *Scans) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	return s.store.GetMany(f, keys)
}

// Suffixes implements [storage.Reader].
func (s *Scans) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	return s.store.Suffixes(f, prefixes)
}

// Scan implements [storage.Reader].
func (s *Scans) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		for kv, err := range s.store.Scan(f, from, to, reverse) {
			if err == nil {
				err = s.pass(1)
			}
			if !yield(kv, err) || err != nil {
				return
			}
		}
	}
}

// ReadTogether implements [storage.TogetherReader].
func (s *Scans) ReadTogether(reads []*storage.Read) error {
	if err := storage.ReadTogether(s.store, reads...); err != nil {
		return err
	}
	rows := 0
	for _, r := range reads {
		for _, of := range r.Rows {
			rows += len(of)
		}
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
