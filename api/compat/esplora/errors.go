package esplora

import (
	"net/http"
	"strings"

	"birthmark/api/exchange"
	"birthmark/model"
)

func errorf(status int, format string, args ...any) error {
	return exchange.Errorf(status, format, args...)
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
	switch _, code := model.KindOf(err); code {
	case "unknown_block":
		err = errNoBlock
	case "unknown_tx":
		err = errNoTx
	case "bad_network":
		return http.StatusBadRequest, "Address on invalid network"
	}
	return exchange.StatusAndText(err, "Request body too large")
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
