package cardano

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// depths of forks. A node rolls back at most 2160 blocks.
var depths = []int{1, 10, 100, 2160}

func TestForksAtTheTip(t *testing.T) {
	trunk := branch(t, nil, 2200, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		var steps []cardanotest.Step
		var wanted []string
		chain := trunk
		for i, depth := range depths {
			keep := len(chain) - depth
			// The fork is as long as the replaced branch, longer, or shorter.
			fork := branch(t, chain[:keep], depth+[]int{0, 1, -1, 0}[i], byte(i+1))
			steps = append(steps, cardanotest.Step{Chain: chain, Then: func() { n.Switch(keep, fork...) }})
			wanted = append(wanted, fmt.Sprint("<", keep-1))
			chain = cardanotest.Replace(chain, keep, fork...)
		}
		other := branch(t, nil, 30, 77)
		steps = append(steps, cardanotest.Step{Chain: chain, Then: func() { n.Switch(0, other...) }}, cardanotest.Step{Chain: other})
		wanted = append(wanted, "<origin")
		var l cardanotest.Listener
		cardanotest.Expect(t, overNode(t, uri, model.SourceOptions{Follow: true}), &l, nil, steps...)
		if !slices.Equal(l.Events, wanted) {
			t.Errorf("%v, expected %v", l.Events, wanted)
		}
	})
}

func TestForksWhileDisconnected(t *testing.T) {
	testrun.Slow(t)
	trunk := branch(t, nil, 2200, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		for i, depth := range append(depths, 0) {
			n.Switch(0, trunk...)
			s := overNode(t, uri, model.SourceOptions{})
			var l cardanotest.Listener
			if err := cardanotest.Collect(t, s, &l, nil); err != nil || !l.Is(trunk) {
				t.Fatal(err, len(l.Chain))
			}
			keep := len(trunk) - depth
			fork := branch(t, trunk[:keep], depth+1, byte(i+1))
			n.Switch(keep, fork...)
			if err := cardanotest.Collect(t, s, &l, l.Known(len(l.Chain))); err != nil || !l.Is(cardanotest.Replace(trunk, keep, fork...)) {
				t.Fatal(err, len(l.Chain), l.Events)
			}
			var wanted []string
			if depth > 0 {
				wanted = []string{fmt.Sprint("<", keep-1)}
			}
			if !slices.Equal(l.Events, wanted) {
				t.Errorf("%d blocks deep: %v, expected %v", depth, l.Events, wanted)
			}
		}
	})
}

func TestUnknownRollbackPointIsSearchedAgain(t *testing.T) {
	trunk := branch(t, nil, 300, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		var l cardanotest.Listener
		s := overNode(t, uri, model.SourceOptions{})
		if err := cardanotest.Collect(t, s, &l, nil); err != nil {
			t.Fatal(err)
		}
		// A database keeps only some of the older points.
		known := []model.Point{l.Chain[299], l.Chain[298], l.Chain[290], l.Chain[200], l.Chain[0]}
		s = overNode(t, uri, model.SourceOptions{Follow: true})
		more, fork := branch(t, trunk, 1, 0), branch(t, trunk[:250], 60, 1)
		n.Extend(more...)
		cardanotest.Expect(t, s, &l, known,
			cardanotest.Step{Chain: cardanotest.Replace(trunk, 300, more...), Then: func() { n.Switch(250, fork...) }}, cardanotest.Step{Chain: cardanotest.Replace(trunk, 250, fork...)})
		if want := []string{"<200"}; !slices.Equal(l.Events, want) {
			t.Errorf("%v, expected %v", l.Events, want)
		}
	})
}

// A node that restarts without its newest blocks, as after a crash, causes no rollback. The source polls until the node
// has the blocks again.
func TestSourceWaitsForNodeThatIsBehind(t *testing.T) {
	trunk := branch(t, nil, 400, 0)
	n := ouroborostest.Start(t, 2, trunk)
	waits := func() {
		asked := n.Asked()["find intersect"]
		for n.Asked()["find intersect"] < asked+10 {
			time.Sleep(time.Millisecond)
		}
	}
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
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
		whole := cardanotest.Replace(trunk, 400, branch(t, trunk, 20, 0)...)
		fork := branch(t, trunk[:390], 40, 1)
		var l cardanotest.Listener
		cardanotest.Expect(t, overNode(t, uri, model.SourceOptions{Follow: true}), &l, nil,
			cardanotest.Step{Chain: trunk, Then: behind(300, whole[300:405])},
			cardanotest.Step{Chain: whole[:405], Then: behind(0, whole[:406])},
			cardanotest.Step{Chain: whole[:406], Then: behind(395, whole[395:407])},
			cardanotest.Step{Chain: whole[:407], Then: behind(380, cardanotest.Replace(whole, 390, fork...)[380:])},
			cardanotest.Step{Chain: cardanotest.Replace(trunk, 390, fork...)},
		)
		if want := []string{"<389"}; !slices.Equal(l.Events, want) {
			t.Errorf("%v, expected %v", l.Events, want)
		}
	})
}

func TestFiniteSourceDoesNotWaitForNode(t *testing.T) {
	trunk := branch(t, nil, 400, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		l := cardanotest.Listener{T: t}
		for e, err := range overNode(t, uri, model.SourceOptions{}).Follow(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if l.Apply(e); len(l.Chain) == 300 {
				n.Stop()
				n.Rollback(100)
				if err := n.Restart(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(l.Events) > 0 || len(l.Chain) < 300 {
			t.Errorf("%d blocks, %v", len(l.Chain), l.Events)
		}
	})
}
