package check

import (
	"context"
	"errors"
	"iter"

	"birthmark/storage"
)

// unreadError is a failed read of a family, such as that of a damaged file. It ends a check; a row with a wrong layout
// does not.
type unreadError struct {
	family storage.Family
	error
}

func (e *unreadError) Unwrap() error { return e.error }

// reader wraps errors of GetMany and Scan, the methods that a check uses, in unreadError.
type reader struct{ storage.Reader }

func (reader) wrap(f storage.Family, err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrClosed),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &unreadError{f, err}
}

func (r reader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	vs, err := r.Reader.GetMany(f, keys)
	return vs, r.wrap(f, err)
}

func (r reader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		for kv, err := range r.Reader.Scan(f, from, to, reverse) {
			if !yield(kv, r.wrap(f, err)) {
				return
			}
		}
	}
}
