package exchange

import (
	"math/big"

	"birthmark/api/compat/blockfrost/state"
	"birthmark/core/schema"
	"birthmark/model"
)

// NeedsNode is the reason of endpoints that are answered only with a node.
const NeedsNode = "needs a node: this server answers it only if it is connected to one"

// Node returns the node that has the ledger state.
func (q *Request) Node() (state.Node, error) {
	if n, ok := q.Chain.Node.(state.Node); ok {
		return n, nil
	}
	return nil, NotImplemented(NeedsNode)
}

// UnlessUnsupported returns the error of an endpoint without an answer in place of one of a node that has none.
func UnlessUnsupported(err error) error {
	if _, code := model.KindOf(err); code == "unsupported" {
		return NotImplemented(err.Error())
	}
	return err
}

// Unspent returns the lovelace in the unspent outputs of a value of an index with balances.
func (q *Request) Unspent(x *schema.Index, value []byte) (*big.Int, error) {
	birth, err := q.Q.Birth(x, value)
	if err != nil || birth == nil {
		return new(big.Int), err
	}
	a, err := q.Q.Account(x, *birth)
	if err != nil {
		return nil, err
	}
	balance := a.Received.Sub(a.Sent)
	return balance.Big(), nil
}
