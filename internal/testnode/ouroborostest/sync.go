package ouroborostest

import (
	"net"

	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

// cursor is the position of a client on the chain. The node's lock guards it.
type cursor struct {
	node   *Node
	toNode bool
	wire   *wire

	next     int  // number of blocks that the client has
	rollback bool // a rollback to next is due
	waiting  *chainsync.Server
}

func (c *cursor) findIntersect(_ chainsync.CallbackContext, points []pcommon.Point) (pcommon.Point, chainsync.Tip, error) {
	n := c.node
	n.count("find intersect")
	n.mu.Lock()
	at, tip, err := c.intersect(points)
	if then := n.then; then != nil && len(at.Hash) > 0 {
		n.then = nil
		defer then() // after the lock is released
	}
	n.mu.Unlock()
	return at, tip, err
}

// intersect moves to the first of points that the chain has. The caller holds the lock.
func (c *cursor) intersect(points []pcommon.Point) (pcommon.Point, chainsync.Tip, error) {
	n := c.node
	for _, p := range points {
		i, ok := n.find(p)
		switch {
		case ok:
			i++
		case p.Slot != 0 || len(p.Hash) != 0:
			continue
		}
		c.next, c.rollback = i, true
		return p, n.tip(), nil
	}
	return pcommon.Point{}, n.tip(), chainsync.ErrIntersectNotFound
}

func (c *cursor) requestNext(ctx chainsync.CallbackContext) error {
	n := c.node
	n.count("request next")
	n.mu.Lock()
	if !n.cursors[c] { // the connection has ended, and the chain may have changed since
		n.mu.Unlock()
		return net.ErrClosed
	}
	if answer := c.answer(ctx.Server); answer != nil {
		n.mu.Unlock()
		return answer()
	}
	defer n.mu.Unlock() // so that AwaitReply is sent before later messages
	c.waiting = ctx.Server
	return ctx.Server.AwaitReply()
}

// answer returns the message for a request of the next block, or nil at the tip. The caller holds the lock; sending
// does not need it.
func (c *cursor) answer(s *chainsync.Server) func() error {
	n, tip := c.node, c.node.tip()
	switch {
	case c.rollback:
		c.rollback = false
		to := pcommon.NewPointOrigin()
		if c.next > 0 {
			to = n.blocks[c.next-1].point()
		}
		return func() error { return s.RollBackward(to, tip) }
	case c.next == len(n.blocks):
		return nil
	}
	b := n.blocks[c.next]
	c.next++
	if !c.toNode {
		b = n.faults.served(b)
	}
	return func() error { return c.forward(s, b, tip) }
}

// forward sends a header, or a whole block.
func (c *cursor) forward(s *chainsync.Server, b Block, tip chainsync.Tip) error {
	if !c.toNode {
		msg, err := chainsync.NewMsgRollForwardNtC(b.Type, b.CBOR, tip)
		if err != nil {
			return err
		}
		return c.wire.sendBlock(s.ProtocolInstance(), msg, false)
	}
	era, kind := uint(ledger.BlockHeaderTypeByron), b.Type
	if b.Type > ledger.BlockTypeByronMain {
		era, kind = ledger.BlockToBlockHeaderTypeMap[b.Type], 0
	}
	msg, err := chainsync.NewMsgRollForwardNtN(era, kind, b.CBOR, tip)
	if err != nil {
		return err
	}
	return s.ProtocolInstance().SendMessage(msg)
}
