package exchange

import (
	"errors"
	"fmt"
	"net/http"

	"birthmark/api/problem"
	"birthmark/model"
)

// StatusError is an error of a protocol with its HTTP status.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string { return e.Text }

// Errorf returns a [StatusError].
func Errorf(status int, format string, args ...any) error {
	return &StatusError{status, fmt.Sprintf(format, args...)}
}

// StatusAndText returns the status and the text of an error. tooLarge is the text for a request body that is too large.
func StatusAndText(err error, tooLarge string) (int, string) {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status, e.Text
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Status, p.Detail
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, tooLarge
	}
	switch kind, code := model.KindOf(err); {
	case code == "bad_address", code == "bad_network":
		return http.StatusBadRequest, err.Error()
	case code == "unreachable":
		return http.StatusGatewayTimeout, err.Error()
	case kind == model.BadSource, kind == model.Refused, code == "no_raw", code == "unsupported":
		return http.StatusServiceUnavailable, err.Error()
	}
	p := problem.Of(err)
	return p.Status, p.Detail
}
