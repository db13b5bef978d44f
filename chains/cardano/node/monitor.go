package node

import (
	"context"

	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Monitor follows the mempool of a node for one client. Its methods must not be called concurrently.
type Monitor interface {
	// Next returns the mempool. After another call it waits until the mempool has changed, unless Release was called.
	Next(ctx context.Context) (*Snapshot, error)
	// Release releases the mempool of the last call of Next.
	Release(ctx context.Context) error
	// Close ends the connection to the node.
	Close()
}

// monitor implements Monitor by local-tx-monitor.
type monitor struct {
	l *Local
	c *ouroboros.Conn
}

// Snapshot is the mempool at a time, with the ids of its transactions.
type Snapshot struct {
	*ouroboros.Snapshot
	IDs []model.Hash
}

// Monitor opens a connection to the node.
func (l *Local) Monitor(ctx context.Context) (Monitor, error) {
	c, err := ouroboros.Dial(ctx, l.scheme, l.address, l.Connect)
	if err != nil {
		return nil, err
	}
	return &monitor{l, c}, nil
}

// Next implements [Monitor]. A transaction of an unknown era is an error: without it the mempool would be incomplete, and
// nothing would show it.
func (m *monitor) Next(ctx context.Context) (*Snapshot, error) {
	s, err := m.c.NextSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{Snapshot: s}
	for _, tx := range s.Txs {
		if err := ledger.CheckTxEra(tx.Era); err != nil {
			return nil, model.Errorf(model.BadSource, "unknown_era", "the mempool of %s: %w", m.l.address, err)
		}
		id, err := ledger.HashTx(tx.Raw)
		if err != nil {
			return nil, m.l.invalid(err)
		}
		snapshot.IDs = append(snapshot.IDs, id)
	}
	return snapshot, nil
}

// Release implements [Monitor].
func (m *monitor) Release(ctx context.Context) error { return m.c.ReleaseMempool(ctx) }

// Close implements [Monitor].
func (m *monitor) Close() { m.c.Close() }
