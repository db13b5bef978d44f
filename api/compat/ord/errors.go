package ord

import (
	"net/http"
	"strings"

	"birthmark/api/exchange"
	"birthmark/model"
)

func errorf(status int, format string, args ...any) error {
	return exchange.Errorf(status, format, args...)
}

func badRequest(format string, args ...any) error {
	return errorf(http.StatusBadRequest, format, args...)
}

// missing returns the error of something that does not exist, as ord writes it.
func missing(format string, args ...any) error {
	return errorf(http.StatusNotFound, format+" not found", args...)
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
	status, text := exchange.StatusAndText(err, "length limit exceeded")
	return exchange.Failure{Status: status, Type: exchange.TypeText, Body: []byte(strings.ToValidUTF8(text, "?"))}
}

func notFound(*request, string, []string) error { return errorf(http.StatusNotFound, "") }
