package mempool

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rpc"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Pool is the mempool of one node. It implements [model.Mempool], [model.Submitter], [model.FeeEstimator] and
// [model.NodeDescriber].
type Pool struct {
	model.FeeEstimator

	node   *rpc.Client
	format *block.Format
	decode func(raw []byte) (*model.Tx, error)

	mu   sync.Mutex
	dump *dump // of the node's mempool; nil: none
}

// New returns the mempool of a node. decode decodes a transaction with the values of its indexes, sets [model.Tx.Raw]
// and may be called concurrently. The node is closed by its owner, after Close.
func New(node *rpc.Client, format *block.Format, decode func(raw []byte) (*model.Tx, error)) *Pool {
	return &Pool{FeeEstimator: node, node: node, format: format, decode: decode}
}

// NodeInfo implements [model.NodeDescriber].
func (p *Pool) NodeInfo(ctx context.Context) (*model.NodeInfo, error) { return p.node.NodeInfo(ctx) }

// Close frees the pool.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forgetDump()
}

// MempoolIDs implements [model.Mempool].
func (p *Pool) MempoolIDs(ctx context.Context) (ids []model.Hash, sequence uint64, err error) {
	return p.node.MempoolIDs(ctx)
}

// MempoolTxs implements [model.Mempool].
func (p *Pool) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	raws, seen := p.fromDump(ctx, ids)
	var missing []model.Hash
	var at []int // of missing, in ids
	for i, raw := range raws {
		if raw == nil {
			missing, at = append(missing, ids[i]), append(at, i)
		}
	}
	requested, err := p.node.MempoolTxs(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, raw := range requested {
		raws[at[i]] = raw
	}
	txs := make([]*model.Unconfirmed, len(ids))
	var g errgroup.Group
	part := max(100, (len(ids)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(ids); from += part {
		enter := func() error {
			for i := from; i < min(from+part, len(ids)); i++ {
				if raws[i] == nil {
					continue
				}
				tx, err := p.unconfirmed(raws[i], seen[i])
				if errors.Is(err, block.ErrHidden) || errors.Is(err, model.ErrNewer) {
					continue
				}
				if err != nil {
					return err
				}
				if tx.Hash != ids[i] {
					return model.Errorf(model.BadSource, "bad_answer", "requested transaction %s, but %s returned %s",
						block.FormatHash(ids[i]), p.node.Host(), block.FormatHash(tx.Hash))
				}
				txs[i] = tx
			}
			return nil
		}
		g.Go(func() error { return guard.Call(enter) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return txs, nil
}

// unconfirmed decodes a transaction of the node.
func (p *Pool) unconfirmed(raw []byte, seen time.Time) (*model.Unconfirmed, error) {
	tx, err := p.decode(raw)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "bad_answer", "%s returned an invalid transaction: %w", p.node.Host(), err)
	}
	weight, vsize, err := p.format.TxWeight(raw)
	if err != nil {
		return nil, err
	}
	return &model.Unconfirmed{Tx: *tx, Size: len(raw), VSize: vsize, Weight: weight, Seen: seen}, nil
}
