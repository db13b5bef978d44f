package pendingtest

import (
	"context"
	"errors"
	"iter"
	"sync"

	"birthmark/model"
)

// Node is the node of a world as a source, without events. The mutex guards the world too.
type Node struct {
	sync.Mutex
	*World
	Away bool // all calls fail
}

var errAway = errors.New("the node is away")

func (n *Node) call(fn func()) error {
	n.Lock()
	defer n.Unlock()
	if n.Away {
		return errAway
	}
	fn()
	return nil
}

// Tip implements [model.Source].
func (n *Node) Tip(context.Context) (p model.Point, err error) {
	err = n.call(func() { p = n.World.Tip() })
	return p, err
}

// MempoolIDs implements [model.Mempool].
func (n *Node) MempoolIDs(context.Context) (ids []model.Hash, _ uint64, err error) {
	err = n.call(func() { ids = n.IDs() })
	return ids, 0, err
}

// MempoolTxs implements [model.Mempool].
func (n *Node) MempoolTxs(_ context.Context, ids []model.Hash) (txs []*model.Unconfirmed, err error) {
	err = n.call(func() { txs = n.Fetch(ids) })
	return txs, err
}

// MempoolEvents implements [model.Mempool].
func (n *Node) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, n.call(func() {})
}

// Follow implements [model.Source]. It yields nothing.
func (n *Node) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	return func(func(model.Event, error) bool) {}
}

// Close implements [model.Source].
func (n *Node) Close() error { return nil }
