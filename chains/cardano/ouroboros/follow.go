package ouroboros

import (
	"context"
	"iter"
	"time"
)

// How far ahead chain-sync is asked. Nodes ask each other for 200 to 300 headers.
const (
	headersAhead = 300
	blocksAhead  = 100  // over a unix socket, whole ones
	mostHeaders  = 5000 // that wait for their blocks to be asked for
)

const (
	batchBytes  = 256 << 10 // of blocks that are handed on together
	batchBlocks = 500
	// lull is how long blocks that are there wait for more.
	lull = 5 * time.Millisecond
)

// stream is what goes on while a connection yields blocks.
type stream struct {
	*Conn
	plan
	ahead   int // requests of chain-sync without an answer, at most
	left    int // blocks that are wanted; -1: no end
	asked   int // requests of chain-sync without an answer
	waiting bool
	tip     Tip

	batch []Event
	bytes int

	timer  *time.Timer
	heard  time.Time // when the node answered last, or was asked after it owed nothing
	posted time.Time // the last keep-alive
	cookie uint16    // of it
	owed   bool      // an answer to it
}

// Follow yields what happens on the node's chain from where [Conn.Intersect] found it, as many events at a time as are
// there. That the node goes back to the point that was found is left out. It ends after an error only, that of ctx among
// them; whoever leaves can do nothing more with the connection than close it.
func (c *Conn) Follow(ctx context.Context) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		ahead := blocksAhead
		if c.headers {
			ahead = headersAhead
		}
		s := c.stream(ahead, -1)
		defer s.timer.Stop()
		for {
			heard, err := s.step(ctx)
			if n := len(s.batch); n > 0 && (err != nil || !heard || s.full()) {
				b := s.batch
				s.batch, s.bytes = nil, 0
				if !yield(b, nil) {
					return
				}
				s.heard = time.Now() // the node could not be heard meanwhile
				if s.owed {
					s.posted = s.heard
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// Child is the block after a point, and whether there is one: not after a point that is not on the node's chain, nor at
// its tip. Afterwards the connection may be [Conn.Used].
func (c *Conn) Child(ctx context.Context, after Point) (_ Event, ok bool, err error) {
	at, tip, err := c.Intersect(ctx, []Point{after})
	if err != nil || at != after || tip.Point == after {
		return Event{}, false, err
	}
	s := c.stream(1, 1)
	defer s.timer.Stop()
	for {
		if _, err := s.step(ctx); err != nil {
			return Event{}, false, err
		}
		if len(s.batch) == 0 || s.batch[0].Kind == Forward && len(s.ranges) > 0 {
			continue
		}
		c.used = s.batch[0].Kind != Forward
		return s.batch[0], !c.used, nil
	}
}

// Used reports whether the connection is good for nothing but to be closed: something that was asked for may still come.
func (c *Conn) Used() bool { return c.used }

func (c *Conn) stream(ahead, blocks int) *stream {
	now := time.Now()
	s := &stream{Conn: c, ahead: ahead, left: blocks, timer: time.NewTimer(0), heard: now, posted: now}
	if c.at != nil {
		s.last, s.known = *c.at, true
	}
	c.used = true
	return s
}

func (s *stream) full() bool {
	return s.bytes >= batchBytes || len(s.batch) >= batchBlocks || s.batch[len(s.batch)-1].Kind == Waiting
}

// step asks for what is to be asked for and takes what comes next; not heard: nothing did, for as long as it pays to wait.
func (s *stream) step(ctx context.Context) (heard bool, err error) {
	if err := s.ask(ctx); err != nil {
		return false, err
	}
	wait, err := s.patience()
	if err != nil {
		return false, err
	}
	s.timer.Reset(wait)
	var fetch, alive <-chan segment
	if s.headers {
		fetch, alive = s.fetch.recv, s.alive.recv
	}
	select {
	case seg, ok := <-s.chain.recv:
		return true, s.heardFrom(s.chain, seg, ok, s.onChain)
	case seg, ok := <-fetch:
		return true, s.heardFrom(s.fetch, seg, ok, s.onFetch)
	case seg, ok := <-alive:
		return true, s.heardFrom(s.alive, seg, ok, s.onAlive)
	case <-s.timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (s *stream) heardFrom(m *mailbox, seg segment, ok bool, f func([]byte) error) error {
	if !ok {
		return s.broken()
	}
	return m.take(seg.Payload, f)
}

// ask asks for more headers or blocks of chain-sync, for blocks whose headers are there, and whether the node is.
func (s *stream) ask(ctx context.Context) error {
	if n := s.room(); n > 0 {
		if !s.expects() {
			s.heard = time.Now()
		}
		if err := s.chain.post(ctx, requestNext(n)); err != nil {
			return err
		}
		s.asked += n
	}
	if !s.headers {
		return nil
	}
	for b, ok := s.request(s.o.Memory); ok; b, ok = s.request(s.o.Memory) {
		if len(s.ranges) == 1 && s.waiting {
			s.heard = time.Now()
		}
		if err := s.fetch.post(ctx, requestRange(b.from, b.to)); err != nil {
			return err
		}
	}
	if !s.owed && time.Since(s.posted) >= s.o.alive {
		s.cookie++
		s.owed, s.posted = true, time.Now()
		return s.alive.post(ctx, keepAlive(s.cookie))
	}
	return nil
}

// room is how many requests of chain-sync are to be made.
func (s *stream) room() int {
	if s.waiting || s.asked > s.ahead*2/3 {
		return 0
	}
	n := s.ahead - s.asked
	if s.left >= 0 {
		n = min(n, s.left-s.asked)
	}
	if s.headers {
		n = min(n, mostHeaders-s.unasked()-s.asked)
	}
	return n
}

// expects reports whether the node owes an answer now.
func (s *stream) expects() bool { return s.asked > 0 && !s.waiting || len(s.ranges) > 0 }

// patience is how long to wait for the node, and the error of one that was silent for too long.
func (s *stream) patience() (time.Duration, error) {
	wait := s.o.alive
	if s.headers {
		wait -= time.Since(s.posted)
		if s.owed {
			wait = s.o.Silence - time.Since(s.posted)
		}
	}
	if s.owed && wait <= 0 {
		return 0, s.silent("a keep-alive")
	}
	if s.expects() {
		left := s.o.Silence - time.Since(s.heard)
		if left <= 0 {
			return 0, s.silent("a request for blocks")
		}
		wait = min(wait, left)
	}
	if len(s.batch) > 0 {
		wait = min(wait, lull)
	}
	return max(wait, 0), nil
}

// onChain takes a message of chain-sync.
func (s *stream) onChain(raw []byte) error {
	m, err := readChain(raw, s.headers)
	if err != nil {
		return s.notUnderstood(s.chain, err)
	}
	if s.asked == 0 {
		return s.unexpected(s.chain, m.kind)
	}
	s.heard = time.Now()
	if m.kind == msgAwaitReply {
		if s.waiting {
			return s.unexpected(s.chain, m.kind)
		}
		s.waiting = true
		s.add(Event{Kind: Waiting, Tip: s.tip})
		return nil
	}
	s.asked--
	s.waiting, s.tip = false, m.tip
	switch m.kind {
	case msgRollForward:
		s.left = max(s.left-1, -1)
		if !s.headers {
			s.known = false
			s.emit(Event{Kind: Forward, Block: m.block, Tip: m.tip})
			return nil
		}
		h, err := s.o.Describe(m.era, m.header)
		if err != nil {
			return err
		}
		h.Size = max(h.Size, m.weight)
		s.announce(h, m.tip)
		return nil
	case msgRollBackward:
		s.add(Event{Kind: Backward, Point: m.point, Tip: m.tip})
		return nil
	}
	return s.unexpected(s.chain, m.kind)
}

// add takes an event that is no block.
func (s *stream) add(e Event) {
	if e.Kind == Backward {
		s.back(e.Point, e.Tip)
	} else {
		s.wait(e.Tip)
	}
	s.drain()
}

// drain hands on what waits for no block.
func (s *stream) drain() {
	for e, ok := s.ready(); ok; e, ok = s.ready() {
		s.emit(e)
	}
}

// onFetch takes a message of block-fetch.
func (s *stream) onFetch(raw []byte) error {
	kind, block, err := readFetch(raw)
	if err != nil {
		return s.notUnderstood(s.fetch, err)
	}
	s.heard = time.Now()
	ok := false
	switch kind {
	case msgStartBatch:
		ok = s.begin()
	case msgBlock:
		var e Event
		if e, ok = s.arrived(block); ok {
			s.emit(e)
			s.drain()
		}
	case msgBatchDone:
		ok = s.done()
	case msgNoBlocks:
		if len(s.ranges) > 0 && !s.ranges[0].begun {
			return s.noBlocks(s.ranges[0].from, s.ranges[0].to)
		}
	}
	if !ok {
		return s.unexpected(s.fetch, kind)
	}
	return nil
}

func (s *stream) onAlive(raw []byte) error {
	cookie, err := readKeepAlive(raw)
	if err != nil {
		return s.notUnderstood(s.alive, err)
	}
	if !s.owed || cookie != s.cookie {
		return s.unexpected(s.alive, msgKeepAliveResponse)
	}
	s.owed = false
	return nil
}

func (s *stream) emit(e Event) {
	s.batch = append(s.batch, e)
	s.bytes += len(e.Block)
}
