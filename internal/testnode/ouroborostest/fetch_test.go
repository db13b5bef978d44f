package ouroborostest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/blinklabs-io/gouroboros/ledger"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

// bodies returns the log lines of whole blocks.
func bodies(blocks ...Block) (told []string) {
	for _, b := range blocks {
		told = append(told, fmt.Sprintf("type %d: %s", b.Type, text(b.CBOR)))
	}
	return told
}

func (c *client) fetch(from, to Block) error {
	return c.BlockFetch().Client.GetBlockRange(from.point(), to.point())
}

func TestRangesAreFetched(t *testing.T) {
	a, b := made(t, ledger.BlockTypeConway, 0, 100, "a"), made(t, ledger.BlockTypeConway, 0, 100, "b")
	n := Start(t, magic, a)
	c := connected(t, n, true)
	for _, r := range [][2]int{{0, 99}, {5, 5}, {98, 99}} {
		if err := c.fetch(a[r[0]], a[r[1]]); err != nil {
			t.Fatal(err)
		}
		c.hears(t, append(bodies(a[r[0]:r[1]+1]...), "done")...)
	}
	elsewhere := a[7]
	elsewhere.Slot++
	for _, r := range [][2]Block{{a[0], b[3]}, {b[0], a[3]}, {a[4], a[3]}, {elsewhere, elsewhere}, {{}, a[3]}} {
		if err := c.fetch(r[0], r[1]); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("slots %d to %d: %v", r[0].Slot, r[1].Slot, err)
		}
	}
	n.Misbehave(Faults{NoBlocks: true})
	if err := c.fetch(a[0], a[3]); err == nil {
		t.Error("received blocks, expected none")
	}
	if asked := n.Asked(); asked["request range"] != 9 || asked["connection"] != 1 {
		t.Errorf("%v", asked)
	}
}

// More blocks than gouroboros' queue holds, and blocks larger than a frame.
func TestLargeBlocksAreFetched(t *testing.T) {
	blocks := made(t, ledger.BlockTypeConway, 0, 60, strings.Repeat("large ", 15_000))
	n := Start(t, magic, blocks)
	c := connected(t, n, true)
	if err := c.fetch(blocks[0], blocks[59]); err != nil {
		t.Fatal(err)
	}
	c.hears(t, append(bodies(blocks...), "done")...)
}

// The connection breaks in the middle of a message: everything before it is sent, and nothing after it.
func TestDisconnectDuringBatch(t *testing.T) {
	a := made(t, ledger.BlockTypeConway, 0, 20, "a")
	n := Start(t, magic, a)
	for side, toNode := range sides {
		for _, after := range []int{1, 7, 19} {
			c := connected(t, n, toNode)
			n.CutAfter(after)
			if toNode {
				_ = c.fetch(a[0], a[19]) // the connection may have ended already
			} else {
				c.sync(t, pcommon.NewPointOrigin())
			}
			c.isCutOff(t)
			got := c.received()
			for i, b := range a {
				if arrived := strings.Contains(got, string(b.CBOR)); arrived != (i < after) {
					t.Errorf("%s, cut after %d: block %d arrived: %t", side, after, i, arrived)
				}
			}
		}
	}
}

// Byron headers carry the kind of their block.
func TestByron(t *testing.T) {
	chain := append(made(t, ledger.BlockTypeByronEbb, 0, 1, "boundary"), made(t, ledger.BlockTypeByronMain, 1, 3, "main")...)
	if last := chain[3]; last.Slot != 2*21_600+3 || last.Number != 3 {
		t.Errorf("slot %d, number %d", last.Slot, last.Number)
	}
	n := Start(t, magic, chain)
	c := connected(t, n, true)
	c.sync(t, pcommon.NewPointOrigin())
	c.hears(t, "back to 0 of 3")
	for _, b := range chain {
		said := <-c.told
		if want := fmt.Sprintf("type %d: ", b.Type); !strings.HasPrefix(said, want) {
			t.Errorf("received %s for block %d, expected %s…", said, b.Number, want)
		}
	}
}
