// Package submitapi serves the HTTP API of cardano-submit-api: POST tx with a transaction in CBOR.
package submitapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"

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

// maxBody is more than the bytes of any transaction: nodes accept 16 KiB.
const maxBody = 1 << 20

// New returns the handler of all requests below the path of o. The error is of kind [model.Refused] if the chain is
// another one or has no node.
func New(o Options) (http.Handler, error) {
	switch {
	case o.Chain.Model.Name() != "cardano":
		return nil, model.Errorf(model.Refused, "unsupported", "%s: the submit API is for cardano only", o.Chain.Name)
	case o.Chain.Submitter == nil:
		return nil, model.Errorf(model.Refused, "no_node", "%s: the submit API needs a node: set node, or a source, to its socket, "+
			"such as unix:///path/to/node.socket", o.Chain.Name)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return http.HandlerFunc(o.serve), nil
}

func (o *Options) serve(w http.ResponseWriter, r *http.Request) {
	r.Pattern = ""
	if strings.TrimPrefix(r.URL.Path, o.Path) != "/tx" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	r.Pattern = o.Path + "/tx"
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Headers", "content-type")
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPost:
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/cbor" {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	id, err := o.submit(w, r)
	if err != nil {
		o.fail(w, err)
		return
	}
	answer(w, http.StatusAccepted, id.String())
}

// submit sends the transaction in the body to the node, and enters it into the mempool.
func (o *Options) submit(w http.ResponseWriter, r *http.Request) (id model.Hash, err error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return id, err
	}
	if _, err := ledger.HashTx(raw); err != nil {
		return id, &notDecoded{fmt.Errorf("no transaction: %w", err)}
	}
	if err := ratelimit.Submission(w); err != nil {
		return id, err
	}
	if id, err = o.Chain.Submitter.Submit(r.Context(), raw, model.SubmitOptions{}); err != nil {
		return id, err
	}
	if o.Chain.Mempool != nil {
		_ = o.Chain.Mempool.Enter(r.Context(), id) // if this fails, the next list of the node has the transaction
	}
	return id, nil
}

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

// fail answers with the form in which cardano-submit-api reports errors (src/Cardano/TxSubmit/Types.hs in the folder
// cardano-submit-api of IntersectMBO/cardano-node).
func (o *Options) fail(w http.ResponseWriter, err error) {
	if _, ok := errors.AsType[*notDecoded](err); ok {
		answer(w, http.StatusBadRequest, tagged{"TxSubmitFail", tagged{"TxCmdTxReadError", []string{err.Error()}}})
		return
	}
	if refusal, ok := errors.AsType[*model.NodeError](err); ok {
		reason := tagged{"TxValidationErrorInCardanoMode", validation{"ShelleyBasedEraConway", []string{refusal.Message}, "ShelleyTxValidationError"}}
		answer(w, http.StatusBadRequest, tagged{"TxSubmitFail", tagged{"TxCmdTxSubmitValidationError", reason}})
		return
	}
	p := problem.Of(err)
	if p.Status == http.StatusInternalServerError {
		o.Log.Error("a request of the submit API failed", "error", err)
	}
	answer(w, p.Status, tagged{"TxSubmitFail", tagged{"TxCmdTxSubmitConnectionError", p.Detail}})
}

// notDecoded is the error of a body that is not a transaction.
type notDecoded struct{ error }

func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: texts and tags
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client is gone
}
