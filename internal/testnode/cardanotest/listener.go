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

// brief formats an event: the height of a block, or < and the height of a rollback.
func brief(e model.Event) string {
	switch {
	case e.Rollback == nil:
		return fmt.Sprint(e.Block.Height)
	case e.Rollback.IsOrigin():
		return "<origin"
	}
	return fmt.Sprint("<", e.Rollback.Height)
}

// Listener applies the events of a source to a chain.
type Listener struct {
	T      testing.TB
	Chain  []model.Point
	Events []string // rollbacks that removed blocks
}

// Apply adds the block of an event, or removes those after its rollback. It fails the test if that is not possible.
func (l *Listener) Apply(e model.Event) {
	l.T.Helper()
	if e.Rollback != nil {
		keep := 0
		if !e.Rollback.IsOrigin() {
			keep = int(e.Rollback.Height) + 1
		}
		if keep > len(l.Chain) || keep > 0 && l.Chain[keep-1] != *e.Rollback {
			l.T.Fatalf("rollback to %v, which is not on the chain", *e.Rollback)
		}
		if keep < len(l.Chain) || keep == 0 { // otherwise the rollback removes nothing: the node has all blocks
			l.Events = append(l.Events, brief(e))
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

// Is reports whether the chain is that of a node.
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

// Known returns the newest n points of the chain, newest first.
func (l *Listener) Known(n int) (points []model.Point) {
	for i := len(l.Chain) - 1; i >= 0 && len(points) < n; i-- {
		points = append(points, l.Chain[i])
	}
	return points
}

// Collect applies the events of a source that ends, and returns its error.
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

// Expect applies the events of a source until the chain was that of each step, in order.
func Expect(t testing.TB, s model.Source, l *Listener, known []model.Point, steps ...Step) {
	t.Helper()
	l.T = t
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
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
	t.Fatal("the stream ended")
}

// Step is a chain that [Expect] waits for, and a function to call once it is there.
type Step struct {
	Chain []ouroborostest.Block
	Then  func()
}

// EachTransport runs a test over the Unix socket of a node and over TCP, with -short only over the socket.
func EachTransport(t *testing.T, n *ouroborostest.Node, f func(t *testing.T, uri string)) {
	t.Run("unix", func(t *testing.T) { f(t, n.Unix()) })
	if !testing.Short() {
		t.Run("tcp", func(t *testing.T) { f(t, n.TCP()) })
	}
}

// Replace returns the first keep blocks of a chain and more after them.
func Replace(chain []ouroborostest.Block, keep int, more ...ouroborostest.Block) []ouroborostest.Block {
	return append(slices.Clip(chain[:keep]), more...)
}

// WantError checks that an error is of kind BadSource, has a code, is one line and contains texts.
func WantError(t *testing.T, err error, code string, says ...string) {
	t.Helper()
	kind, got := model.KindOf(err)
	if err == nil || kind != model.BadSource || got != code {
		t.Errorf("%v (%s), expected %s", err, got, code)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not contain %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than one line", err)
	}
}
