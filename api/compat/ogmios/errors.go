package ogmios

import (
	"encoding/json"
	"fmt"
	"net/http"

	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/model"
)

// Codes of errors: those of JSON-RPC 2.0, then those of Ogmios.
const (
	parseError     = -32700
	invalidRequest = -32600
	unknownMethod  = -32601
	invalidParams  = -32602
	internalError  = -32603
	serverError    = -32000

	unavailableInEra  = 2002
	unexpectedMempool = 3997
	mustAcquire       = 4000
)

// fault is the error of a response.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

// notParsed returns the fault of a message that is not JSON, or not a request.
func notParsed(body []byte, err error) *fault {
	f := &fault{Code: parseError, Message: "the request: " + err.Error()}
	if json.Valid(body) {
		f.Code = invalidRequest
	}
	return f
}

// invalid returns the fault of parameters.
func invalid(format string, args ...any) *fault {
	return &fault{Code: invalidParams, Message: fmt.Sprintf(format, args...)}
}

// unanswered returns the fault of a method that is not answered.
func unanswered(why string) *fault { return &fault{Code: unknownMethod, Message: why} }

// rejected returns the fault of a transaction that the node refused. Ogmios has a code for each rule of the ledger, with
// data that depends on it. Here all have the code of a refusal whose reason is a text.
func rejected(reason string) *fault {
	return &fault{unexpectedMempool, "The node rejected the transaction: " + reason, map[string]string{"error": reason}}
}

// notDecoded returns the fault of bytes that are not a transaction of any era.
func notDecoded(err error) *fault {
	data := map[string]string{}
	for _, era := range []string{"shelley", "allegra", "mary", "alonzo", "babbage", "conway"} {
		data[era] = err.Error()
	}
	return &fault{invalidParams, "no transaction: " + err.Error(), data}
}

// faultOf returns the fault of an error.
func faultOf(err error) *fault {
	if f, ok := err.(*fault); ok {
		return f
	}
	p := problem.Of(err)
	f := &fault{Code: serverError, Message: p.Detail}
	if kind, code := model.KindOf(err); kind == model.NotFound && code == "unsupported" {
		f.Code = unavailableInEra
	} else if p.Status == http.StatusInternalServerError {
		f.Code = internalError
	}
	return f
}

// WriteProblem implements [exchange.ProblemWriter] by a response without id.
func (*handler) WriteProblem(w http.ResponseWriter, p *problem.Problem) {
	a := &response{Version: rpcVersion, Error: &fault{Code: serverError, Message: p.Detail}}
	write(w, p.Status, jsonappend.Append(nil, a))
}
