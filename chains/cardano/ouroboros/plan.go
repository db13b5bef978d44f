package ouroboros

import "slices"

// How blocks are asked for over TCP.
const (
	rangeBytes  = 512 << 10 // of blocks that one range has, as far as headers tell
	rangeBlocks = 1000      // that one range has at most
	rangesAhead = 16        // that are under way at most
	unknownSize = 64 << 10  // of a block whose header does not tell
)

// plan is what a node announced and what was not handed on yet, in order: headers, of which the first ones are asked for
// or under way, and what happened between them.
type fetchQueue struct {
	items       []queued
	first       int // of items that were not handed on
	nextRequest int // of items that were not asked for: a header, or whatever comes after the last one that was

	ranges []blockRange // under way, oldest first
	bytes  int64        // of the blocks under way

	lastYielded Point // what was handed on last
	lastKnown   bool  // it is known what that was
}

// step is one item of a plan.
type queued struct {
	Event
	size int64
}

// batch is a range of blocks under way.
type blockRange struct {
	from, to Point
	left     int // blocks to come
	started  bool
}

// announce takes a header.
func (p *fetchQueue) addHeader(h Header, tip Tip) {
	size := int64(h.Size)
	if size == 0 {
		size = unknownSize
	}
	p.items = append(p.items, queued{Event{Kind: Forward, Point: h.Point, Tip: tip}, size})
}

// wait takes that there is nothing more for now.
func (p *fetchQueue) addWaiting(tip Tip) {
	p.items = append(p.items, queued{Event: Event{Kind: Waiting, Tip: tip}})
}

// back takes a way back. Headers that were not asked for are dropped; where that is all there is to it, nobody hears of
// it.
func (p *fetchQueue) addRollback(to Point, tip Tip) {
	for n := len(p.items); n > p.first; n = len(p.items) {
		last := &p.items[n-1]
		if last.Kind != Waiting && last.Point == to {
			return
		}
		if last.Kind != Waiting && (last.Kind == Backward || n <= p.nextRequest) {
			break
		}
		p.items = p.items[:n-1]
		p.nextRequest = min(p.nextRequest, n-1)
	}
	if p.first == len(p.items) && p.lastKnown && p.lastYielded == to {
		return
	}
	p.items = append(p.items, queued{Event: Event{Kind: Backward, Point: to, Tip: tip}})
}

// request is the next range to ask for; none where it is better to wait for more of it.
func (p *fetchQueue) nextRange(memory int64) (b blockRange, ok bool) {
	for p.nextRequest < len(p.items) && p.items[p.nextRequest].Kind != Forward {
		p.nextRequest++
	}
	end, bytes := p.nextRequest, int64(0)
	for end < len(p.items) && p.items[end].Kind == Forward && end-p.nextRequest < rangeBlocks && bytes < rangeBytes {
		bytes += p.items[end].size
		end++
	}
	n := end - p.nextRequest
	whole := n == rangeBlocks || bytes >= rangeBytes || end < len(p.items)
	if idle := len(p.ranges) == 0; n == 0 || !idle && (!whole || len(p.ranges) == rangesAhead || p.bytes+bytes > memory) {
		return b, false
	}
	b = blockRange{from: p.items[p.nextRequest].Point, to: p.items[end-1].Point, left: n}
	p.ranges, p.bytes, p.nextRequest = append(p.ranges, b), p.bytes+bytes, end
	return b, true
}

// begin takes that the blocks of the oldest range come, and reports whether they were to.
func (p *fetchQueue) startBatch() bool {
	if len(p.ranges) == 0 || p.ranges[0].started {
		return false
	}
	p.ranges[0].started = true
	return true
}

// done takes that there are no more, and reports whether all have come.
func (p *fetchQueue) finishBatch() bool {
	if len(p.ranges) == 0 || !p.ranges[0].started || p.ranges[0].left > 0 {
		return false
	}
	p.ranges = p.ranges[1:]
	return true
}

// arrived takes a block of the oldest range under way, and reports whether one was to come.
func (p *fetchQueue) addBlock(block []byte) (Event, bool) {
	if len(p.ranges) == 0 || !p.ranges[0].started || p.ranges[0].left == 0 {
		return Event{}, false
	}
	p.ranges[0].left--
	s := p.pop()
	p.bytes -= s.size
	s.Block = block
	return s.Event, true
}

// ready is the next item that waits for no block.
func (p *fetchQueue) nextEvent() (Event, bool) {
	if p.first == len(p.items) || p.items[p.first].Kind == Forward {
		return Event{}, false
	}
	return p.pop().Event, true
}

func (p *fetchQueue) pop() queued {
	s := p.items[p.first]
	if p.first++; p.first > 1024 && p.first > len(p.items)/2 {
		p.items = slices.Delete(p.items, 0, p.first)
		p.nextRequest, p.first = max(p.nextRequest-p.first, 0), 0
	}
	p.nextRequest = max(p.nextRequest, p.first)
	if s.Kind != Waiting {
		p.lastYielded, p.lastKnown = s.Point, true
	}
	return s
}

// unasked is how many headers wait to be asked for.
func (p *fetchQueue) unrequested() int { return len(p.items) - p.nextRequest }
