package mempool

import (
	"context"
	"iter"
	"time"

	"birthmark/chains/bitcoin/rpc"
	"birthmark/internal/guard"
	"birthmark/model"
)

// eventsAhead is how many events are read ahead of the consumer, so that the node need not drop any while the consumer
// is busy.
const eventsAhead = 16 << 10

// MempoolEvents implements [model.Mempool]: over ZMQ, or over WebSocket. If Core's publisher is unreachable, this is
// logged once, and there are no events.
func (p *Pool) MempoolEvents(ctx context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	addresses, err := p.node.Notifications(ctx)
	if err != nil {
		return nil, err
	}
	if addresses != nil {
		return p.fromZMQ(ctx, addresses)
	}
	socket, err := p.node.Listen(ctx)
	if err != nil || socket == nil {
		return nil, err
	}
	return stream(ctx, socket.Close, func() (e model.MempoolEvent, err error) { return p.notified(ctx, socket) }), nil
}

// notified returns the next event of btcd.
func (p *Pool) notified(ctx context.Context, socket *rpc.Socket) (e model.MempoolEvent, err error) {
	n, err := socket.Receive(ctx)
	if err != nil {
		return e, err
	}
	switch {
	case n.Raw != nil:
		tx, err := p.unconfirmed(n.Raw, time.Now())
		if err != nil {
			return e, err
		}
		return model.MempoolEvent{Kind: model.TxAdded, ID: tx.Hash, Tx: tx}, nil
	case n.Method == "blockconnected":
		return model.MempoolEvent{Kind: model.BlockConnected, ID: n.Block}, nil
	}
	return model.MempoolEvent{Kind: model.BlockDisconnected, ID: n.Block}, nil
}

// stream returns the results of next up to its first error. It reads them ahead of the consumer, and calls end, which
// must make next return, when the consumer stops or ctx ends.
func stream(ctx context.Context, end func(), next func() (model.MempoolEvent, error)) iter.Seq2[model.MempoolEvent, error] {
	type result struct {
		event model.MempoolEvent
		err   error
	}
	reading, cancel := context.WithCancel(ctx)
	context.AfterFunc(reading, end)
	results := make(chan result, eventsAhead)
	go func() {
		defer close(results)
		defer cancel()
		for {
			var e model.MempoolEvent
			err := guard.Call(func() (err error) { e, err = next(); return err })
			select {
			case results <- result{e, err}:
			case <-reading.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return func(yield func(model.MempoolEvent, error) bool) {
		defer cancel()
		for {
			select {
			case r, ok := <-results:
				if ctx.Err() != nil {
					r.err = ctx.Err()
				}
				if !ok && r.err == nil || !yield(r.event, r.err) || r.err != nil {
					return
				}
			case <-ctx.Done():
				yield(model.MempoolEvent{}, ctx.Err())
				return
			}
		}
	}
}
