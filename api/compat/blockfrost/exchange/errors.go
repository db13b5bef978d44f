package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"birthmark/api/problem"
	"birthmark/model"
)

// Fault is an error document in the form of Blockfrost.
type Fault struct {
	StatusCode int    `json:"status_code"`
	Title      string `json:"error"`
	Message    string `json:"message"`
}

func (e *Fault) Error() string { return e.Message }

// NewFault returns the document of a status.
func NewFault(status int, message string) *Fault {
	return &Fault{status, http.StatusText(status), message}
}

// Bad is the error of a malformed request.
func Bad(message string) error { return NewFault(http.StatusBadRequest, message) }

// NotImplemented is the error of an endpoint that the server cannot answer truthfully.
func NotImplemented(reason string) error { return NewFault(http.StatusNotImplemented, reason) }

// Unanswered reports whether err is that of an endpoint that the server cannot answer truthfully.
func Unanswered(err error) bool {
	e, ok := errors.AsType[*Fault](err)
	return ok && e.StatusCode == http.StatusNotImplemented
}

// The texts are those of Blockfrost, because clients compare them.
var (
	ErrNotFound = NewFault(http.StatusNotFound, "The requested component has not been found.")
	ErrPath     = Bad("Invalid path. Please check https://docs.blockfrost.io/")
	ErrAddress  = Bad("Invalid address for this network or malformed address format.")
	ErrStake    = Bad("Invalid or malformed stake address format.")
	ErrAsset    = Bad("Invalid or malformed asset format.")
	ErrPolicy   = Bad("Invalid or malformed policy format.")
	ErrPool     = Bad("Invalid or malformed pool id format.")
	ErrHash     = Bad("Missing or malformed block hash.")
	ErrNumber   = Bad("Missing, out of range or malformed block number.")
	ErrSlot     = Bad("Missing, out of range or malformed slot_number.")
	ErrEpoch    = Bad("Missing, out of range or malformed epoch_number.")
	ErrLabel    = Bad("Missing, out of range or malformed label.")
	ErrXpub     = Bad("Invalid or malformed xpub format. Has to be hex of length 128.")
	ErrRange    = Bad("Invalid (malformed or out of range) from/to parameter(s).")
	ErrOrder    = Bad("querystring/order must be equal to one of the allowed values")
)

// faultOf returns the document of an error.
func faultOf(err error) *Fault {
	if e, ok := errors.AsType[*Fault](err); ok {
		return e
	}
	if _, code := model.KindOf(err); code == "no_raw" {
		return NewFault(http.StatusServiceUnavailable, err.Error())
	}
	return faultOfProblem(problem.Of(err))
}

func faultOfProblem(p *problem.Problem) *Fault {
	if p.Status == http.StatusUnauthorized {
		return NewFault(http.StatusForbidden, "Invalid project token.")
	}
	return NewFault(p.Status, p.Detail)
}

// WriteProblem answers with an error of the server that is not specific to this API, such as a missing API key.
func WriteProblem(w http.ResponseWriter, p *problem.Problem) { write(w, faultOfProblem(p)) }

func write(w http.ResponseWriter, e *Fault) {
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // impossible: its fields are of simple types
	}
	h := w.Header()
	h["Content-Type"] = []string{JSONType}
	h["Cache-Control"] = []string{"no-store"}
	w.WriteHeader(e.StatusCode)
	_, _ = w.Write(body) // fails only if the client is gone
}

// Fail answers with an error.
func (q *Request) Fail(err error) {
	e := faultOf(err)
	if e.StatusCode == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		q.Log.Error("a request of Blockfrost's API failed", "route", q.R.Pattern, "error", err)
	}
	write(q.W, e)
}
