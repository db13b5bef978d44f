// Package submitapi serves the HTTP API of cardano-submit-api: POST tx with a transaction in CBOR.
package submitapi

import (
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain *served.Chain
	Path  string       // below which the API is served: "/api/submit"
	Log   *slog.Logger // nil: no log
}

const jsonType = "application/json;charset=utf-8"

// maxBody is more than the bytes of any transaction: nodes accept 16 KiB.
const maxBody = 1 << 20

// Needs lists the ability of the node that the API uses.
var Needs = served.Needs{Chain: "cardano", Node: "unix:///path/to/node.socket", Parts: []served.Need{
	{Node: served.Can[model.Submitter]},
}}

// New returns the handler of all requests below the path of o. The chain must fulfil [Needs].
func New(o Options) http.Handler {
	return exchange.Handler(exchange.Protocol[struct{}]{
		Path: o.Path, Log: o.Log, Error: failure, MaxBody: maxBody, JSON: jsonType,
		NotFound: func(_ *exchange.Request, _ string, allowed []string) error {
			if allowed != nil {
				return status(http.StatusMethodNotAllowed)
			}
			return status(http.StatusNotFound)
		},
		Endpoints: []exchange.Endpoint[struct{}]{
			{Method: http.MethodPost, Path: "tx", Node: o.submit},
			{Method: http.MethodOptions, Path: "tx", Node: preflight},
		},
	})
}

func preflight(r *exchange.Request) (any, error) {
	r.Header().Set("Access-Control-Allow-Headers", "content-type")
	r.SetStatus(http.StatusNoContent)
	return exchange.Nothing{}, nil
}

// submit sends the transaction in the body to the node, and enters it into the mempool.
func (o *Options) submit(r *exchange.Request) (any, error) {
	if kind, _, err := mime.ParseMediaType(r.Request.Header.Get("Content-Type")); err != nil || kind != "application/cbor" {
		return nil, status(http.StatusUnsupportedMediaType)
	}
	if _, err := ledger.HashTx(r.Content()); err != nil {
		return nil, &notDecoded{fmt.Errorf("no transaction: %w", err)}
	}
	if err := ratelimit.Submission(r.Writer()); err != nil {
		return nil, err
	}
	id, err := o.Chain.Submitter.Submit(r.Context(), r.Content(), model.SubmitOptions{})
	if err != nil {
		return nil, err
	}
	if o.Chain.Mempool != nil {
		_ = o.Chain.Mempool.Enter(r.Context(), id) // if this fails, the next list of the node has the transaction
	}
	r.SetStatus(http.StatusAccepted)
	return id.String(), nil
}

// status is the error of an answer without a body.
type status int

func (s status) Error() string { return http.StatusText(int(s)) }

// notDecoded is the error of a body that is not a transaction.
type notDecoded struct{ error }

// tagged is a value in the JSON of Haskell's sum types.
type tagged struct {
	Tag      string `json:"tag"`
	Contents any    `json:"contents"`
}

// validation is the failure of a transaction in the form of cardano-api. The node's message is its only error; its era is
// the present one of all public networks, because the message does not have it.
type validation struct {
	Era    string   `json:"era"`
	Errors []string `json:"error"`
	Kind   string   `json:"kind"`
}

// failure returns an error in the form of cardano-submit-api (src/Cardano/TxSubmit/Types.hs in the folder
// cardano-submit-api of IntersectMBO/cardano-node).
func failure(_ *exchange.Request, err error) exchange.Failure {
	if s, ok := errors.AsType[status](err); ok {
		return exchange.Failure{Status: int(s)}
	}
	body := func(why tagged) []byte { return jsonappend.Append(nil, tagged{"TxSubmitFail", why}) }
	if _, ok := errors.AsType[*notDecoded](err); ok {
		return exchange.Failure{Status: http.StatusBadRequest, Type: jsonType, Body: body(tagged{"TxCmdTxReadError", []string{err.Error()}})}
	}
	if refusal, ok := errors.AsType[*model.NodeError](err); ok {
		reason := validation{"ShelleyBasedEraConway", []string{refusal.Message}, "ShelleyTxValidationError"}
		why := tagged{"TxCmdTxSubmitValidationError", tagged{"TxValidationErrorInCardanoMode", reason}}
		return exchange.Failure{Status: http.StatusBadRequest, Type: jsonType, Body: body(why)}
	}
	p := problem.Of(err)
	return exchange.Failure{Status: p.Status, Type: jsonType, Body: body(tagged{"TxCmdTxSubmitConnectionError", p.Detail})}
}
