package cardanotest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// told is events in short: a block's height, or < and the height it goes back to.
func told(e model.Event) string {
	switch {
	case e.Rollback == nil:
		return fmt.Sprint(e.Block.Height)
	case e.Rollback.IsOrigin():
		return "<origin"
	}
	return fmt.Sprint("<", e.Rollback.Height)
}

// listener applies what a source says to a chain of its own.
type Listener struct {
	T      testing.TB
	Chain  []model.Point
	Events []string // but for blocks that follow on each other
}

func (l *Listener) Apply(e model.Event) {
	l.T.Helper()
	if e.Rollback != nil {
		keep := 0
		if !e.Rollback.IsOrigin() {
			keep = int(e.Rollback.Height) + 1
		}
		if keep > len(l.Chain) || keep > 0 && l.Chain[keep-1] != *e.Rollback {
			l.T.Fatalf("it goes back to %v, which is not on the chain it told", *e.Rollback)
		}
		if keep < len(l.Chain) || keep == 0 { // else it says that the node has all of them
			l.Events = append(l.Events, told(e))
		}
		l.Chain = l.Chain[:keep]
		return
	}
	b := e.Block
	if int(b.Height) != len(l.Chain) || len(l.Chain) > 0 && b.Parent != l.Chain[len(l.Chain)-1].Hash {
		l.T.Fatalf("block %d (parent %s) comes after %d blocks", b.Height, b.Parent, len(l.Chain))
	}
	if genesis := len(b.Genesis) > 0; genesis != (b.Height == 0) {
		l.T.Fatalf("block %d comes with genesis: %v", b.Height, genesis)
	}
	l.Chain = append(l.Chain, b.Point())
}

// is reports whether the chain that was told is that of a node.
func (l *Listener) Is(blocks []ouroborostest.Block) bool {
	if len(l.Chain) != len(blocks) {
		return false
	}
	for i := len(blocks) - 1; i >= 0 && i > len(blocks)-3000; i-- {
		if l.Chain[i].Hash != blocks[i].Hash || l.Chain[i].Slot != blocks[i].Slot {
			return false
		}
	}
	return true
}

// known is the newest n points of the chain, newest first.
func (l *Listener) Known(n int) (points []model.Point) {
	for i := len(l.Chain) - 1; i >= 0 && len(points) < n; i-- {
		points = append(points, l.Chain[i])
	}
	return points
}

// hear is what a source that ends says, and its error.
func Collect(t testing.TB, s model.Source, l *Listener, known []model.Point) error {
	t.Helper()
	l.T = t
	for e, err := range s.Follow(t.Context(), known) {
		if err != nil {
			return err
		}
		l.Apply(e)
	}
	return nil
}

// follows hears a source until the chain it told is what is wanted of it, one after the other; after each, then is done.
func Expect(t testing.TB, s model.Source, l *Listener, known []model.Point, steps ...Step) {
	t.Helper()
	l.T = t
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e, err := range s.Follow(ctx, known) {
		if err != nil {
			t.Fatalf("%v; %d blocks, %v", err, len(l.Chain), l.Events)
		}
		l.Apply(e)
		for len(steps) > 0 && l.Is(steps[0].Chain) {
			then := steps[0].Then
			if steps = steps[1:]; then != nil {
				then()
			}
		}
		if len(steps) == 0 {
			return
		}
	}
	t.Fatal("it ended")
}

type Step struct {
	Chain []ouroborostest.Block
	Then  func()
}

func EachTransport(t *testing.T, n *ouroborostest.Node, f func(t *testing.T, uri string)) {
	t.Run("tcp", func(t *testing.T) { f(t, n.TCP()) })
	t.Run("unix", func(t *testing.T) { f(t, n.Unix()) })
}

// with is a chain's first blocks and others after them.
func Replace(chain []ouroborostest.Block, keep int, more ...ouroborostest.Block) []ouroborostest.Block {
	return append(slices.Clip(chain[:keep]), more...)
}

// wantError reports an error that is not as expected: kind BadSource, a code, what it says.
func WantError(t *testing.T, err error, code string, says ...string) {
	t.Helper()
	kind, got := model.KindOf(err)
	if err == nil || kind != model.BadSource || got != code {
		t.Errorf("%v (%s), expected %s", err, got, code)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than one line", err)
	}
}
