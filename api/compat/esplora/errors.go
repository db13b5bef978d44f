package esplora

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"birthmark/api/problem"
	"birthmark/model"
)

// statusError is an error with its HTTP status. Its text is the whole answer.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func errorf(status int, format string, args ...any) error {
	return &statusError{status, fmt.Sprintf(format, args...)}
}

var (
	errHex         = errorf(http.StatusBadRequest, "Invalid hex string")
	errNoBlock     = errorf(http.StatusNotFound, "Block not found")
	errNoTx        = errorf(http.StatusNotFound, "Transaction not found")
	errUnconfirmed = errorf(http.StatusNotFound, "Transaction not found or is unconfirmed")
	errNoAfter     = errorf(http.StatusUnprocessableEntity, "after_txid not found")
)

// statusOf returns the status and the text of an error.
func statusOf(err error) (int, string) {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status, e.text
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Status, p.Detail
	}
	kind, code := model.KindOf(err)
	switch {
	case code == "unknown_block":
		return statusOf(errNoBlock)
	case code == "unknown_tx":
		return statusOf(errNoTx)
	case code == "bad_network":
		return http.StatusBadRequest, "Address on invalid network"
	case code == "unreachable":
		return http.StatusGatewayTimeout, err.Error()
	case kind == model.BadSource, kind == model.Refused, code == "no_raw", code == "unsupported":
		return http.StatusServiceUnavailable, err.Error()
	}
	p := problem.Of(err)
	return p.Status, p.Detail
}

// is reports whether an error has a code.
func is(err error, code string) bool {
	_, has := model.KindOf(err)
	return has == code
}

// fail answers with an error. If a part of the answer was sent, the connection is closed: the client must not take the
// part for the whole.
func (q *request) fail(err error) {
	if q.sent {
		panic(http.ErrAbortHandler)
	}
	status, text := statusOf(err)
	if status == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		q.Log.Error("an Esplora request failed", "route", q.r.Pattern, "error", err)
	}
	h := q.w.Header()
	h.Set("Content-Type", textType)
	h.Set("Cache-Control", "no-store")
	q.w.WriteHeader(status)
	_, _ = io.WriteString(q.w, strings.ToValidUTF8(text, "?")) // fails only if the client is gone
}

const (
	maxBody  = 1_000_000 // bytes
	bodyTime = 30 * time.Second
)

var errTooLarge = errorf(http.StatusRequestEntityTooLarge, "Request body too large")

func (q *request) readBody() (err error) {
	if q.r.ContentLength > maxBody {
		q.w.Header().Set("Connection", "close") // the body is not read
		return errTooLarge
	}
	control := http.NewResponseController(q.w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // writers of tests have no deadlines
	q.body, err = io.ReadAll(io.LimitReader(q.r.Body, maxBody+1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errorf(http.StatusRequestTimeout, "The request body took more than %d seconds", bodyTime/time.Second)
	}
	if err != nil {
		return errorf(http.StatusBadRequest, "The request body cannot be read: %s", err)
	}
	_ = control.SetReadDeadline(time.Time{})
	if len(q.body) > maxBody {
		return errTooLarge
	}
	return nil
}
