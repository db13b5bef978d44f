package electrum

import (
	"context"
	"errors"
	"fmt"

	"birthmark/model"
)

// Codes of errors: those of JSON-RPC 2.0, and those of ElectrumX.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeBad      = 1    // the request is well-formed, but has no answer: unknown transaction, height above the tip
	codeNode     = 2    // the node failed
	codeLimit    = -101 // the client uses too much
)

// rpcError is the error of a request.
type rpcError struct {
	Code    int  `json:"code"`
	Message text `json:"message"`
}

// Error implements error.
func (e *rpcError) Error() string { return string(e.Message) }

func failure(code int, format string, args ...any) *rpcError {
	return &rpcError{code, text(fmt.Sprintf(format, args...))}
}

func badRequest(format string, args ...any) *rpcError { return failure(codeBad, format, args...) }

func badParams(format string, args ...any) *rpcError { return failure(codeParams, format, args...) }

func invalidRequest(format string, args ...any) *rpcError {
	return failure(codeRequest, format, args...)
}

// Reasons why a connection or a request ends.
var (
	errTimeout  = errors.New("the request takes too long")
	errShutdown = errors.New("the server is shutting down")
	errCost     = errors.New("cost limit")
	errVersion  = errors.New("no common protocol version")
)

// errorOf returns the error that the client gets. Details of internal errors are for the log only: internal is true.
func (c *conn) errorOf(ctx context.Context, err error) (e *rpcError, internal bool) {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e, false
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return failure(codeLimit, "the request took more than %v (electrum.request_timeout)", c.RequestTimeout), false
	case cause != nil:
		return failure(codeInternal, "%v", errShutdown), false
	}
	switch kind, _ := model.KindOf(err); kind {
	case model.NotFound, model.Usage:
		return failure(codeBad, "%v", err), false
	case model.BadSource:
		return failure(codeNode, "%v", err), false
	case model.Refused:
		return failure(codeInternal, "%v", err), false
	}
	return failure(codeInternal, "internal error: see the log of the server"), true
}

// nodeError returns the error of a question to the node.
func nodeError(err error) error {
	if kind, _ := model.KindOf(err); kind == model.Internal {
		return err
	}
	return failure(codeNode, "daemon error: %v", err)
}

// unknownTx returns the error of a transaction that cannot be read. Clients search it for Bitcoin Core's sentence.
func unknownTx(id model.Hash, err error) error {
	if _, code := model.KindOf(err); code == "unknown_tx" {
		return badRequest("No such mempool or blockchain transaction: %s", display(id))
	}
	return err
}

func unconfirmed(id model.Hash) error {
	return badRequest("transaction %s is not confirmed", display(id))
}

// outOfRange returns the error of a block that cannot be read.
func outOfRange(height uint32, err error) error {
	if isNotFound(err) {
		return badRequest("height %d out of range", height)
	}
	return err
}

func isNotFound(err error) bool {
	kind, _ := model.KindOf(err)
	return err != nil && kind == model.NotFound
}
