package node

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Local is the source of a node on this machine, over its Unix socket, with its mempool. It implements [model.Mempool]
// and [model.Submitter]. Relays do not offer their mempools.
type Local struct {
	*Source
	MempoolPause time.Duration // between two snapshots for events

	decoders sync.Pool

	mu   sync.Mutex
	last map[model.Hash][]byte // the transactions of the last snapshot
}

// mempoolPause is the default of [Local.MempoolPause]. A mempool is small, and is read whole after each change.
const mempoolPause = 200 * time.Millisecond

// OpenLocal returns the source of the node with this socket. An error is of kind [model.Usage], code bad_source.
func OpenLocal(d *ledger.Decoder, path string, o model.SourceOptions) (*Local, error) {
	s, err := Open(d, "unix", path, o)
	if err != nil {
		return nil, err
	}
	l := &Local{Source: s, MempoolPause: mempoolPause}
	l.decoders.New = func() any { return s.decoder.Clone() }
	return l, nil
}

// MempoolIDs implements [model.Mempool]. The node does not number changes.
func (l *Local) MempoolIDs(ctx context.Context) (ids []model.Hash, _ uint64, err error) {
	txs, err := query(ctx, l.Source, func(ctx context.Context, c *ouroboros.Conn) ([]ouroboros.PoolTx, error) { return c.Mempool(ctx) })
	if err != nil {
		return nil, 0, err
	}
	ids, raws, err := l.identify(txs)
	if err != nil {
		return nil, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = raws
	return ids, 0, nil
}

// identify returns the ids of transactions in their order, and the serialized transactions by id.
func (l *Local) identify(txs []ouroboros.PoolTx) (ids []model.Hash, raws map[model.Hash][]byte, err error) {
	raws = make(map[model.Hash][]byte, len(txs))
	for _, tx := range txs {
		if err := ledger.CheckTxEra(tx.Era); err != nil {
			return nil, nil, model.Errorf(model.BadSource, "unknown_era", "the mempool of %s: %w", l.address, err)
		}
		id, err := ledger.HashTx(tx.Raw)
		if err != nil {
			return nil, nil, l.invalid(err)
		}
		ids, raws[id] = append(ids, id), tx.Raw
	}
	return ids, raws, nil
}

func (l *Local) invalid(err error) error {
	return model.Errorf(model.BadSource, "bad_answer", "%s has an invalid transaction in its mempool: %w", l.address, err)
}

// MempoolTxs implements [model.Mempool]. A transaction in a form that is newer than this release is left out.
func (l *Local) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	raws := l.lastOf(ids)
	for _, raw := range raws {
		if raw == nil { // it arrived after the last snapshot
			if _, _, err := l.MempoolIDs(ctx); err != nil {
				return nil, err
			}
			raws = l.lastOf(ids)
			break
		}
	}
	txs := make([]*model.Unconfirmed, len(ids))
	for i, raw := range raws {
		if raw == nil {
			continue
		}
		tx, err := l.unconfirmed(raw)
		if errors.Is(err, model.ErrNewer) {
			continue
		}
		if err != nil {
			return nil, err
		}
		txs[i] = tx
	}
	return txs, nil
}

// lastOf returns serialized transactions of the last snapshot; nil for one that it did not have.
func (l *Local) lastOf(ids []model.Hash) [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	raws := make([][]byte, len(ids))
	for i, id := range ids {
		raws[i] = l.last[id]
	}
	return raws
}

// unconfirmed decodes a transaction. Fees depend on its size in bytes.
func (l *Local) unconfirmed(raw []byte) (*model.Unconfirmed, error) {
	d := l.decoders.Get().(*ledger.Decoder)
	defer l.decoders.Put(d)
	tx, err := d.Tx(raw)
	if err != nil {
		return nil, l.invalid(err)
	}
	return &model.Unconfirmed{Tx: *tx, Size: len(raw), VSize: len(raw)}, nil
}

// MempoolEvents implements [model.Mempool]: the node reports that its mempool has changed, and new transactions are
// events. Removals are not, since a new block may be their reason.
func (l *Local) MempoolEvents(ctx context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	c, err := ouroboros.Dial(ctx, l.scheme, l.address, l.Connect)
	if err != nil {
		return nil, err
	}
	return func(yield func(model.MempoolEvent, error) bool) {
		defer c.Close()
		var known map[model.Hash][]byte
		for {
			arrived, now, err := l.changes(ctx, c, known)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(model.MempoolEvent{}, err)
				return
			}
			for _, tx := range arrived {
				if !yield(model.MempoolEvent{Kind: model.TxAdded, ID: tx.Hash, Tx: tx}, nil) {
					return
				}
			}
			if known = now; blocksource.Sleep(ctx, l.MempoolPause) != nil {
				return
			}
		}
	}, nil
}

// changes waits for a change of the mempool, and returns the transactions that known lacks; none if known is nil.
func (l *Local) changes(ctx context.Context, c *ouroboros.Conn, known map[model.Hash][]byte) (arrived []*model.Unconfirmed, now map[model.Hash][]byte, err error) {
	txs, err := c.NextMempool(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids, now, err := l.identify(txs)
	if err != nil || known == nil {
		return nil, now, err
	}
	for _, id := range ids {
		if known[id] == nil {
			tx, err := l.unconfirmed(now[id])
			if errors.Is(err, model.ErrNewer) {
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			arrived = append(arrived, tx)
		}
	}
	return arrived, now, nil
}
