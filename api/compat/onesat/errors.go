package onesat

import (
	"net/http"
	"strings"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/model"
)

func errorf(status int, format string, args ...any) error {
	return exchange.Errorf(status, format, args...)
}

func badRequest(format string, args ...any) error {
	return errorf(http.StatusBadRequest, format, args...)
}

func missing(format string, args ...any) error { return errorf(http.StatusNotFound, format, args...) }

// failureOf returns the status and the text of an error.
func failureOf(err error) (int, string) {
	return exchange.StatusAndText(err, "Request Entity Too Large")
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

// failure returns the answer of an error. As in 1sat-stack, the form depends on the part of the API.
func failure(r *request, err error) exchange.Failure {
	status, text := failureOf(err)
	text = strings.ToValidUTF8(text, "?")
	name := "error"
	switch path := partOf(r); path {
	case "txo", "owner", "":
		return exchange.Failure{Status: status, Type: exchange.TypeText, Body: []byte(text)}
	case "bsv21":
		name = "message"
	}
	return exchange.Failure{Status: status, Type: exchange.TypeJSON, Body: jsonappend.Append(nil, map[string]string{name: text})}
}

// partOf returns the part of the API that a request is for; empty: none.
func partOf(r *request) string {
	if r == nil {
		return ""
	}
	for _, part := range []string{"bsv21", "txo", "owner", "ordfs", "content", "beef", "chaintracks", "arcade"} {
		if strings.Contains(r.Pattern, "/"+part+"/") {
			return part
		}
	}
	return ""
}

func notFound(r *request, path string, allowed []string) error {
	if len(allowed) > 0 {
		return errorf(http.StatusMethodNotAllowed, "Method Not Allowed")
	}
	return missing("Cannot %s %s", r.Method, path)
}
