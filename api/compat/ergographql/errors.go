package ergographql

import (
	"errors"
	"net/http"

	graphql "github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
)

func bad(format string, args ...any) error {
	return problem.New(http.StatusBadRequest, "bad_request", format, args...)
}

// failed returns the status and the answer of an error.
func (h *handler) failed(err error) (int, []byte) {
	p := h.problem(err)
	return p.Status, jsonappend.Append(nil, &graphql.Response{Errors: []*gqlerrors.QueryError{{Message: p.Detail}}})
}

// fieldError returns the error of a field, whose text the client gets.
func (h *handler) fieldError(err error) error { return errors.New(h.problem(err).Detail) }

// problem returns the problem of an error, and logs it if it is the server's fault.
func (h *handler) problem(err error) *problem.Problem {
	p := problem.Of(err)
	if p.Status == http.StatusInternalServerError {
		h.Log.Error("a request of the API of ergo-graphql failed", "error", err)
	}
	return p
}

// WriteProblem implements [exchange.ProblemWriter].
func (h *handler) WriteProblem(w http.ResponseWriter, p *problem.Problem) {
	status, body := h.failed(p)
	exchange.Failure{Status: status, Type: exchange.TypeJSON, Body: body}.Write(w)
}
