package ouroborostest

import (
	"errors"
	"testing"
	"time"

	"github.com/blinklabs-io/gouroboros/ledger"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
	"github.com/blinklabs-io/gouroboros/protocol/handshake"
)

// Connections end at once. Then the node is available again at the same addresses.
func TestNodeRestarts(t *testing.T) {
	for side, toNode := range sides {
		t.Run(side, func(t *testing.T) {
			a := made(t, ledger.BlockTypeConway, 0, 3, "a")
			n := Start(t, magic, a)
			for _, goes := range []func(){n.Disconnect, n.Stop} {
				c := connected(t, n, toNode)
				c.sync(t, pcommon.NewPointOrigin())
				c.hears(t, "back to 0 of 2")
				c.hears(t, whatOf(toNode, a)...)
				goes()
				c.isCutOff(t)
			}
			if _, err := connect(t, n, toNode); err == nil {
				t.Error("a stopped node accepts connections")
			}
			if err := n.Restart(); err != nil {
				t.Fatal(err)
			}
			connected(t, n, toNode)
		})
	}
}

// The message of a rejection always reaches the client.
func TestHandshakeRefusesAnotherNetwork(t *testing.T) {
	n := Start(t, magic+1, nil)
	for side, toNode := range sides {
		for range 20 {
			_, err := connect(t, n, toNode)
			if _, ok := errors.AsType[*handshake.RefusedError](err); !ok {
				t.Fatalf("%s: %v, expected a rejection", side, err)
			}
		}
	}
}

func TestReplacedBlock(t *testing.T) {
	a, b := made(t, ledger.BlockTypeConway, 0, 3, "a"), made(t, ledger.BlockTypeConway, 0, 3, "b")
	mixed, err := a[1].WithBody(b[2])
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Blocks(append([]byte{0x82, 7}, mixed.CBOR...)); err != nil || again[0].Hash != a[1].Hash || text(again[0].CBOR) != text(b[2].CBOR) {
		t.Errorf("%+v, %v", again, err)
	}
	n := Start(t, magic, a)
	n.Misbehave(Faults{Instead: map[[32]byte]Block{a[1].Hash: mixed}})
	c := connected(t, n, true)
	c.sync(t, pcommon.NewPointOrigin())
	c.hears(t, "back to 0 of 2")
	c.hears(t, whatOf(true, a)...)
	if err := c.fetch(a[0], a[2]); err != nil {
		t.Fatal(err)
	}
	c.hears(t, append(bodies(a[0], b[2], a[2]), "done")...)
	c = connected(t, n, false)
	c.sync(t, pcommon.NewPointOrigin())
	c.hears(t, "back to 0 of 2")
	c.hears(t, bodies(a[0], b[2], a[2])...)
}

func TestNoiseAndSilence(t *testing.T) {
	a := made(t, ledger.BlockTypeConway, 0, 3, "a")
	for side, toNode := range sides {
		t.Run(side, func(t *testing.T) {
			n := Start(t, magic, a[:1])
			waiting := func() *client {
				n.Misbehave(Faults{})
				n.Rollback(1)
				c := connected(t, n, toNode)
				c.sync(t, pcommon.NewPointOrigin())
				c.hears(t, "back to 0 of 0")
				c.hears(t, whatOf(toNode, a[:1])...)
				return c
			}
			for _, f := range []Faults{{Garbage: true}, {Scrambled: true}} {
				c := waiting()
				n.Misbehave(f)
				n.Extend(a[1])
				if told := c.isCutOff(t); len(told) > 0 {
					t.Errorf("%+v: %v", f, told)
				}
				if _, err := connect(t, n, toNode); err == nil {
					t.Errorf("%+v: connected", f)
				}
			}
			c := waiting()
			n.Misbehave(Faults{Silent: true})
			n.Extend(a[1])
			n.Misbehave(Faults{})
			n.Extend(a[2])
			other := connected(t, n, toNode)
			other.sync(t, a[2].point())
			other.hears(t, "back to 40 of 2")
			select {
			case s := <-c.told:
				t.Errorf("received %s from a silent node", s)
			case <-time.After(10 * time.Millisecond):
			}
		})
	}
}
