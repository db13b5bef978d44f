package ouroboros

import (
	"context"
	"iter"
	"time"
)

// Limits of the events that Follow yields at a time.
const (
	batchBytes  = 256 << 10 // of blocks
	batchBlocks = 500
	// batchDelay is how long events wait for more.
	batchDelay = 5 * time.Millisecond
)

// stream is the state of a connection that yields events.
type stream struct {
	*Conn
	fetchQueue
	maxOutstanding int // maximum of outstanding
	blocksLeft     int // blocks to request; -1: no limit
	outstanding    int // requests of chain-sync without an answer
	waiting        bool
	tip            Tip

	events []Event
	bytes  int

	timer            *time.Timer
	lastAnswer       time.Time // the last answer, or the first request after it
	lastKeepAlive    time.Time // the last keep-alive
	cookie           uint16    // of it
	keepAlivePending bool      // its answer is outstanding
}

// Follow yields the events of the node's chain after the point that [Conn.Intersect] found, in slices of the events that
// have arrived. A rollback to that point itself is left out. Follow ends with an error, which may be that of ctx. After it the
// connection can only be closed.
func (c *Conn) Follow(ctx context.Context) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		ahead := blocksAhead
		if c.headers {
			ahead = headersAhead
		}
		s := c.stream(ahead, -1)
		defer s.timer.Stop()
		for {
			received, err := s.step(ctx)
			if n := len(s.events); n > 0 && (err != nil || !received || s.isFull()) {
				b := s.events
				s.events, s.bytes = nil, 0
				if !yield(b, nil) {
					return
				}
				s.lastAnswer = time.Now() // the consumer had control
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

// Child returns the block after a point. ok is false if the point is not on the node's chain, or is its tip. Afterwards
// the connection may be [Conn.Used].
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

// Used reports whether the connection can only be closed, because answers may still arrive.
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

// step sends the requests that are due and handles the next message. received is false if none arrived in time.
func (s *stream) step(ctx context.Context) (received bool, err error) {
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

// sendRequests sends the requests of chain-sync and block-fetch that the limits allow, and keep-alives.
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

// awaitsAnswer reports whether an answer to a request is due.
func (s *stream) awaitsAnswer() bool { return s.outstanding > 0 && !s.waiting || len(s.ranges) > 0 }

// timeout returns how long to wait for the node. It returns an error if an answer is overdue.
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

// addEvent queues an event that is not a block.
func (s *stream) addEvent(e Event) {
	if e.Kind == Backward {
		s.addRollback(e.Point, e.Tip)
	} else {
		s.addWaiting(e.Tip)
	}
	s.drain()
}

// drain emits the queued events before the next block.
func (s *stream) drain() {
	for e, ok := s.nextEvent(); ok; e, ok = s.nextEvent() {
		s.emit(e)
	}
}

func (s *stream) emit(e Event) {
	s.events = append(s.events, e)
	s.bytes += len(e.Block)
}
