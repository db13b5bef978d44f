package ogmios

import (
	"bytes"
	"context"
	"encoding/json"

	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// methods has the methods that are answered.
var methods = map[string]method{
	"acquireMempool":                          without(acquireMempool),
	"hasTransaction":                          hasTransaction,
	"nextTransaction":                         nextTransaction,
	"queryLedgerState/epoch":                  without(epoch),
	"queryLedgerState/protocolParameters":     without(protocolParameters),
	"queryLedgerState/rewardAccountSummaries": rewardAccounts,
	"queryLedgerState/tip":                    without(tip),
	"queryNetwork/blockHeight":                without(blockHeight),
	"queryNetwork/tip":                        without(tip),
	"releaseMempool":                          without(acquired(releaseMempool)),
	"sizeOfMempool":                           without(acquired(sizeOfMempool)),
	"submitTransaction":                       submitTransaction,
}

// evaluate is the one method that wallets use and that is not answered.
const evaluate = "evaluateTransaction"

type (
	// method reads the parameters of a request, before anything else is read, and returns the function that answers it.
	method func(*params) (answer, error)

	answer func(*call) (any, error)
)

// method returns the method of a request.
func (q *request) method() (method, error) {
	m := methods[q.Method]
	switch {
	case q.Version != rpcVersion || q.Method == "":
		return nil, &fault{Code: invalidRequest, Message: `expected {"jsonrpc": "2.0", "method": "…", "params": {…}}`}
	case q.Method == evaluate:
		return nil, unanswered("evaluateTransaction needs an evaluator of Plutus scripts, which this server does not have: " +
			"evaluate in the client, or use Ogmios")
	case m == nil:
		return nil, unanswered(q.Method + " is not answered by this server: use Ogmios")
	}
	return m, nil
}

// without returns a method that has no parameters.
func without(a answer) method { return func(*params) (answer, error) { return a, nil } }

// params are the parameters of a request, and the network of their addresses.
type params struct {
	raw     json.RawMessage
	network address.Network
}

func (p *params) read(into any) error {
	if len(p.raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(p.raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalid("params: %s", err)
	}
	return nil
}

// call is a request that is answered.
type call struct {
	*handler
	ctx     context.Context
	submit  func() error // takes from the limit of submitted transactions
	session *session     // nil without a WebSocket
}

// Needs lists the abilities of the node that the methods use.
var Needs = served.Needs{Chain: "cardano", Node: "unix:///path/to/node.socket", Parts: []served.Need{
	{Node: served.Can[Node]}, {Node: served.Can[model.Submitter]},
}}

// Node is a node that answers queries of its chain and its ledger state.
type Node interface {
	Parameters(context.Context) (*node.Parameters, error)
	Account(ctx context.Context, kind byte, hash []byte) (*node.Account, error)
	LedgerTip(context.Context) (ouroboros.Tip, error)
}
