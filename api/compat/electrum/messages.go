package electrum

import (
	"bytes"
	"encoding/json"
	"strings"

	"birthmark/api/jsonappend"
)

// maxParams is the largest number of parameters of a method.
const maxParams = 4

// request is one request of a message. Its slices point into the message.
type request struct {
	id     []byte // JSON: a string, a number or null; nil: a notification, which gets no answer
	method []byte
	n      int               // number of parameters; those above maxParams are counted only
	names  [maxParams][]byte // of parameters that are passed by name
	named  bool              // the parameters are an object
	args   args
	err    *rpcError // the request is refused, before anything is read
	answer answer
}

// parse appends the requests of a message, a JSON object or an array of at most max objects, to reqs. A message that is
// not JSON, or has too many requests, is an error.
func parse(message []byte, reqs []request, max int) (all []request, batch bool, err *rpcError) {
	if !json.Valid(message) {
		return reqs, false, failure(codeParse, "invalid JSON: expected one JSON-RPC request, or an array of them, per line")
	}
	i := space(message, 0)
	if message[i] != '[' {
		return appendRequest(reqs, message[i:skip(message, i)]), false, nil
	}
	for _, item := range elements(message[i:]) {
		if len(reqs) == max {
			return reqs, true, invalidRequest("the batch has more than %d requests (electrum.max_batch)", max)
		}
		reqs = appendRequest(reqs, item)
	}
	if len(reqs) == 0 {
		return reqs, true, invalidRequest("the batch is empty")
	}
	return reqs, true, nil
}

func appendRequest(reqs []request, text []byte) []request {
	reqs = append(reqs, request{})
	r := &reqs[len(reqs)-1]
	if text[0] != '{' {
		r.id, r.err = null, invalidRequest("a request must be a JSON object")
		return reqs
	}
	for name, value := range elements(text) {
		switch string(name) {
		case "id":
			r.id = value
		case "method":
			if value[0] != '"' {
				r.err = invalidRequest("method must be a string")
				continue
			}
			r.method = unquote(value)
		case "params":
			r.setParams(value)
		}
	}
	switch {
	case r.id != nil && (r.id[0] == '{' || r.id[0] == '[' || r.id[0] == 't' || r.id[0] == 'f'):
		r.id, r.err = null, invalidRequest("id must be a number, a string or null")
	case r.err == nil && r.method == nil:
		r.err = invalidRequest("the request has no method")
	}
	if r.err != nil && r.id == nil {
		r.id = null
	}
	return reqs
}

func (r *request) setParams(value []byte) {
	switch value[0] {
	case '[', '{':
		r.named = value[0] == '{'
		for name, item := range elements(value) {
			if r.n < maxParams {
				r.names[r.n], r.args.values[r.n] = name, item
			}
			r.n++
		}
	case 'n': // null
	default:
		r.err = invalidRequest("params must be an array or an object")
	}
}

var null = []byte("null")

// appendResult appends the begin of an answer: its result and a brace follow.
func appendResult(b, id []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	return append(append(b, id...), `,"result":`...)
}

// appendError appends the answer that a request failed.
func appendError(b, id []byte, e *rpcError) []byte {
	return jsonappend.Append(b, &struct {
		Version string          `json:"jsonrpc"`
		ID      jsonappend.JSON `json:"id"`
		Error   *rpcError       `json:"error"`
	}{"2.0", id, e})
}

// appendNotification appends a message that answers no request.
func appendNotification(b []byte, method string, params []any) []byte {
	return jsonappend.Append(b, &struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  []any  `json:"params"`
	}{"2.0", method, params})
}

// The functions below read valid JSON, without spaces before the first byte.

// elements yields the elements of an array, or the members of an object: those of an array have no name.
func elements(text []byte) func(yield func(name, value []byte) bool) {
	return func(yield func(name, value []byte) bool) {
		for i := space(text, 1); text[i] != ']' && text[i] != '}'; {
			end := skip(text, i)
			var name []byte
			if text[0] == '{' {
				name = unquote(text[i:end])
				i = space(text, space(text, end)+1) // after the colon
				end = skip(text, i)
			}
			if !yield(name, text[i:end]) {
				return
			}
			if i = space(text, end); text[i] == ',' {
				i = space(text, i+1)
			}
		}
	}
}

// space returns the index of the first byte from i on that is not a space.
func space(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r' {
		i++
	}
	return i
}

// skip returns the index after the value at i.
func skip(text []byte, i int) int {
	switch text[i] {
	case '"':
		for i++; text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		return i + 1
	case '{', '[':
		for depth := 0; ; {
			switch text[i] {
			case '"':
				i = skip(text, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if i++; depth == 0 {
				return i
			}
		}
	}
	for i < len(text) && strings.IndexByte(",]} \t\n\r", text[i]) < 0 {
		i++
	}
	return i
}

// unquote returns the bytes of a JSON string.
func unquote(text []byte) []byte {
	inner := text[1 : len(text)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	_ = json.Unmarshal(text, &s) // valid
	return []byte(s)
}
