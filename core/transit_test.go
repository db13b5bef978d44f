package core_test

import (
	"context"
	"fmt"
	gosync "sync"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// Blocks and reorganizations that a source has at once appear at once: no snapshot and no notification shows a tip that
// the source did not have, however slowly it yields the blocks.
func TestQueriesSeeOnlyTipsOfTheSource(t *testing.T) {
	v := modeltest.Variants()[0]
	trunk := v.NewGenerator(testseed.Of(t, 130))
	shared := trunk.Blocks(20)
	branches := [][]*model.Block{shared}
	for i, n := range []int{30, 25, 1, 2, 40} {
		branches = append(branches, trunk.Fork(uint64(i+1)).Blocks(n))
	}
	db := open(t, memory.New(), v, 1<<20)
	tips := map[model.Point]bool{{}: true}
	for _, b := range branches {
		tips[b[len(b)-1].Point()] = true
	}
	tips[shared[19].Point()] = true
	ctx, cancel := context.WithCancel(t.Context())
	var readers gosync.WaitGroup
	seen := map[model.Point]int{}
	readers.Go(func() {
		for ctx.Err() == nil {
			tip, _ := db.Moved()
			seen[tip]++
			_ = db.View(ctx, func(v *query.View) error {
				seen[v.Tip]++
				return nil
			})
		}
	})
	s := &script{}
	s.say = func(yield func(model.Event, error) bool) {
		for i, branch := range branches {
			tip := branch[len(branch)-1].Point()
			if i > 0 {
				at := shared[19].Point()
				if !yield(model.Event{Rollback: &at, Tip: tip.Height}, nil) {
					return
				}
			}
			for _, b := range branch {
				if b.Height%7 == 0 {
					time.Sleep(30 * time.Millisecond) // longer than the pause after which a batch is written at the tip
				}
				if !yield(model.Event{Block: b, Tip: tip.Height}, nil) {
					return
				}
			}
			for db.Tip() != tip {
				time.Sleep(time.Millisecond)
			}
		}
		at := shared[19].Point() // no blocks follow
		yield(model.Event{Rollback: &at, Tip: at.Height}, nil)
	}
	sync(t, db, s, core.SyncOptions{})
	cancel()
	readers.Wait()
	for tip, n := range seen {
		if !tips[tip] {
			t.Errorf("%d times at block %d, which was never the tip of the source", n, tip.Height)
		}
	}
	if db.Tip() != shared[19].Point() {
		t.Errorf("the tip is %d", db.Tip().Height)
	}
	if len(seen) < 3 {
		t.Error(fmt.Sprint("only ", len(seen), " tips were seen"))
	}
	consistent(t, db)
}
