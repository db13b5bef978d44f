package ouroboros

import (
	"slices"
	"time"

	"birthmark/chains/cardano/cbor"
)

// Limits of block-fetch requests.
const (
	rangeBytes  = 512 << 10 // of the blocks of a range, by the sizes in headers
	rangeBlocks = 1000      // maximum number of blocks of a range
	rangesAhead = 16        // maximum number of requested ranges
	unknownSize = 64 << 10  // of a block whose header does not state it
)

// fetchQueue has the announced headers and the events between them that were not yielded yet, in order. It decides
// which ranges of blocks to request: block-fetch is pipelined here.
type fetchQueue struct {
	items       []queued
	first       int // of items that were not yielded
	nextRequest int // of items that were not requested

	ranges []blockRange // requested, oldest first
	bytes  int64        // of the requested blocks

	lastYielded Point // the last point that was yielded
	lastKnown   bool  // lastYielded is known
}

// queued is one entry of a fetchQueue.
type queued struct {
	Event
	size int64
}

// blockRange is a requested range of blocks.
type blockRange struct {
	from, to Point
	left     int // blocks to come
	started  bool
}

// addHeader queues an announced block.
func (p *fetchQueue) addHeader(h Header, tip Tip) {
	size := int64(h.Size)
	if size == 0 {
		size = unknownSize
	}
	p.items = append(p.items, queued{Event{Kind: Forward, Point: h.Point, Tip: tip}, size})
}

// addWaiting queues that the node has no more blocks.
func (p *fetchQueue) addWaiting(tip Tip) {
	p.items = append(p.items, queued{Event: Event{Kind: Waiting, Tip: tip}})
}

// addRollback drops headers that were not requested. It queues a rollback unless that removed everything after the
// point.
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

// nextRange returns the next range to request. ok is false if it is better to wait for more headers, or for blocks.
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

// startBatch handles the start of the oldest range, and reports whether it was due.
func (p *fetchQueue) startBatch() bool {
	if len(p.ranges) == 0 || p.ranges[0].started {
		return false
	}
	p.ranges[0].started = true
	return true
}

// finishBatch handles the end of the oldest range, and reports whether all its blocks arrived.
func (p *fetchQueue) finishBatch() bool {
	if len(p.ranges) == 0 || !p.ranges[0].started || p.ranges[0].left > 0 {
		return false
	}
	p.ranges = p.ranges[1:]
	return true
}

// addBlock completes the next queued block of the oldest range. ok is false if no block was due.
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

// nextEvent removes the next entry if it is not a block.
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

// unrequested returns how many queued headers were not requested yet.
func (p *fetchQueue) unrequested() int { return len(p.items) - p.nextRequest }

func (s *stream) handleBlockFetch(raw []byte) error {
	kind, block, err := readFetch(raw)
	if err != nil {
		return s.malformed(s.fetch, err)
	}
	s.lastAnswer = time.Now()
	ok := false
	switch kind {
	case msgStartBatch:
		ok = s.startBatch()
	case msgBlock:
		var e Event
		if e, ok = s.addBlock(block); ok {
			s.emit(e)
			s.drain()
		}
	case msgBatchDone:
		ok = s.finishBatch()
	case msgNoBlocks:
		if len(s.ranges) > 0 && !s.ranges[0].started {
			return s.noBlocks(s.ranges[0].from, s.ranges[0].to)
		}
	}
	if !ok {
		return s.unexpected(s.fetch, kind)
	}
	return nil
}

// Messages of block-fetch: section 3.8.
const (
	msgRequestRange = iota
	_               // client done
	msgStartBatch
	msgNoBlocks
	msgBlock
	msgBatchDone
)

// readFetch reads a message of block-fetch, and its block.
func readFetch(b []byte) (kind uint64, block []byte, err error) {
	w := cbor.Walker{Data: b}
	fields := w.Fields("message")
	kind = fields.Uint("kind of message")
	switch {
	case kind == msgBlock:
		block = fields.Encoded("block")
	case kind < msgStartBatch || kind > msgBatchDone:
		w.Fail("unknown message of kind %d", kind)
	}
	return kind, block, done(&w, &fields)
}

func requestRange(from, to Point) []byte {
	b := append(cbor.AppendHead(nil, cbor.Array, 3), msgRequestRange)
	return appendPoint(appendPoint(b, from), to)
}
