package ogmios

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/model"
)

// submitTransaction sends a transaction to the node, and enters it into the mempool.
func submitTransaction(p *params) (answer, error) {
	var of struct {
		Transaction struct {
			CBOR string `json:"cbor"`
		} `json:"transaction"`
	}
	if err := p.read(&of); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(of.Transaction.CBOR)
	if err != nil || len(raw) == 0 {
		return nil, invalid("params.transaction.cbor: expected a transaction in CBOR, in hex digits")
	}
	if _, err := ledger.HashTx(raw); err != nil {
		return nil, notDecoded(err)
	}
	return func(c *call) (any, error) {
		if err := c.submit(); err != nil {
			return nil, err
		}
		id, err := c.Chain.Submitter.Submit(c.ctx, raw, model.SubmitOptions{})
		if refusal, ok := errors.AsType[*model.NodeError](err); ok {
			return nil, rejected(refusal.Message)
		}
		if err != nil {
			return nil, err
		}
		if c.Chain.Mempool != nil {
			_ = c.Chain.Mempool.Enter(c.ctx, id) // if this fails, the next list of the node has the transaction
		}
		return &txValue{&named{id.String()}}, nil
	}, nil
}

// monitors is a node whose mempool clients follow.
type monitors interface {
	Monitor(context.Context) (node.Monitor, error)
}

// session is the state of a WebSocket connection: the mempool that the client acquired.
type session struct {
	gone     context.Context // ends when the client is gone
	monitor  node.Monitor    // nil: none
	snapshot *node.Snapshot  // nil: none is acquired
	next     int             // position of the next transaction
}

func (s *session) close() {
	if s.monitor != nil {
		s.monitor.Close()
	}
	s.monitor, s.snapshot = nil, nil
}

// connected returns the session of a WebSocket.
func (c *call) connected() (*session, error) {
	if c.session == nil {
		return nil, unanswered("methods of the mempool need a WebSocket")
	}
	return c.session, nil
}

// acquired returns the answer of a method that needs an acquired mempool.
func acquired(value func(*call, *session) (any, error)) answer {
	return func(c *call) (any, error) {
		s, err := c.connected()
		if err == nil && s.snapshot == nil {
			err = &fault{Code: mustAcquire, Message: "You must acquire a mempool snapshot prior to accessing it."}
		}
		if err != nil {
			return nil, err
		}
		return value(c, s)
	}
}

// acquireMempool acquires the mempool. If the client has acquired it before, it waits for a change.
func acquireMempool(c *call) (any, error) {
	s, err := c.connected()
	if err != nil {
		return nil, err
	}
	n, ok := c.node.(monitors)
	if !ok {
		return nil, unanswered("the node does not offer its mempool")
	}
	if s.monitor == nil {
		if s.monitor, err = n.Monitor(c.ctx); err != nil {
			s.monitor = nil
			return nil, err
		}
	}
	snapshot, err := s.monitor.Next(s.gone)
	if err != nil {
		s.close() // the next request connects again
		return nil, err
	}
	s.snapshot, s.next = snapshot, 0
	return &acquiredValue{"mempool", snapshot.Slot}, nil
}

func releaseMempool(c *call, s *session) (any, error) {
	s.snapshot = nil
	if err := s.monitor.Release(c.ctx); err != nil {
		s.close()
		return nil, err
	}
	return &releasedValue{"mempool"}, nil
}

// nextTransaction returns the next transaction of the acquired mempool; null after the last one.
func nextTransaction(p *params) (answer, error) {
	var of struct {
		Fields string `json:"fields"`
	}
	if err := p.read(&of); err != nil {
		return nil, err
	}
	if of.Fields != "" && of.Fields != "all" {
		return nil, invalid(`params.fields: expected "all"`)
	}
	return acquired(func(_ *call, s *session) (any, error) {
		if s.next == len(s.snapshot.Txs) {
			return &txValue{}, nil
		}
		id, raw := hex.EncodeToString(s.snapshot.IDs[s.next][:]), s.snapshot.Txs[s.next].Raw
		s.next++
		if of.Fields == "all" {
			return &txValue{transactionOf(id, raw)}, nil
		}
		return &txValue{&named{id}}, nil
	}), nil
}

func hasTransaction(p *params) (answer, error) {
	var of named
	if err := p.read(&of); err != nil {
		return nil, err
	}
	hash, err := hex.DecodeString(of.ID)
	if err != nil || len(hash) != len(model.Hash{}) {
		return nil, invalid("params.id: expected the id of a transaction, 64 hex digits")
	}
	return acquired(func(_ *call, s *session) (any, error) { return slices.Contains(s.snapshot.IDs, model.Hash(hash)), nil }), nil
}

func sizeOfMempool(_ *call, s *session) (any, error) {
	v := &sizeValue{Capacity: size{s.snapshot.Capacity}, Size: size{s.snapshot.Size}}
	v.Transactions.Count = len(s.snapshot.Txs)
	return v, nil
}
