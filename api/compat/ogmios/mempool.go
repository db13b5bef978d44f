package ogmios

import (
	"context"
	"encoding/hex"
	"slices"

	"birthmark/chains/cardano/node"
	"birthmark/model"
)

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

// acquired returns the session with an acquired mempool.
func (c *call) acquired() (*session, error) {
	if c.session == nil {
		return nil, &fault{Code: unknownMethod, Message: "methods of the mempool need a WebSocket"}
	}
	if c.session.snapshot == nil {
		return nil, &fault{Code: mustAcquire, Message: "You must acquire a mempool snapshot prior to accessing it."}
	}
	return c.session, nil
}

// acquireMempool acquires the mempool. If the client has acquired it before, it waits for a change.
func (c *call) acquireMempool() (any, error) {
	s := c.session
	if s == nil {
		return nil, &fault{Code: unknownMethod, Message: "methods of the mempool need a WebSocket"}
	}
	n, ok := c.node.(monitors)
	if !ok {
		return nil, &fault{Code: unknownMethod, Message: "the node does not offer its mempool"}
	}
	var err error
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
	return struct {
		Acquired string `json:"acquired"`
		Slot     uint64 `json:"slot"`
	}{"mempool", snapshot.Slot}, nil
}

func (c *call) releaseMempool() (any, error) {
	s, err := c.acquired()
	if err != nil {
		return nil, err
	}
	s.snapshot = nil
	if err := s.monitor.Release(c.ctx); err != nil {
		s.close()
		return nil, err
	}
	return map[string]string{"released": "mempool"}, nil
}

// nextTransaction returns the next transaction of the acquired mempool; null after the last one.
func (c *call) nextTransaction() (any, error) {
	s, err := c.acquired()
	if err != nil {
		return nil, err
	}
	var of struct {
		Fields string `json:"fields"`
	}
	if err := c.read(&of); err != nil {
		return nil, err
	}
	if of.Fields != "" && of.Fields != "all" {
		return nil, &fault{Code: invalidParams, Message: `params.fields: expected "all"`}
	}
	var answer struct {
		Transaction any `json:"transaction"`
	}
	if s.next == len(s.snapshot.Txs) {
		return answer, nil
	}
	id, raw := hex.EncodeToString(s.snapshot.IDs[s.next][:]), s.snapshot.Txs[s.next].Raw
	s.next++
	if of.Fields == "all" {
		answer.Transaction = transactionOf(id, raw)
		return answer, nil
	}
	answer.Transaction = map[string]string{"id": id}
	return answer, nil
}

func (c *call) hasTransaction() (any, error) {
	s, err := c.acquired()
	if err != nil {
		return nil, err
	}
	var of struct {
		ID string `json:"id"`
	}
	if err := c.read(&of); err != nil {
		return nil, err
	}
	hash, err := hex.DecodeString(of.ID)
	if err != nil || len(hash) != len(model.Hash{}) {
		return nil, &fault{Code: invalidParams, Message: "params.id: expected the id of a transaction, 64 hex digits"}
	}
	return slices.Contains(s.snapshot.IDs, model.Hash(hash)), nil
}

func (c *call) sizeOfMempool() (any, error) {
	s, err := c.acquired()
	if err != nil {
		return nil, err
	}
	type bytes struct {
		Bytes uint64 `json:"bytes"`
	}
	var answer struct {
		Capacity     bytes `json:"maxCapacity"`
		Size         bytes `json:"currentSize"`
		Transactions struct {
			Count int `json:"count"`
		} `json:"transactions"`
	}
	answer.Capacity.Bytes, answer.Size.Bytes = s.snapshot.Capacity, s.snapshot.Size
	answer.Transactions.Count = len(s.snapshot.Txs)
	return answer, nil
}
