package core

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// countedContext counts how often its user waits for its end.
type countedContext struct {
	context.Context
	waits *atomic.Int64
}

func (c countedContext) Done() <-chan struct{} {
	c.waits.Add(1)
	return c.Context.Done()
}

// A sync that waits for the next block does not wake up until it arrives.
func TestASyncWithoutBlocksSleeps(t *testing.T) {
	v := modeltest.Variant{Name: "empty blocks", ByHand: true}
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(t.Context(), memory.New(), Options{Chain: v.Chain("one")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var waits atomic.Int64
		s := &syncer{db: db, events: make(chan model.Event), batches: make(chan job, 1)}
		s.o.BatchWeight, s.o.BatchBytes = 1000, 1<<20
		ended := make(chan error)
		go func() { ended <- s.batch(countedContext{ctx, &waits}) }()
		sleep := func() {
			before := waits.Load()
			time.Sleep(time.Hour)
			if n := waits.Load() - before; n > 1 {
				t.Errorf("%d wake-ups in an hour without blocks", n)
			}
		}
		sleep()
		s.events <- model.Event{Block: &model.Block{Time: 7, Hash: model.Hash{1}}}
		began := time.Now()
		if j := <-s.batches; len(j.blocks) != 1 || time.Since(began) != idleFlush {
			t.Errorf("%d blocks after %v, expected one after %v", len(j.blocks), time.Since(began), idleFlush)
		}
		sleep()
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Error(err)
		}
	})
}
