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
	maxHeaders   = 5000 // that wait for their blocks to be asked for
)

const (
	batchBytes  = 256 << 10 // of blocks that are handed on together
	batchBlocks = 500
	// lull is how long blocks that are there wait for more.
	batchDelay = 5 * time.Millisecond
)

// stream is what goes on while a connection yields blocks.
type stream struct {
	*Conn
	fetchQueue
	maxOutstanding int // requests of chain-sync without an answer, at most
	blocksLeft     int // blocks that are wanted; -1: no end
	outstanding    int // requests of chain-sync without an answer
	waiting        bool
	tip            Tip

	events []Event
	bytes  int

	timer            *time.Timer
	lastAnswer       time.Time // when the node answered last, or was asked after it owed nothing
	lastKeepAlive    time.Time // the last keep-alive
	cookie           uint16    // of it
	keepAlivePending bool      // an answer to it
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
			if n := len(s.events); n > 0 && (err != nil || !heard || s.isFull()) {
				b := s.events
				s.events, s.bytes = nil, 0
				if !yield(b, nil) {
					return
				}
				s.lastAnswer = time.Now() // the node could not be heard meanwhile
				if s.keepAlivePending {
					s.lastKeepAlive = s.lastAnswer
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
		if len(s.events) == 0 || s.events[0].Kind == Forward && len(s.ranges) > 0 {
			continue
		}
		c.used = s.events[0].Kind != Forward
		return s.events[0], !c.used, nil
	}
}

// Used reports whether the connection is good for nothing but to be closed: something that was asked for may still come.
func (c *Conn) Used() bool { return c.used }

func (c *Conn) stream(ahead, blocks int) *stream {
	now := time.Now()
	s := &stream{Conn: c, maxOutstanding: ahead, blocksLeft: blocks, timer: time.NewTimer(0), lastAnswer: now, lastKeepAlive: now}
	if c.at != nil {
		s.lastYielded, s.lastKnown = *c.at, true
	}
	c.used = true
	return s
}

func (s *stream) isFull() bool {
	return s.bytes >= batchBytes || len(s.events) >= batchBlocks || s.events[len(s.events)-1].Kind == Waiting
}

// step asks for what is to be asked for and takes what comes next; not heard: nothing did, for as long as it pays to wait.
func (s *stream) step(ctx context.Context) (heard bool, err error) {
	if err := s.sendRequests(ctx); err != nil {
		return false, err
	}
	wait, err := s.timeout()
	if err != nil {
		return false, err
	}
	s.timer.Reset(wait)
	var fetch, alive <-chan segment
	if s.headers {
		fetch, alive = s.fetch.recvChan, s.alive.recvChan
	}
	select {
	case seg, ok := <-s.chain.recvChan:
		return true, s.receive(s.chain, seg, ok, s.handleChainSync)
	case seg, ok := <-fetch:
		return true, s.receive(s.fetch, seg, ok, s.handleBlockFetch)
	case seg, ok := <-alive:
		return true, s.receive(s.alive, seg, ok, s.handleKeepAlive)
	case <-s.timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (s *stream) receive(m *inbox, seg segment, ok bool, f func([]byte) error) error {
	if !ok {
		return s.disconnected()
	}
	return m.receive(seg.Payload, f)
}

// ask asks for more headers or blocks of chain-sync, for blocks whose headers are there, and whether the node is.
func (s *stream) sendRequests(ctx context.Context) error {
	if n := s.chainSyncRoom(); n > 0 {
		if !s.awaitsAnswer() {
			s.lastAnswer = time.Now()
		}
		if err := s.chain.send(ctx, requestNext(n)); err != nil {
			return err
		}
		s.outstanding += n
	}
	if !s.headers {
		return nil
	}
	for b, ok := s.nextRange(s.o.Memory); ok; b, ok = s.nextRange(s.o.Memory) {
		if len(s.ranges) == 1 && s.waiting {
			s.lastAnswer = time.Now()
		}
		if err := s.fetch.send(ctx, requestRange(b.from, b.to)); err != nil {
			return err
		}
	}
	if !s.keepAlivePending && time.Since(s.lastKeepAlive) >= s.o.keepAlive {
		s.cookie++
		s.keepAlivePending, s.lastKeepAlive = true, time.Now()
		return s.alive.send(ctx, keepAlive(s.cookie))
	}
	return nil
}

// room is how many requests of chain-sync are to be made.
func (s *stream) chainSyncRoom() int {
	if s.waiting || s.outstanding > s.maxOutstanding*2/3 {
		return 0
	}
	n := s.maxOutstanding - s.outstanding
	if s.blocksLeft >= 0 {
		n = min(n, s.blocksLeft-s.outstanding)
	}
	if s.headers {
		n = min(n, maxHeaders-s.unrequested()-s.outstanding)
	}
	return n
}

// expects reports whether the node owes an answer now.
func (s *stream) awaitsAnswer() bool { return s.outstanding > 0 && !s.waiting || len(s.ranges) > 0 }

// patience is how long to wait for the node, and the error of one that was silent for too long.
func (s *stream) timeout() (time.Duration, error) {
	wait := s.o.keepAlive
	if s.headers {
		wait -= time.Since(s.lastKeepAlive)
		if s.keepAlivePending {
			wait = s.o.Timeout - time.Since(s.lastKeepAlive)
		}
	}
	if s.keepAlivePending && wait <= 0 {
		return 0, s.timedOut("a keep-alive")
	}
	if s.awaitsAnswer() {
		left := s.o.Timeout - time.Since(s.lastAnswer)
		if left <= 0 {
			return 0, s.timedOut("a request for blocks")
		}
		wait = min(wait, left)
	}
	if len(s.events) > 0 {
		wait = min(wait, batchDelay)
	}
	return max(wait, 0), nil
}

// onChain takes a message of chain-sync.
func (s *stream) handleChainSync(raw []byte) error {
	m, err := readChain(raw, s.headers)
	if err != nil {
		return s.malformed(s.chain, err)
	}
	if s.outstanding == 0 {
		return s.unexpected(s.chain, m.kind)
	}
	s.lastAnswer = time.Now()
	if m.kind == msgAwaitReply {
		if s.waiting {
			return s.unexpected(s.chain, m.kind)
		}
		s.waiting = true
		s.addEvent(Event{Kind: Waiting, Tip: s.tip})
		return nil
	}
	s.outstanding--
	s.waiting, s.tip = false, m.tip
	switch m.kind {
	case msgRollForward:
		s.blocksLeft = max(s.blocksLeft-1, -1)
		if !s.headers {
			s.lastKnown = false
			s.emit(Event{Kind: Forward, Block: m.block, Tip: m.tip})
			return nil
		}
		h, err := s.o.Describe(m.era, m.header)
		if err != nil {
			return err
		}
		h.Size = max(h.Size, m.weight)
		s.addHeader(h, m.tip)
		return nil
	case msgRollBackward:
		s.addEvent(Event{Kind: Backward, Point: m.point, Tip: m.tip})
		return nil
	}
	return s.unexpected(s.chain, m.kind)
}

// add takes an event that is no block.
func (s *stream) addEvent(e Event) {
	if e.Kind == Backward {
		s.addRollback(e.Point, e.Tip)
	} else {
		s.addWaiting(e.Tip)
	}
	s.drain()
}

// drain hands on what waits for no block.
func (s *stream) drain() {
	for e, ok := s.nextEvent(); ok; e, ok = s.nextEvent() {
		s.emit(e)
	}
}

// onFetch takes a message of block-fetch.
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

func (s *stream) handleKeepAlive(raw []byte) error {
	cookie, err := readKeepAlive(raw)
	if err != nil {
		return s.malformed(s.alive, err)
	}
	if !s.keepAlivePending || cookie != s.cookie {
		return s.unexpected(s.alive, msgKeepAliveResponse)
	}
	s.keepAlivePending = false
	return nil
}

func (s *stream) emit(e Event) {
	s.events = append(s.events, e)
	s.bytes += len(e.Block)
}
