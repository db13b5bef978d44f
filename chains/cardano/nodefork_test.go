package cardano

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// depths of forks; the last one is the most a node ever goes back.
var depths = []int{1, 10, 100, 2160}

func TestForksAtTheTipAreFollowed(t *testing.T) {
	trunk := branch(t, nil, 2200, 0)
	n := ouroborostest.Start(t, 2, trunk)
	bothWays(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		var steps []step
		var wanted []string
		chain := trunk
		for i, depth := range depths {
			keep := len(chain) - depth
			// As long as ours, longer, shorter.
			fork := branch(t, chain[:keep], depth+[]int{0, 1, -1, 0}[i], byte(i+1))
			steps = append(steps, step{chain, func() { n.Switch(keep, fork...) }})
			wanted = append(wanted, fmt.Sprint("<", keep-1))
			chain = with(chain, keep, fork...)
		}
		other := branch(t, nil, 30, 77)
		steps = append(steps, step{chain, func() { n.Switch(0, other...) }}, step{chain: other})
		wanted = append(wanted, "<origin")
		var l listener
		follows(t, overNode(t, uri, model.SourceOptions{Follow: true}), &l, nil, steps...)
		if !slices.Equal(l.events, wanted) {
			t.Errorf("%v, expected %v", l.events, wanted)
		}
	})
}

func TestForksWhileNobodyListensAreFound(t *testing.T) {
	trunk := branch(t, nil, 2200, 0)
	n := ouroborostest.Start(t, 2, trunk)
	bothWays(t, n, func(t *testing.T, uri string) {
		for i, depth := range append(depths, 0) {
			n.Switch(0, trunk...)
			s := overNode(t, uri, model.SourceOptions{})
			var l listener
			if err := hear(t, s, &l, nil); err != nil || !l.is(trunk) {
				t.Fatal(err, len(l.chain))
			}
			keep := len(trunk) - depth
			fork := branch(t, trunk[:keep], depth+1, byte(i+1))
			n.Switch(keep, fork...)
			if err := hear(t, s, &l, l.known(len(l.chain))); err != nil || !l.is(with(trunk, keep, fork...)) {
				t.Fatal(err, len(l.chain), l.events)
			}
			var wanted []string
			if depth > 0 {
				wanted = []string{fmt.Sprint("<", keep-1)}
			}
			if !slices.Equal(l.events, wanted) {
				t.Errorf("%d blocks deep: %v, expected %v", depth, l.events, wanted)
			}
		}
	})
}

func TestAPointNobodyRemembersIsLookedForAgain(t *testing.T) {
	trunk := branch(t, nil, 300, 0)
	n := ouroborostest.Start(t, 2, trunk)
	bothWays(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		var l listener
		s := overNode(t, uri, model.SourceOptions{})
		if err := hear(t, s, &l, nil); err != nil {
			t.Fatal(err)
		}
		// What a database remembers thins out.
		known := []model.Point{l.chain[299], l.chain[298], l.chain[290], l.chain[200], l.chain[0]}
		s = overNode(t, uri, model.SourceOptions{Follow: true})
		more, fork := branch(t, trunk, 1, 0), branch(t, trunk[:250], 60, 1)
		n.Extend(more...)
		follows(t, s, &l, known,
			step{with(trunk, 300, more...), func() { n.Switch(250, fork...) }}, step{chain: with(trunk, 250, fork...)})
		if want := []string{"<200"}; !slices.Equal(l.events, want) {
			t.Errorf("%v, expected %v", l.events, want)
		}
	})
}

// A node that comes back without its newest blocks, as after a crash, undoes nothing. It is asked until it has them.
func TestANodeThatIsBehindIsWaitedFor(t *testing.T) {
	trunk := branch(t, nil, 400, 0)
	n := ouroborostest.Start(t, 2, trunk)
	waits := func() {
		asked := n.Asked()["find intersect"]
		for n.Asked()["find intersect"] < asked+10 {
			time.Sleep(time.Millisecond)
		}
	}
	bothWays(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		behind := func(keep int, then []ouroborostest.Block) func() {
			return func() {
				n.Stop()
				n.Rollback(keep)
				if err := n.Restart(); err != nil {
					t.Error(err)
				}
				go func() {
					waits()
					n.Switch(keep, then...)
				}()
			}
		}
		whole := with(trunk, 400, branch(t, trunk, 20, 0)...)
		fork := branch(t, trunk[:390], 40, 1)
		var l listener
		follows(t, overNode(t, uri, model.SourceOptions{Follow: true}), &l, nil,
			step{trunk, behind(300, whole[300:405])},
			step{whole[:405], behind(0, whole[:406])},
			step{whole[:406], behind(395, whole[395:407])},
			step{whole[:407], behind(380, with(whole, 390, fork...)[380:])},
			step{chain: with(trunk, 390, fork...)},
		)
		if want := []string{"<389"}; !slices.Equal(l.events, want) {
			t.Errorf("%v, expected %v", l.events, want)
		}
	})
}

func TestASourceThatEndsDoesNotWaitForANodeThatIsBehind(t *testing.T) {
	trunk := branch(t, nil, 400, 0)
	n := ouroborostest.Start(t, 2, trunk)
	bothWays(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		l := listener{t: t}
		for e, err := range overNode(t, uri, model.SourceOptions{}).Follow(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if l.hear(e); len(l.chain) == 300 {
				n.Stop()
				n.Rollback(100)
				if err := n.Restart(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(l.events) > 0 || len(l.chain) < 300 {
			t.Errorf("%d blocks, %v", len(l.chain), l.events)
		}
	})
}
