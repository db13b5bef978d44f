package ouroborostest

import (
	"fmt"

	"github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/protocol/localstatequery"
)

// Answers sets the results of queries of the ledger state of the current era, in CBOR by the number of the query, such
// as [localstatequery.QueryTypeShelleyCurrentProtocolParams]. A query without a result ends the connection, as an
// unknown one does with a node.
func (n *Node) Answers(results map[int][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.results = results
}

// Queries returns the last queries of the ledger state, in CBOR by their number.
func (n *Node) Queries() map[int][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	queries := map[int][]byte{}
	for number, q := range n.queries {
		queries[number] = q
	}
	return queries
}

// query answers a query of the ledger state.
func (n *Node) query(_ localstatequery.CallbackContext, q localstatequery.QueryWrapper) (any, error) {
	n.count("query")
	n.mu.Lock()
	defer n.mu.Unlock()
	switch q.Query.(type) {
	case *localstatequery.ChainPointQuery:
		return n.point(), nil
	case *localstatequery.ChainBlockNoQuery:
		if len(n.blocks) == 0 {
			return []any{0}, nil
		}
		return []any{1, n.blocks[len(n.blocks)-1].Number}, nil
	}
	block, ok := q.Query.(*localstatequery.BlockQuery)
	if !ok {
		return nil, fmt.Errorf("a query of type %T", q.Query)
	}
	switch of := block.Query.(type) {
	case *localstatequery.HardForkQuery:
		if _, ok := of.Query.(*localstatequery.HardForkCurrentEraQuery); ok {
			return n.era(), nil
		}
	case *localstatequery.ShelleyQuery:
		if era := n.era(); of.Era != era {
			return []any{eraInfo(of.Era), eraInfo(era)}, nil
		}
		raw, err := cbor.Encode(of.Query)
		if err != nil {
			return nil, err
		}
		number, err := cbor.DecodeIdFromList(raw)
		if err != nil {
			return nil, err
		}
		if result, ok := n.results[number]; ok {
			n.queries[number] = raw
			return []any{cbor.RawMessage(result)}, nil
		}
		return nil, fmt.Errorf("query %d has no result", number)
	}
	return nil, fmt.Errorf("a query of type %T", block.Query)
}

// point returns the newest block, in the form of a point of the chain.
func (n *Node) point() []any {
	if len(n.blocks) == 0 {
		return []any{}
	}
	tip := n.blocks[len(n.blocks)-1]
	return []any{tip.Slot, tip.Hash[:]}
}
