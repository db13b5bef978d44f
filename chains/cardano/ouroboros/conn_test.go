package ouroboros

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
)

// asked connects to a node that answers searches for an intersection with the given messages, and then sends nothing.
func asked(t *testing.T, answers ...[]byte) *Conn {
	t.Helper()
	c, err := script(t, "tcp", Options{Magic: 2, Timeout: 100 * time.Millisecond}, func(s scripted) {
		s.hears()
		s.accept(2)
		for _, a := range answers {
			s.hears()
			s.say(chainSyncToNode, a...)
		}
		s.hears()
		s.hears()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestNoIntersectionIsTheOrigin(t *testing.T) {
	notFound := []byte{0x82, 0x06, 0x82, 0x80, 0x07}
	found := []byte{0x83, 0x05, 0x80, 0x82, 0x80, 0x08}
	for _, c := range []struct {
		answers [][]byte
		number  uint64
	}{
		{[][]byte{notFound, found}, 8},
		{[][]byte{notFound, notFound}, 7}, // some nodes do not accept the origin
	} {
		synctest.Test(t, func(t *testing.T) {
			at, tip, err := asked(t, c.answers...).Intersect(t.Context(), []Point{{Slot: 4, Hash: hash}})
			if err != nil || !at.IsOrigin() || tip.Number != c.number {
				t.Errorf("%v, %v, %v", at, tip, err)
			}
		})
	}
}

func TestIntersectChecksAnswers(t *testing.T) {
	found := []byte{0x83, 0x05, 0x80, 0x82, 0x80, 0x08}
	for name, c := range map[string]struct {
		answers   [][]byte
		code      string
		temporary bool
	}{
		"none":            {nil, "silent", true},
		"two":             {[][]byte{append(found, found...)}, "bad_answer", false},
		"of another kind": {[][]byte{{0x81, 0x01}}, "bad_answer", false},
		"noise":           {[][]byte{{0x1c}}, "bad_answer", false},
		"half of one":     {[][]byte{found[:3]}, "silent", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, err := asked(t, c.answers...).Intersect(t.Context(), nil)
				wantError(t, err, c.code, c.temporary)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, _, err := asked(t).Intersect(ctx, nil); err != context.DeadlineExceeded {
			t.Error(err)
		}
	})
}

// A connection without outstanding responses can be reused.
func TestChildLeavesTheConnectionUsable(t *testing.T) {
	testrun.Slow(t)
	blocks := preview(t)[:50]
	n := ouroborostest.Start(t, 2, blocks)
	for _, uri := range []string{n.TCP(), n.Unix()} {
		c, err := dial(t, uri, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		at := func(i int) Point { return Point{Slot: blocks[i].Slot, Hash: blocks[i].Hash} }
		for i := range blocks[1:] {
			e, ok, err := c.Child(t.Context(), at(i))
			if err != nil || !ok || string(e.Block[2:]) != string(blocks[i+1].CBOR) || c.Used() {
				t.Fatalf("after block %d: %v, %v, used %v", i, ok, err, c.Used())
			}
		}
		for what, p := range map[string]Point{"the tip": at(49), "what is not there": {Slot: 5, Hash: hash}} {
			if _, ok, err := c.Child(t.Context(), p); ok || err != nil || c.Used() {
				t.Errorf("after %s: %v, %v, used %v", what, ok, err, c.Used())
			}
		}
		if e, ok, err := c.Child(t.Context(), Point{}); err != nil || !ok || string(e.Block[2:]) != string(blocks[0].CBOR) {
			t.Errorf("after the origin: %v, %v", ok, err)
		}
	}
	if n := n.Asked()["connection"]; n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestClosedConnection(t *testing.T) {
	blocks := preview(t)[:5]
	n := ouroborostest.Start(t, 2, blocks)
	c, err := dial(t, n.TCP(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n.Stop()
	_, _, err = c.Intersect(t.Context(), nil)
	wantError(t, err, "disconnected", true)
	_, _, err = c.Intersect(t.Context(), nil)
	wantError(t, err, "disconnected", true)
	c.Close()
	c.Close()
}
