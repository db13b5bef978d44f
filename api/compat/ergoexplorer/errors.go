package ergoexplorer

import (
	"errors"
	"fmt"
	"net/http"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
)

// failure is an error in the form of the explorer.
type failure struct {
	Status int    `json:"status"`
	Reason string `json:"reason"`
}

func (f *failure) Error() string { return f.Reason }

func bad(format string, args ...any) error {
	return &failure{http.StatusBadRequest, "Bad request: " + fmt.Sprintf(format, args...)}
}

func absent(format string, args ...any) error {
	return &failure{http.StatusNotFound, "Not found: " + fmt.Sprintf(format, args...)}
}

var errDirection = bad("sortDirection: expected asc or desc")

func notFound(_ *request, _ string, allowed []string) error {
	if n := len(allowed); n > 0 {
		return &failure{http.StatusMethodNotAllowed, "Method not allowed: expected " + allowed[n-1]}
	}
	return absent("no such path")
}

const handKept = "the list of genuine tokens (EIP-21) is kept by hand and not part of the chain"

// unsupported returns an endpoint that is not answered, with the reason.
func unsupported(reason string) func(*request) (any, error) {
	return func(*request) (any, error) {
		return nil, &failure{http.StatusNotImplemented, "Not implemented: " + reason}
	}
}

// failureOf returns the answer of an error.
func failureOf(_ *request, err error) exchange.Failure {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		p := problem.Of(err)
		f = &failure{p.Status, p.Detail}
		switch p.Status {
		case http.StatusBadRequest:
			f.Reason = "Bad request: " + p.Detail
		case http.StatusNotFound:
			f.Reason = "Not found: " + p.Detail
		}
	}
	return exchange.Failure{Status: f.Status, Type: exchange.TypeJSON, Body: jsonappend.Append(nil, f)}
}
