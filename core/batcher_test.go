package core_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// updates is a store that counts its updates.
type updates struct {
	storage.Store
	n int
}

func (u *updates) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	u.n++
	return u.Store.Update(ctx, fn)
}

// Below the tip, blocks of a slow source wait for a larger batch, for a limited time. At the tip they are written at
// once.
func TestBatchesOfASlowSource(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 161)).Blocks(30)
	last := blocks[29].Point()
	for _, test := range []struct {
		name    string
		pause   time.Duration
		tip     model.Point
		batches int
	}{
		{"short pauses below the tip", 300 * time.Millisecond, last, 1},
		{"so many that they last long", 900 * time.Millisecond, last, 3},
		{"long pauses below the tip", 2 * time.Second, last, 30},
		{"short pauses beyond it", 300 * time.Millisecond, blocks[0].Point(), 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &updates{Store: memory.New()}
				db := open(t, store, v, 0)
				before := store.n
				ctx, stop := context.WithCancel(context.Background())
				source := &script{tip: test.tip, say: func(yield func(model.Event, error) bool) {
					for _, b := range blocks {
						if time.Sleep(test.pause); !yield(model.Event{Block: b}, nil) {
							return
						}
					}
					time.Sleep(time.Second) // the last batch is written in the meantime
					stop()
				}}
				if err := core.Sync(ctx, db, source, core.SyncOptions{}); !errors.Is(err, context.Canceled) {
					t.Errorf("Sync returns %v", err)
				}
				if n := store.n - before; n != test.batches {
					t.Errorf("%d batches, expected %d", n, test.batches)
				}
				same(t, "of a slow source", dump(t, db), fresh(t, v, blocks))
				consistent(t, db)
			})
		})
	}
}
