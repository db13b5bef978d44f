package blockfrost

import (
	"errors"
	"net/http"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/model"
)

// fault is an error object of Blockfrost.
type fault struct {
	Status  int    `json:"status_code"`
	Title   string `json:"error"`
	Message string `json:"message"`
}

func (e *fault) Error() string { return e.Message }

func newFault(status int, message string) *fault {
	return &fault{status, http.StatusText(status), message}
}

// bad is the error of a malformed request.
func bad(message string) error { return newFault(http.StatusBadRequest, message) }

// notImplemented is the error of an endpoint that the server cannot answer truthfully.
func notImplemented(reason string) error { return newFault(http.StatusNotImplemented, reason) }

// unanswered reports whether err is a notImplemented error.
func unanswered(err error) bool {
	e, ok := errors.AsType[*fault](err)
	return ok && e.Status == http.StatusNotImplemented
}

// unlessUnsupported replaces the error of a node that does not support a query by notImplemented.
func unlessUnsupported(err error) error {
	if _, code := model.KindOf(err); code == "unsupported" {
		return notImplemented(err.Error())
	}
	return err
}

// orNotFound returns the error, or without one that nothing was found.
func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return errNotFound
}

// ifInternal returns the error if it is internal, and nil if the request or the data has caused it.
func ifInternal(err error) error {
	if kind, _ := model.KindOf(err); kind == model.Internal {
		return err
	}
	return nil
}

// The texts equal those of Blockfrost, because clients compare them.
var (
	errNotFound = newFault(http.StatusNotFound, "The requested component has not been found.")
	errPath     = bad("Invalid path. Please check https://docs.blockfrost.io/")
	errAddress  = bad("Invalid address for this network or malformed address format.")
	errStake    = bad("Invalid or malformed stake address format.")
	errAsset    = bad("Invalid or malformed asset format.")
	errPolicy   = bad("Invalid or malformed policy format.")
	errPool     = bad("Invalid or malformed pool id format.")
	errHash     = bad("Missing or malformed block hash.")
	errNumber   = bad("Missing, out of range or malformed block number.")
	errSlot     = bad("Missing, out of range or malformed slot_number.")
	errEpoch    = bad("Missing, out of range or malformed epoch_number.")
	errLabel    = bad("Missing, out of range or malformed label.")
	errXpub     = bad("Invalid or malformed xpub format. Has to be hex of length 128.")
	errRange    = bad("Invalid (malformed or out of range) from/to parameter(s).")
	errOrder    = bad("querystring/order must be equal to one of the allowed values")
)

// faultOf returns the object of an error.
func faultOf(err error) *fault {
	if e, ok := errors.AsType[*fault](err); ok {
		return e
	}
	if _, code := model.KindOf(err); code == "no_raw" {
		return newFault(http.StatusServiceUnavailable, err.Error())
	}
	return faultOfProblem(problem.Of(err))
}

func faultOfProblem(p *problem.Problem) *fault {
	if p.Status == http.StatusUnauthorized {
		return newFault(http.StatusForbidden, "Invalid project token.")
	}
	return newFault(p.Status, p.Detail)
}

func failure(_ *request, err error) exchange.Failure {
	e := faultOf(err)
	return exchange.Failure{Status: e.Status, Type: jsonType, Body: jsonappend.Append(nil, e)}
}

// notFound is the error of a path or a method without an endpoint.
func notFound(*request, string, []string) error { return errPath }
