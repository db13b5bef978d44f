package ouroboros

import (
	"context"
	"fmt"
	"time"

	"birthmark/chains/cardano/cbor"
)

// Protocols that only a node on this machine offers, over its Unix socket. Each is a dialogue: a request, an answer.
const (
	submissionToClient = 6
	stateToClient      = 7
	monitorToClient    = 9
)

// noLimit is the timeout of an answer that may take any time.
const noLimit = 0

// ask sends a request of a protocol and returns the answer: its kind, and its fields. Errors name the request as what.
// Until the answer the connection is [Conn.Used].
func (c *Conn) ask(ctx context.Context, m *inbox, request []byte, what string, timeout time.Duration) (kind uint64, _ *cbor.Fields, err error) {
	c.used = true
	if err := m.send(ctx, request); err != nil {
		return 0, nil, err
	}
	raw, err := m.answer(ctx, what, timeout)
	if err != nil {
		return 0, nil, err
	}
	c.used = false
	w := &cbor.Walker{Data: raw}
	fields := w.Fields("message")
	kind = fields.Uint("kind of message")
	if w.Err != nil {
		return 0, nil, c.malformed(m, w.Err)
	}
	return kind, &fields, nil
}

// Messages of local-tx-monitor: section 3.14 of the network specification.
const (
	msgAcquireMempool = 1
	msgMempoolIs      = 2
	msgReleaseMempool = 3
	msgNextTx         = 5
	msgNextTxIs       = 6
	msgGetSizes       = 9
	msgSizesAre       = 10
)

// maxMempool bounds the bytes of a mempool. Nodes have twice as many as a block, less than 200 kB.
const maxMempool = 64 << 20

// PoolTx is a transaction of a node's mempool.
type PoolTx struct {
	Era uint64 // number of the era: 1 Shelley, 6 Conway
	Raw []byte // as a wallet submits it
}

// Mempool returns the transactions of the node's mempool, parents first.
func (c *Conn) Mempool(ctx context.Context) ([]PoolTx, error) {
	_, txs, err := c.readMempool(ctx, c.o.Timeout)
	if err == nil {
		err = c.ReleaseMempool(ctx)
	}
	return txs, err
}

// ReleaseMempool releases the mempool of the last call of NextMempool or NextSnapshot: the next call does not wait.
func (c *Conn) ReleaseMempool(ctx context.Context) error {
	return c.monitor.send(ctx, []byte{cbor.Array<<5 | 1, msgReleaseMempool})
}

// NextMempool is Mempool after a change: if it was called before on this connection, it waits until the mempool differs
// from that of the last call. The connection is for such calls only.
func (c *Conn) NextMempool(ctx context.Context) ([]PoolTx, error) {
	_, txs, err := c.readMempool(ctx, noLimit)
	return txs, err
}

// Snapshot is a node's mempool at a time.
type Snapshot struct {
	Slot           uint64 // in which the transactions would be in a block
	Txs            []PoolTx
	Capacity, Size uint64 // bytes
}

// NextSnapshot is NextMempool with the slot and the sizes of the mempool.
func (c *Conn) NextSnapshot(ctx context.Context) (*Snapshot, error) {
	s := new(Snapshot)
	var err error
	if s.Slot, s.Txs, err = c.readMempool(ctx, noLimit); err != nil {
		return nil, err
	}
	kind, fields, err := c.ask(ctx, c.monitor, []byte{cbor.Array<<5 | 1, msgGetSizes}, "a request for the size of its mempool", c.o.Timeout)
	switch {
	case err != nil:
		return nil, err
	case kind != msgSizesAre:
		return nil, c.unexpected(c.monitor, kind)
	}
	sizes := fields.Fields("sizes")
	s.Capacity, s.Size = sizes.Uint("capacity"), sizes.Uint("size")
	sizes.Skip("number of transactions")
	sizes.End()
	if fields.End(); fields.Err() != nil {
		return nil, c.malformed(c.monitor, fields.Err())
	}
	return s, nil
}

func (c *Conn) readMempool(ctx context.Context, timeout time.Duration) (slot uint64, txs []PoolTx, err error) {
	kind, is, err := c.ask(ctx, c.monitor, []byte{cbor.Array<<5 | 1, msgAcquireMempool}, "a request for its mempool", timeout)
	if err == nil && kind == msgMempoolIs {
		if slot = is.Uint("slot"); is.Err() != nil {
			return 0, nil, c.malformed(c.monitor, is.Err())
		}
	}
	for size := 0; err == nil && kind == msgMempoolIs; {
		next, fields, err := c.ask(ctx, c.monitor, []byte{cbor.Array<<5 | 1, msgNextTx}, "a request for the next transaction", c.o.Timeout)
		switch {
		case err != nil:
			return 0, nil, err
		case next != msgNextTxIs:
			return 0, nil, c.unexpected(c.monitor, next)
		case fields.IsEmpty():
			return slot, txs, nil
		}
		inner := fields.Fields("transaction")
		tx := PoolTx{Era: inner.Uint("era")}
		tx.Raw = inner.Encoded("transaction")
		inner.End()
		if fields.End(); fields.Err() != nil {
			return 0, nil, c.malformed(c.monitor, fields.Err())
		}
		if size += len(tx.Raw); size > maxMempool {
			return 0, nil, c.malformed(c.monitor, fmt.Errorf("a mempool of more than %d bytes", maxMempool))
		}
		txs = append(txs, tx)
	}
	if err == nil {
		err = c.unexpected(c.monitor, kind)
	}
	return 0, nil, err
}

// Messages of local-tx-submission: section 3.12.
const (
	msgSubmitTx = iota
	msgAcceptTx
	msgRejectTx
)

// Submit sends a transaction of an era to the node. refusal is CBOR; nil if the node accepted the transaction.
func (c *Conn) Submit(ctx context.Context, era uint64, tx []byte) (refusal []byte, err error) {
	request := cbor.AppendUint([]byte{cbor.Array<<5 | 2, msgSubmitTx, cbor.Array<<5 | 2}, era)
	request = cbor.AppendBytes(cbor.AppendHead(request, cbor.Tag, cbor.TagEncoded), tx)
	kind, fields, err := c.ask(ctx, c.submission, request, "a transaction", c.o.Timeout)
	if err != nil {
		return nil, err
	}
	switch kind {
	case msgAcceptTx:
		return nil, nil
	case msgRejectTx:
		if refusal = fields.Item("reason"); fields.Err() != nil {
			return nil, c.malformed(c.submission, fields.Err())
		}
		return refusal, nil
	}
	return nil, c.unexpected(c.submission, kind)
}

// Messages of local-state-query: section 3.13.
const (
	msgAcquired     = 1
	msgFailure      = 2
	msgQuery        = 3
	msgResult       = 4
	msgReleaseState = 5
	msgAcquireTip   = 8
)

// State calls f with a function that queries the ledger state at the node's tip: all queries of a call see the same.
// Queries and results are CBOR.
func (c *Conn) State(ctx context.Context, f func(query func([]byte) ([]byte, error)) error) error {
	kind, fields, err := c.ask(ctx, c.state, []byte{cbor.Array<<5 | 1, msgAcquireTip}, "a request for its ledger state", c.o.Timeout)
	switch {
	case err != nil:
		return err
	case kind == msgFailure:
		return temporary("no_state", "%s cannot provide its ledger state: failure %d", c.name, fields.Uint("failure"))
	case kind != msgAcquired:
		return c.unexpected(c.state, kind)
	}
	err = f(func(query []byte) ([]byte, error) {
		kind, fields, err := c.ask(ctx, c.state, append([]byte{cbor.Array<<5 | 2, msgQuery}, query...), "a query of its ledger state", c.o.Timeout)
		if err != nil {
			return nil, err
		}
		if kind != msgResult {
			return nil, c.unexpected(c.state, kind)
		}
		result := fields.Item("result")
		if fields.Err() != nil {
			return nil, c.malformed(c.state, fields.Err())
		}
		return result, nil
	})
	if c.used {
		return err
	}
	if released := c.state.send(ctx, []byte{cbor.Array<<5 | 1, msgReleaseState}); err == nil {
		err = released
	}
	return err
}

// Era returns the number of the era of a ledger state: 1 Shelley, 6 Conway. query: see [Conn.State].
func Era(query func([]byte) ([]byte, error)) (uint64, error) {
	result, err := query([]byte{cbor.Array<<5 | 2, 0, cbor.Array<<5 | 2, 2, cbor.Array<<5 | 1, 1})
	if err != nil {
		return 0, err
	}
	w := cbor.Walker{Data: result}
	era := w.Uint("era")
	return era, w.Err
}

// QueryEra sends a query of an era's ledger to a ledger state in that era. query: see [Conn.State].
func QueryEra(query func([]byte) ([]byte, error), era uint64, of []byte) ([]byte, error) {
	request := cbor.AppendUint([]byte{cbor.Array<<5 | 2, 0, cbor.Array<<5 | 2, 0, cbor.Array<<5 | 2}, era)
	result, err := query(append(request, of...))
	if err != nil {
		return nil, err
	}
	w := cbor.Walker{Data: result}
	n := w.Array("result")
	if n != 1 && w.Err == nil {
		return nil, temporary("other_era", "the node is in another era than %d: try again", era)
	}
	w.Field(&n, "result")
	item := w.Item("result")
	if w.Err != nil {
		return nil, fmt.Errorf("result of a query of the ledger state: %w", w.Err)
	}
	return item, nil
}

// Numbers of queries that do not depend on the era.
const (
	queryChainHeight = 2
	queryChainPoint  = 3
)

// TipOf returns the newest block of a ledger state; the origin before the first block. query: see [Conn.State].
func TipOf(query func([]byte) ([]byte, error)) (t Tip, err error) {
	result, err := query([]byte{cbor.Array<<5 | 1, queryChainPoint})
	if err != nil {
		return t, err
	}
	w := cbor.Walker{Data: result}
	point := w.Fields("point")
	if w.Err == nil && point.IsEmpty() {
		return t, nil
	}
	t.Slot = point.Uint("slot")
	copy(t.Hash[:], point.Bytes("hash"))
	point.End()
	if w.Err != nil {
		return t, fmt.Errorf("point of the ledger state: %w", w.Err)
	}
	if result, err = query([]byte{cbor.Array<<5 | 1, queryChainHeight}); err != nil {
		return t, err
	}
	w = cbor.Walker{Data: result}
	at := w.Fields("height")
	at.Uint("kind of the height")
	t.Number = at.Uint("height")
	if at.End(); w.Err != nil {
		return t, fmt.Errorf("height of the ledger state: %w", w.Err)
	}
	return t, nil
}
