package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

func TestFaultyThatDoesNotFailIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storage.Store { return storetest.NewFaulty(memory.New()) })
}

const family storage.Family = 1

// work reads in every way and writes a row: 1 step for Get, 1 for GetMany, 1 for Suffixes, 1+3 for a scan of five rows,
// of which the third and the fifth are not steps, 1+1 for a scan that stops after the first row, 1 for the write.
const workSteps = 10

func work(s storage.Store) error {
	return s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		b.Put(family, []byte("written"), nil)
		if _, err := r.Get(family, []byte("a")); err != nil {
			return err
		}
		if _, err := r.GetMany(family, [][]byte{[]byte("a"), []byte("b")}); err != nil {
			return err
		}
		if _, err := r.Suffixes(family, [][]byte{[]byte("8 bytes.")}); err != nil {
			return err
		}
		for _, err := range r.Scan(family, nil, []byte("f"), false) {
			if err != nil {
				return fmt.Errorf("scan: %w", err)
			}
		}
		for _, err := range r.Scan(family, nil, []byte("f"), true) {
			return err
		}
		return nil
	})
}

func written(t *testing.T, s storage.Store) bool {
	t.Helper()
	err := s.View(context.Background(), func(r storage.Reader) error {
		_, err := r.Get(family, []byte("written"))
		return err
	})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func newFaulty(t *testing.T) (*storetest.Faulty, storage.Store) {
	t.Helper()
	inner := memory.New()
	if err := inner.Declare(storage.Declaration{Family: family, Name: "family"}); err != nil {
		t.Fatal(err)
	}
	err := inner.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for _, key := range "abcde" {
			b.Put(family, []byte(string(key)), nil)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return storetest.NewFaulty(inner), inner
}

func TestFaultyFailsAtEveryStepAndOnlyThere(t *testing.T) {
	for n := 1; n <= workSteps; n++ {
		s, inner := newFaulty(t)
		s.FailAt(n)
		if err := work(s); !errors.Is(err, storetest.ErrInjected) {
			t.Errorf("step %d: %v, want %v", n, err, storetest.ErrInjected)
		}
		if s.Steps() != n {
			t.Errorf("%d steps, want %d", s.Steps(), n)
		}
		if written(t, inner) {
			t.Errorf("step %d failed, but the update was written", n)
		}
		if err := work(s); err != nil {
			t.Errorf("after step %d failed: %v, want no more failures", n, err)
		}
	}
	for _, n := range []int{0, workSteps + 1} {
		s, inner := newFaulty(t)
		s.FailAt(n)
		if err := work(s); err != nil {
			t.Errorf("FailAt(%d): %v", n, err)
		}
		if s.Steps() != workSteps {
			t.Errorf("FailAt(%d): %d steps, want %d", n, s.Steps(), workSteps)
		}
		if !written(t, inner) {
			t.Errorf("FailAt(%d): nothing was written", n)
		}
	}
}

func TestFailAtCountsFromNow(t *testing.T) {
	s, _ := newFaulty(t)
	if err := work(s); err != nil {
		t.Fatal(err)
	}
	s.FailAt(1)
	if s.Steps() != 0 {
		t.Errorf("%d steps right after FailAt, want 0", s.Steps())
	}
	if err := work(s); !errors.Is(err, storetest.ErrInjected) || s.Steps() != 1 {
		t.Errorf("%v after %d steps, want a failure at the first", err, s.Steps())
	}
	s.FailAt(workSteps)
	s.FailAt(0)
	if err := work(s); err != nil {
		t.Errorf("after FailAt(0): %v", err)
	}
}
