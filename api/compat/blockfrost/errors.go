package blockfrost

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"birthmark/api/problem"
	"birthmark/model"
)

// fault is an error document in the form of Blockfrost.
type fault struct {
	StatusCode int    `json:"status_code"`
	Title      string `json:"error"`
	Message    string `json:"message"`
}

func (e *fault) Error() string { return e.Message }

func newFault(status int, message string) *fault {
	return &fault{status, http.StatusText(status), message}
}

func bad(message string) error { return newFault(http.StatusBadRequest, message) }

// notImplemented is the error of an endpoint that the server cannot answer truthfully.
func notImplemented(reason string) error { return newFault(http.StatusNotImplemented, reason) }

// The texts are those of Blockfrost, because clients compare them.
var (
	errNotFound = newFault(http.StatusNotFound, "The requested component has not been found.")
	errPath     = bad("Invalid path. Please check https://docs.blockfrost.io/")
	errAddress  = bad("Invalid address for this network or malformed address format.")
	errStake    = bad("Invalid or malformed stake address format.")
	errAsset    = bad("Invalid or malformed asset format.")
	errPolicy   = bad("Invalid or malformed policy format.")
	errPool     = bad("Invalid or malformed pool id format.")
	errHash     = bad("Missing or malformed block hash.")
	errNumber   = bad("Missing, out of range or malformed block number.")
	errSlot     = bad("Missing, out of range or malformed slot_number.")
	errEpoch    = bad("Missing, out of range or malformed epoch_number.")
	errRange    = bad("Invalid (malformed or out of range) from/to parameter(s).")
	errOrder    = bad("querystring/order must be equal to one of the allowed values")
)

// faultOf returns the document of an error.
func faultOf(err error) *fault {
	if e, ok := errors.AsType[*fault](err); ok {
		return e
	}
	if _, code := model.KindOf(err); code == "no_raw" {
		return newFault(http.StatusServiceUnavailable, err.Error())
	}
	return faultOfProblem(problem.Of(err))
}

func faultOfProblem(p *problem.Problem) *fault {
	if p.Status == http.StatusUnauthorized {
		return newFault(http.StatusForbidden, "Invalid project token.")
	}
	return newFault(p.Status, p.Detail)
}

// WriteProblem answers with an error of the server that is not specific to this API, such as a missing API key.
func WriteProblem(w http.ResponseWriter, p *problem.Problem) { write(w, faultOfProblem(p)) }

func write(w http.ResponseWriter, e *fault) {
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // impossible: its fields are of simple types
	}
	h := w.Header()
	h["Content-Type"] = []string{jsonType}
	h["Cache-Control"] = []string{"no-store"}
	w.WriteHeader(e.StatusCode)
	_, _ = w.Write(body) // fails only if the client is gone
}

// fail answers with an error.
func (q *request) fail(err error) {
	e := faultOf(err)
	if e.StatusCode == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		q.Log.Error("a request of Blockfrost's API failed", "route", q.r.Pattern, "error", err)
	}
	write(q.w, e)
}
