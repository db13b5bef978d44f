package core_test

import (
	"fmt"
	"slices"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// switching is a source that knows the database's chain only by the points of the locator, like a node after a
// restart. It sends a block of one branch, then rolls back to the newest known point of another chain and sends that
// chain.
func switching(next *model.Block, to []*model.Block) *script {
	s := &script{tip: next.Point()}
	s.say = func(yield func(model.Event, error) bool) {
		if !yield(model.Event{Block: next}, nil) {
			return
		}
		at := slices.IndexFunc(s.known, func(p model.Point) bool {
			return slices.ContainsFunc(to, func(b *model.Block) bool { return b.Hash == p.Hash })
		})
		ancestor := model.Point{}
		if at >= 0 {
			ancestor = s.known[at]
		}
		if !yield(back(ancestor), nil) {
			return
		}
		for _, b := range to {
			if (ancestor.IsOrigin() || b.Height > ancestor.Height) && !yield(model.Event{Block: b}, nil) {
				return
			}
		}
	}
	return s
}

// A reorganization removes and lists exactly the blocks that differ, also after a restart and after another
// reorganization.
func TestAForkRemovesOnlyTheBlocksThatDiffer(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[0]
	n := testseed.Of(t, 850)
	for _, depth := range []int{1, 2, 60, 101, 500} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			trunk := v.NewGenerator(n)
			shared := trunk.Blocks(120)
			ours, theirs := trunk.Fork(1).Blocks(depth), trunk.Fork(2).Blocks(depth+1)
			third := trunk.Fork(3).Blocks(depth + 3)
			store := memory.New()
			db := open(t, store, v, 1<<20)
			sync(t, db, events(shared, ours[:depth-1]), core.SyncOptions{})

			chain := func(branch []*model.Block) []*model.Block { return append(slices.Clip(shared), branch...) }
			var lost []string
			for _, fork := range []struct {
				from *model.Block
				of   []*model.Block // all orphaned blocks
				to   []*model.Block
			}{{ours[depth-1], ours, theirs[:depth]}, {theirs[depth], theirs, third}} {
				db = open(t, store, v, 1<<20) // restart
				sync(t, db, switching(fork.from, chain(fork.to)), core.SyncOptions{})
				if db.Tip() != fork.to[len(fork.to)-1].Point() {
					t.Fatalf("the tip is %d", db.Tip().Height)
				}
				var blocks []string
				for i, b := range fork.of {
					blocks = append(blocks, fmt.Sprintf("%d %s deep %d", b.Height, b.Hash, len(fork.of)-i))
				}
				lost = append(blocks, lost...)
			}
			a, err := db.Forks(t.Context(), query.Page{Limit: query.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			var listed []string
			for _, f := range a.Forks {
				listed = append(listed, fmt.Sprintf("%d %s deep %d", f.Height, f.Hash, f.Depth))
			}
			lost = lost[:min(len(lost), 1000)] // the database keeps 1,000
			for i := range max(len(lost), len(listed)) {
				if i >= len(lost) || i >= len(listed) || lost[i] != listed[i] {
					t.Fatalf("lost block %d of %d is %s, expected %s of %d",
						i, len(listed), at(listed, i), at(lost, i), len(lost))
				}
			}
			consistent(t, db)
			same(t, "after two forks", dump(t, db), fresh(t, v, chain(third)))
		})
	}
}
