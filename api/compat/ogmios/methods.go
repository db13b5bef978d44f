package ogmios

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"birthmark/api/ratelimit"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Node is a node that answers queries of its chain and its ledger state.
type Node interface {
	Parameters(context.Context) (*node.Parameters, error)
	Account(ctx context.Context, kind byte, hash []byte) (*node.Account, error)
	LedgerTip(context.Context) (ouroboros.Tip, error)
}

// call is a request and the context of its answer.
type call struct {
	*handler
	ctx     context.Context
	params  json.RawMessage
	submit  func() error // takes from the limit of submitted transactions
	session *session     // nil without a WebSocket
}

// methods has the methods that are answered.
var methods = map[string]func(*call) (any, error){
	"acquireMempool":                          (*call).acquireMempool,
	"hasTransaction":                          (*call).hasTransaction,
	"nextTransaction":                         (*call).nextTransaction,
	"queryLedgerState/epoch":                  (*call).epoch,
	"queryLedgerState/protocolParameters":     (*call).protocolParameters,
	"queryLedgerState/rewardAccountSummaries": (*call).rewardAccounts,
	"queryLedgerState/tip":                    (*call).tip,
	"queryNetwork/blockHeight":                (*call).blockHeight,
	"queryNetwork/tip":                        (*call).tip,
	"releaseMempool":                          (*call).releaseMempool,
	"sizeOfMempool":                           (*call).sizeOfMempool,
	"submitTransaction":                       (*call).submitTransaction,
}

// evaluate is the one method that wallets use and that is not answered.
const evaluate = "evaluateTransaction"

// read reads the parameters of a request.
func (c *call) read(into any) error {
	if len(c.params) == 0 {
		c.params = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(c.params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &fault{Code: invalidParams, Message: "params: " + err.Error()}
	}
	return nil
}

func (c *call) epoch() (any, error) {
	p, err := c.node.Parameters(c.ctx)
	if err != nil {
		return nil, err
	}
	return p.Epoch, nil
}

func (c *call) protocolParameters() (any, error) {
	p, err := c.node.Parameters(c.ctx)
	if err != nil {
		return nil, err
	}
	return parametersOf(p), nil
}

// origin is the point before the first block.
const origin = "origin"

// point is a block of the chain.
type point struct {
	Slot uint64 `json:"slot"`
	ID   string `json:"id"`
}

func (c *call) tip() (any, error) {
	t, err := c.node.LedgerTip(c.ctx)
	switch {
	case err != nil:
		return nil, err
	case t.IsOrigin():
		return origin, nil
	}
	return point{t.Slot, hex.EncodeToString(t.Hash[:])}, nil
}

func (c *call) blockHeight() (any, error) {
	t, err := c.node.LedgerTip(c.ctx)
	switch {
	case err != nil:
		return nil, err
	case t.IsOrigin():
		return origin, nil
	}
	return t.Number, nil
}

// submitTransaction sends a transaction to the node, and enters it into the mempool.
func (c *call) submitTransaction() (any, error) {
	var of struct {
		Transaction struct {
			CBOR string `json:"cbor"`
		} `json:"transaction"`
	}
	if err := c.read(&of); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(of.Transaction.CBOR)
	if err != nil || len(raw) == 0 {
		return nil, &fault{Code: invalidParams, Message: "params.transaction.cbor: expected a transaction in CBOR, in hex digits"}
	}
	if _, err := ledger.HashTx(raw); err != nil {
		return nil, notDecoded(err)
	}
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
	var answer struct {
		Transaction struct {
			ID string `json:"id"`
		} `json:"transaction"`
	}
	answer.Transaction.ID = id.String()
	return answer, nil
}

// submission returns a function that takes from the limit of submitted transactions.
func submission(w http.ResponseWriter) func() error {
	return func() error { return ratelimit.Submission(w) }
}
