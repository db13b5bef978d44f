package esplora

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"birthmark/api/exchange"
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

// statusAndText returns the status and the text of an error.
func statusAndText(err error) (int, string) {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status, e.text
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Status, p.Detail
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, "Request body too large"
	}
	kind, code := model.KindOf(err)
	switch {
	case code == "unknown_block":
		return statusAndText(errNoBlock)
	case code == "unknown_tx":
		return statusAndText(errNoTx)
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

// failure returns the answer of an error: its text.
func failure(_ *request, err error) exchange.Failure {
	status, text := statusAndText(err)
	return exchange.Failure{Status: status, Type: exchange.TypeText, Body: []byte(strings.ToValidUTF8(text, "?"))}
}

func notFound(r *request, path string, _ []string) error {
	return errorf(http.StatusNotFound, "endpoint does not exist %q", path)
}
