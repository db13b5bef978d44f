package blocksource_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"birthmark/chains/blocksource"
)

func numbers(n int) func(context.Context, func(int) bool) {
	return func(_ context.Context, yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// worker doubles numbers and sometimes yields the processor, so that results finish out of order.
func worker(do func(int) (int, error)) func() (func(context.Context, int) (int, error), func()) {
	return func() (func(context.Context, int) (int, error), func()) {
		return func(_ context.Context, j int) (int, error) {
			for range j % 7 {
				runtime.Gosched()
			}
			return do(j)
		}, func() {}
	}
}

func double(j int) (int, error) { return 2 * j, nil }

func one(int) int64 { return 1 }

func TestResultsComeInTheOrderOfTheJobs(t *testing.T) {
	for _, l := range []blocksource.Limits{{}, {Workers: 1}, {Workers: 8}, {Workers: 8, Memory: 1}, {Workers: 3, Memory: 5}} {
		var got []int
		for r, err := range blocksource.Ordered(t.Context(), numbers(3000), one, l, worker(double)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if len(got) != 3000 || !slices.IsSorted(got) || got[2999] != 5998 {
			t.Errorf("%+v: %d results, ordered: %v", l, len(got), slices.IsSorted(got))
		}
	}
}

func TestTheFirstErrorInOrderEndsTheSequence(t *testing.T) {
	broken := func(j int) (int, error) {
		if j == 40 || j == 41 || j > 45 {
			return 0, fmt.Errorf("job %d", j)
		}
		return j, nil
	}
	seen := 0
	for r, err := range blocksource.Ordered(t.Context(), numbers(1000), one, blocksource.Limits{Workers: 4}, worker(broken)) {
		if err != nil {
			if err.Error() != "job 40" || seen != 40 {
				t.Errorf("%v after %d results", err, seen)
			}
			seen = -1
			continue
		}
		if seen < 0 || r != seen {
			t.Fatalf("result %d, expected %d (-1: none after an error)", r, seen)
		}
		seen++
	}
	if seen != -1 {
		t.Error("no error")
	}
}

func TestMemoryOfConcurrentJobsIsBounded(t *testing.T) {
	const memory = 10
	size := func(j int) int64 { return int64(1 + j%25) } // some exceed the memory
	var under, most atomic.Int64
	begun := func(_ context.Context, yield func(int) bool) {
		for i := range 500 {
			if !yield(i) {
				return
			}
		}
	}
	count := func(j int) (int, error) {
		now := under.Add(min(size(j), memory))
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		return j, nil
	}
	for r, err := range blocksource.Ordered(t.Context(), begun, size, blocksource.Limits{Workers: 4, Memory: memory}, worker(count)) {
		if err != nil {
			t.Fatal(err)
		}
		under.Add(-min(size(r), memory))
	}
	if most.Load() > memory || most.Load() == 0 {
		t.Errorf("%d bytes in flight, the limit is %d", most.Load(), memory)
	}
}

func TestNothingIsLeftRunningAfterTheEnd(t *testing.T) {
	var open atomic.Int64
	counted := func() (func(context.Context, int) (int, error), func()) {
		open.Add(1)
		return func(_ context.Context, j int) (int, error) { return j, nil }, func() { open.Add(-1) }
	}
	// The consumer stops.
	for r, err := range blocksource.Ordered(t.Context(), numbers(1<<40), one, blocksource.Limits{Workers: 4, Memory: 100}, counted) {
		if err != nil || r == 10 {
			break
		}
	}
	if open.Load() != 0 {
		t.Errorf("%d workers are left after the consumer stopped", open.Load())
	}
	// The context ends.
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	for r, err := range blocksource.Ordered(ctx, numbers(1<<40), one, blocksource.Limits{Workers: 4, Memory: 100}, counted) {
		if last = err; r == 10 {
			cancel()
		}
	}
	cancel()
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled, the sequence ended with %v", last)
	}
	if open.Load() != 0 {
		t.Errorf("%d workers are left after the context ended", open.Load())
	}
}
