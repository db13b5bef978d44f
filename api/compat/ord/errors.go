package ord

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

func badRequest(format string, args ...any) error {
	return errorf(http.StatusBadRequest, format, args...)
}

// missing returns the error of something that does not exist, as ord writes it.
func missing(format string, args ...any) error {
	return errorf(http.StatusNotFound, format+" not found", args...)
}

// statusAndText returns the status and the text of an error.
func statusAndText(err error) (int, string) {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status, e.text
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Status, p.Detail
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, "length limit exceeded"
	}
	kind, code := model.KindOf(err)
	switch {
	case code == "bad_address", code == "bad_network":
		return http.StatusBadRequest, err.Error()
	case kind == model.BadSource, kind == model.Refused, code == "no_raw", code == "unsupported":
		return http.StatusServiceUnavailable, err.Error()
	}
	p := problem.Of(err)
	return p.Status, p.Detail
}

// is reports whether an error has one of some codes.
func is(err error, codes ...string) bool {
	_, has := model.KindOf(err)
	for _, code := range codes {
		if err != nil && has == code {
			return true
		}
	}
	return false
}

// failure returns the answer of an error: its text.
func failure(_ *request, err error) exchange.Failure {
	status, text := statusAndText(err)
	return exchange.Failure{Status: status, Type: exchange.TypeText, Body: []byte(strings.ToValidUTF8(text, "?"))}
}

func notFound(*request, string, []string) error { return errorf(http.StatusNotFound, "") }
