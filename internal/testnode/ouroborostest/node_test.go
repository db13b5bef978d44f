package ouroborostest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

// whatOf returns the log lines of blocks.
func whatOf(toNode bool, blocks []Block) (told []string) {
	for _, b := range blocks {
		said := fmt.Sprintf("type %d: %s", b.Type, text(b.CBOR))
		if toNode {
			_, after, _ := strings.Cut(said, "body ")
			_, salt, _ := strings.Cut(after, " ")
			said = fmt.Sprintf("type %d: %v", b.Type, []any{b.Number, b.Slot, salt})
		}
		told = append(told, said)
	}
	return told
}

func (c *client) sync(t *testing.T, points ...pcommon.Point) {
	t.Helper()
	if err := c.ChainSync().Client.Sync(points); err != nil {
		t.Fatal(err)
	}
}

// Clients of both sides receive every change of the chain, whether they wait at its end or not.
func TestClientsFollowTheChain(t *testing.T) {
	for side, toNode := range sides {
		t.Run(side, func(t *testing.T) {
			a, b := made(t, ledger.BlockTypeConway, 0, 30, "a"), made(t, ledger.BlockTypeConway, 5, 10, "b")
			n := Start(t, magic, a[:10])
			first, second := connected(t, n, toNode), connected(t, n, toNode)
			first.sync(t, pcommon.NewPointOrigin())
			first.hears(t, "back to 0 of 9")
			first.hears(t, whatOf(toNode, a[:10])...)
			second.sync(t, a[20].point(), a[8].point(), a[7].point())
			second.hears(t, "back to 160 of 9")
			second.hears(t, whatOf(toNode, a[9:10])...)
			for _, step := range []struct {
				do   func()
				back string
				then []Block
			}{
				{do: func() { n.Extend(a[10:12]...) }, then: a[10:12]},
				{do: func() { n.Switch(5, b...) }, back: "back to 80 of 14", then: b},
				{do: func() { n.Rollback(6) }, back: "back to 100 of 5"},
				{do: func() { n.Extend(b[1:]...) }, then: b[1:]},
				{do: func() { n.Switch(5, a[5:]...) }, back: "back to 80 of 29", then: a[5:]},
				{do: func() { n.Rollback(0) }, back: "back to 0 of 0"},
				{do: func() { n.Extend(a[:3]...) }, then: a[:3]},
			} {
				step.do()
				for _, c := range []*client{first, second} {
					if step.back != "" {
						c.hears(t, step.back)
					}
					c.hears(t, whatOf(toNode, step.then)...)
				}
			}
			if tip := n.Tip(); tip.Hash != a[2].Hash {
				t.Errorf("the tip is block %d", tip.Number)
			}
		})
	}
}

func TestNoIntersection(t *testing.T) {
	for side, toNode := range sides {
		t.Run(side, func(t *testing.T) {
			a := made(t, ledger.BlockTypeConway, 0, 10, "a")
			n := Start(t, magic, a[:5])
			c := connected(t, n, toNode)
			elsewhere := pcommon.NewPoint(a[3].Slot, a[2].Hash[:])
			err := c.ChainSync().Client.Sync([]pcommon.Point{a[7].point(), elsewhere})
			if !errors.Is(err, chainsync.ErrIntersectNotFound) {
				t.Errorf("%v, expected %v", err, chainsync.ErrIntersectNotFound)
			}
			if tip, err := c.ChainSync().Client.GetCurrentTip(); err != nil || tip.BlockNumber != 4 {
				t.Errorf("tip %+v, %v", tip, err)
			}
		})
	}
}

// If the intersection is no longer on the chain, the first message after it is a rollback.
func TestIntersectionIsRolledBack(t *testing.T) {
	for side, toNode := range sides {
		t.Run(side, func(t *testing.T) {
			a, b := made(t, ledger.BlockTypeConway, 0, 10, "a"), made(t, ledger.BlockTypeConway, 5, 5, "b")
			n := Start(t, magic, a)
			n.AfterIntersection(func() { n.Switch(5, b...) })
			c := connected(t, n, toNode)
			// An intersection that is not found changes nothing. (GetCurrentTip would also send a request for one, but
			// the Sync that follows at once could read its answer.)
			if err := c.ChainSync().Client.Sync([]pcommon.Point{b[0].point()}); !errors.Is(err, chainsync.ErrIntersectNotFound) {
				t.Fatalf("%v, expected %v", err, chainsync.ErrIntersectNotFound)
			}
			c.sync(t, a[9].point())
			c.hears(t, "back to 80 of 9")
			c.hears(t, whatOf(toNode, b)...)
			c = connected(t, n, toNode)
			c.sync(t, b[3].point())
			c.hears(t, "back to 160 of 9")
		})
	}
}
