package ouroborostest

import (
	"github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/protocol/blockfetch"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

// underWay is the number of bytes of blocks to queue before waiting: gouroboros closes a connection whose queue exceeds
// 2.5 MB.
const underWay = 512 << 10

// requestRange sends the blocks from one point to another, both included.
func (n *Node) requestRange(w *wire) func(blockfetch.CallbackContext, pcommon.Point, pcommon.Point) error {
	return func(ctx blockfetch.CallbackContext, start, end pcommon.Point) error {
		n.count("request range")
		blocks, faults := n.between(start, end)
		if len(blocks) == 0 {
			return ctx.Server.NoBlocks()
		}
		p := ctx.Server.ProtocolInstance()
		if err := p.SendMessage(blockfetch.NewMsgStartBatch()); err != nil {
			return err
		}
		sent := 0
		for _, b := range blocks {
			b = faults.served(b)
			wrapped, err := cbor.Encode(&blockfetch.WrappedBlock{Type: b.Type, RawBlock: b.CBOR})
			if err != nil {
				return err
			}
			sent += len(wrapped)
			wait := sent >= underWay
			if wait {
				sent = 0
			}
			if err := w.sendBlock(p, blockfetch.NewMsgBlock(wrapped), wait); err != nil {
				return err
			}
		}
		w.cutIfDue()
		return p.SendMessage(blockfetch.NewMsgBatchDone())
	}
}

// between returns the blocks of a range, or none if the chain lacks some or NoBlocks is set.
func (n *Node) between(start, end pcommon.Point) ([]Block, Faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	first, ok := n.find(start)
	last, there := n.find(end)
	if !ok || !there || first > last || n.faults.NoBlocks {
		return nil, n.faults
	}
	return n.blocks[first : last+1], n.faults
}
