package ouroboros

import (
	"slices"
	"testing"

	"birthmark/internal/testseed"
)

// taken is the chain that results from the events of a fetch queue.
type taken struct {
	t      *testing.T
	chain  []Point
	events int
}

func (c *taken) take(e Event) {
	c.events++
	switch e.Kind {
	case Forward:
		c.chain = append(c.chain, e.Point)
	case Backward:
		n := slices.Index(c.chain, e.Point) + 1
		if n == 0 && !e.Point.IsOrigin() {
			c.t.Fatalf("rollback to %v, which was not yielded", e.Point)
		}
		if n == len(c.chain) {
			c.t.Fatalf("rollback to the current point %v", e.Point)
		}
		c.chain = c.chain[:n]
	}
}

// For any history of a node's chain, the yielded events end with that chain. Blocks are yielded in order, each range
// covers consecutive blocks, and the bytes in flight stay within the limit.
func TestFetchQueueYieldsTheNodesChain(t *testing.T) {
	r := testseed.Rand(t)
	for range 300 {
		var p fetchQueue
		p.lastKnown = true
		got := &taken{t: t}
		var chain []Point // the node's chain
		var next uint64
		memory := int64(r.IntN(50_000))
		coming := []Point{} // blocks of the requested ranges
		drain := func() {
			for e, ok := p.nextEvent(); ok; e, ok = p.nextEvent() {
				got.take(e)
			}
		}
		arrive := func() {
			if !p.ranges[0].started && !p.startBatch() {
				t.Fatal("a range could not begin")
			}
			if p.ranges[0].left == 0 {
				if !p.finishBatch() {
					t.Fatal("a range could not end")
				}
				return
			}
			e, ok := p.addBlock([]byte{1})
			if !ok || e.Point != coming[0] {
				t.Fatalf("received block %v, expected %v", e.Point, coming[0])
			}
			coming = coming[1:]
			got.take(e)
			drain()
		}
		request := func() {
			for b, ok := p.nextRange(memory); ok; b, ok = p.nextRange(memory) {
				if len(p.ranges) > 1 && p.bytes > memory || len(p.ranges) > rangesAhead {
					t.Fatalf("%d ranges, %d bytes in flight, the limit is %d", len(p.ranges), p.bytes, memory)
				}
				from := slices.IndexFunc(p.items, func(s queued) bool { return s.Kind == Forward && s.Point == b.from })
				for _, s := range p.items[from : from+b.left] {
					if s.Kind != Forward {
						t.Fatal("a range spans an event that is not a block")
					}
					coming = append(coming, s.Point)
				}
				if coming[len(coming)-1] != b.to {
					t.Fatal("a range has another end")
				}
			}
		}
		for range 200 {
			switch n := r.IntN(10); {
			case n < 5:
				next++
				at := Point{Slot: next, Hash: [32]byte{byte(next), byte(next >> 8), 1}}
				chain = append(chain, at)
				p.addHeader(Header{Point: at, Size: r.IntN(100_000)}, Tip{})
			case n == 5 && len(chain) > 0:
				chain = chain[:r.IntN(len(chain)+1)]
				to := Point{}
				if len(chain) > 0 {
					to = chain[len(chain)-1]
				}
				p.addRollback(to, Tip{})
				drain()
			case n == 6:
				p.addWaiting(Tip{})
				drain()
			case n == 7:
				request()
			case len(p.ranges) > 0:
				arrive()
			}
		}
		for request(); len(p.ranges) > 0; request() {
			arrive()
		}
		drain()
		if !slices.Equal(got.chain, chain) || p.bytes != 0 || p.unrequested() != 0 {
			t.Fatalf("%d blocks were yielded, the node has %d; %d bytes, %d headers left", len(got.chain), len(chain), p.bytes, p.unrequested())
		}
	}
}

func TestRolledBackHeadersAreNotRequested(t *testing.T) {
	at := func(n uint64) Point { return Point{Slot: n, Hash: [32]byte{1}} }
	p := fetchQueue{lastKnown: true}
	for n := range uint64(10) {
		p.addHeader(Header{Point: at(n + 1), Size: 1}, Tip{})
	}
	first, ok := p.nextRange(1 << 20)
	if !ok || first.left != 10 {
		t.Fatal(first, ok)
	}
	for n := range uint64(10) {
		p.addHeader(Header{Point: at(n + 11), Size: 1}, Tip{})
	}
	p.addRollback(at(15), Tip{})
	if p.unrequested() != 5 || len(p.items) != 15 {
		t.Errorf("%d headers are not requested, the queue has %d", p.unrequested(), len(p.items))
	}
	p.addRollback(at(10), Tip{})
	if p.unrequested() != 0 || len(p.items) != 10 {
		t.Errorf("%d headers are not requested, the queue has %d", p.unrequested(), len(p.items))
	}
	p.addRollback(at(3), Tip{})
	if len(p.items) != 11 || p.items[10].Kind != Backward {
		t.Errorf("a rollback over requested blocks is %v", p.items[10:])
	}
}
