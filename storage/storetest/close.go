package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/storage"
)

var closeGuarantees = []guarantee{
	{"every use of a closed store is storage.ErrClosed", closedStoreIsUseless},
	{"closing twice is harmless", closingTwice},
	{"Close waits for a running View", closeWaitsForView},
	{"Close waits for a running Update", closeWaitsForUpdate},
}

func closedStoreIsUseless(t *testing.T, s storage.Store) {
	put(t, s, lookup, "a", "1")
	closeStore(t, s)
	ctx := context.Background()
	uses := map[string]func() error{
		"Declare": func() error { return s.Declare(declarations...) },
		"View": func() error {
			return s.View(ctx, func(storage.Reader) error { t.Error("View runs"); return nil })
		},
		"Update": func() error {
			return s.Update(ctx, func(storage.Reader, storage.Batch) error { t.Error("Update runs"); return nil })
		},
	}
	if sizer, ok := s.(storage.Sizer); ok {
		uses["Size"] = func() error { _, err := sizer.Size(lookup); return err }
	}
	if flusher, ok := s.(storage.Flusher); ok {
		uses["Flush"] = func() error { return flusher.Flush(ctx) }
	}
	if compactor, ok := s.(storage.Compactor); ok {
		uses["Compact"] = func() error { return compactor.Compact(ctx) }
	}
	for name, use := range uses {
		if err := use(); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s: %v, want storage.ErrClosed", name, err)
		}
	}
}

func closingTwice(t *testing.T, s storage.Store) {
	for range 3 {
		closeStore(t, s)
	}
}

func closeWaitsForView(t *testing.T, s storage.Store) {
	put(t, s, ordered, "a", "1", "b", "2")
	err := closeWithin(t, s, func(closing func(), ended *atomic.Bool) error {
		return s.View(context.Background(), func(r storage.Reader) error {
			for _, err := range r.Scan(ordered, nil, nil, false) { // an open iterator also counts as a call
				if err != nil {
					return err
				}
				closing()
				wantGet(t, r, ordered, "b", "2")
			}
			ended.Store(true)
			return nil
		})
	})
	if err != nil {
		t.Errorf("View: %v", err)
	}
}

func closeWaitsForUpdate(t *testing.T, s storage.Store) {
	err := closeWithin(t, s, func(closing func(), ended *atomic.Bool) error {
		return s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
			closing()
			b.Put(ordered, []byte("a"), []byte("1"))
			wantAbsent(t, r, ordered, "a")
			ended.Store(true)
			return nil
		})
	})
	if err != nil {
		t.Errorf("Update: %v", err)
	}
}

// closeWithin runs use, which starts a concurrent Close by calling closing and calls ended before it leaves the store.
// Close must not return before that. It returns the error of use.
func closeWithin(t *testing.T, s storage.Store, use func(closing func(), ended *atomic.Bool) error) error {
	t.Helper()
	closed := make(chan error, 1)
	var began, ended atomic.Bool
	err := use(func() {
		if began.Swap(true) {
			return
		}
		go func() {
			err := s.Close()
			if !ended.Load() {
				err = errors.Join(err, errors.New("the store was closed while it was in use"))
			}
			closed <- err
		}()
		// When new calls are refused, Close has started and waits for this call.
		for !errors.Is(s.View(context.Background(), func(storage.Reader) error { return nil }), storage.ErrClosed) {
			time.Sleep(time.Millisecond)
		}
	}, &ended)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	return err
}
