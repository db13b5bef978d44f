package ergonode

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/chains/ergo"
)

// failure is an error in the form of the node.
type failure struct {
	Status int     `json:"error"`
	Reason string  `json:"reason"`
	Detail *string `json:"detail"`
}

func (f *failure) Error() string { return f.Reason }

func bad(format string, args ...any) *failure {
	detail := fmt.Sprintf(format, args...)
	return &failure{http.StatusBadRequest, "bad.request", &detail}
}

var (
	errNotFound  = &failure{Status: http.StatusNotFound, Reason: "not-found"}
	errDirection = bad(`Invalid parameter for sort direction, valid values are "ASC" and "DESC": asc or desc`)
)

func notFound(_ *request, _ string, allowed []string) error {
	if len(allowed) == 0 {
		return errNotFound
	}
	detail := "this endpoint has another method"
	return &failure{http.StatusMethodNotAllowed, "method-not-allowed", &detail}
}

// refusal is an error of the node, which is passed on.
type refusal struct{ ergo.NodeAnswer }

func (f *refusal) Error() string {
	return fmt.Sprintf("status %d of the node: %.200s", f.Status, f.Body)
}

// failureOf returns the answer of an error.
func failureOf(_ *request, err error) exchange.Failure {
	if n, ok := errors.AsType[*refusal](err); ok {
		return exchange.Failure{Status: n.Status, Type: exchange.TypeJSON, Body: n.Body}
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		p := problem.Of(err)
		f = &failure{p.Status, strings.ReplaceAll(p.Code, "_", "-"), &p.Detail}
		if p.Status == http.StatusBadRequest {
			f.Reason = "bad.request"
		}
	}
	return exchange.Failure{Status: f.Status, Type: exchange.TypeJSON, Body: jsonappend.Append(nil, f)}
}
