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
	code    int
	message string
}

// Error implements error.
func (e *rpcError) Error() string { return e.message }

func badRequest(format string, args ...any) error {
	return &rpcError{codeBad, fmt.Sprintf(format, args...)}
}

func badParams(format string, args ...any) error {
	return &rpcError{codeParams, fmt.Sprintf(format, args...)}
}

// Causes of canceled requests.
var (
	errTimeout  = errors.New("the request takes too long")
	errShutdown = errors.New("the server is shutting down")
	errCost     = errors.New("cost limit")
)

// errorOf returns the error that the client gets. Details of internal errors are for the log only: internal is true.
func (c *conn) errorOf(ctx context.Context, err error) (e *rpcError, internal bool) {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e, false
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return &rpcError{codeLimit, fmt.Sprintf("the request took more than %v (electrum.request_timeout)", c.RequestTimeout)}, false
	case cause != nil:
		return &rpcError{codeInternal, errShutdown.Error()}, false
	}
	switch kind, _ := model.KindOf(err); kind {
	case model.NotFound, model.Usage:
		return &rpcError{codeBad, err.Error()}, false
	case model.BadSource:
		return &rpcError{codeNode, err.Error()}, false
	case model.Refused:
		return &rpcError{codeInternal, err.Error()}, false
	}
	return &rpcError{codeInternal, "internal error: see the log of the server"}, true
}
