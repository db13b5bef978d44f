package blocksource

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"birthmark/internal/guard"
)

// DefaultMemory is the default number of bytes in flight.
const DefaultMemory = 64 << 20

// Limits bound how far [Ordered] runs ahead of its consumer.
type Limits struct {
	Workers int   // goroutines; 0: one per processor
	Memory  int64 // bytes in flight, from the start of a job until its result is consumed; 0: [DefaultMemory]
}

// queued is the maximum number of waiting or finished jobs, whatever their size.
const queued = 1024

// Ordered runs the jobs of a sequence on several goroutines and yields their results in the order of the jobs.
//
// jobs is called once and yields the jobs. The context it gets, like the one that every job gets, is cancelled when the
// sequence ends, so that a consumer that stops does not wait for a call in flight. size returns the number of bytes
// that a job takes until its result is consumed; a job that exceeds the memory runs alone. worker is called once per
// goroutine: it returns the function that runs the jobs, and one that frees its resources.
//
// The first error, in the order of the jobs, is yielded and ends the sequence, as does the end of the context, with its
// error. After the end no goroutine of the sequence is left.
func Ordered[J, R any](
	ctx context.Context, jobs func(context.Context, func(J) bool), size func(J) int64, limits Limits,
	worker func() (do func(context.Context, J) (R, error), done func()),
) iter.Seq2[R, error] {
	if limits.Workers <= 0 {
		limits.Workers = runtime.GOMAXPROCS(0)
	}
	if limits.Memory <= 0 {
		limits.Memory = DefaultMemory
	}
	return func(yield func(R, error) bool) {
		type task struct {
			job    J
			size   int64
			result R
			err    error
			done   chan struct{}
		}
		inner, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		memory := semaphore.NewWeighted(limits.Memory)
		todo := make(chan *task)
		order := make(chan *task, queued)

		var broken error // read after order is closed
		running.Go(func() {
			defer close(order)
			defer close(todo)
			broken = guard.Call(func() error {
				for job := range func(yield func(J) bool) { jobs(inner, yield) } {
					t := &task{job: job, size: min(size(job), limits.Memory), done: make(chan struct{})}
					if memory.Acquire(inner, t.size) != nil {
						return nil
					}
					for _, to := range []chan *task{order, todo} {
						select {
						case to <- t:
						case <-inner.Done():
							return nil
						}
					}
				}
				return nil
			})
		})
		for range limits.Workers {
			running.Go(func() {
				do, done := worker()
				defer done()
				for t := range todo {
					t.err = guard.Call(func() (err error) {
						t.result, err = do(inner, t.job)
						return err
					})
					close(t.done)
				}
			})
		}

		var none R
		for {
			var t *task
			var more bool
			select {
			case t, more = <-order:
			case <-ctx.Done():
				yield(none, ctx.Err())
				return
			}
			if !more {
				// Either all jobs are done, or the context ended while the queue was filled.
				if err := cmp.Or(ctx.Err(), broken); err != nil {
					yield(none, err)
				}
				return
			}
			select {
			case <-t.done:
			case <-ctx.Done():
				yield(none, ctx.Err())
				return
			}
			if t.err != nil {
				yield(none, t.err)
				return
			}
			if !yield(t.result, nil) {
				return
			}
			memory.Release(t.size)
		}
	}
}
