package electrum

import (
	"encoding/json"
	"fmt"
)

// maxParams is the largest number of parameters of a method.
const maxParams = 4

// request is one request of a message. Its slices point into the message.
type request struct {
	id     []byte // JSON: a string, a number or null; nil: a notification, which gets no answer
	method []byte
	n      int               // number of parameters; those above maxParams are counted only
	names  [maxParams][]byte // of parameters that are passed by name
	values [maxParams][]byte // JSON
	named  bool              // the parameters are an object
	err    *rpcError         // the request is malformed
}

// parse appends the requests of a message, a JSON object or an array of at most max objects, to reqs. A message that is
// not JSON, or has too many requests, is an error.
func parse(message []byte, reqs []request, max int) (all []request, batch bool, err *rpcError) {
	if !json.Valid(message) {
		return reqs, false, &rpcError{codeParse, "invalid JSON: expected one JSON-RPC request, or an array of them, per line"}
	}
	i := space(message, 0)
	if message[i] != '[' {
		return append(reqs, parseRequest(message[i:skip(message, i)])), false, nil
	}
	for item := range items(message[i:]) {
		if len(reqs) == max {
			return reqs, true, invalidRequest("the batch has more than %d requests (electrum.max_batch)", max)
		}
		reqs = append(reqs, parseRequest(item))
	}
	if len(reqs) == 0 {
		return reqs, true, invalidRequest("the batch is empty")
	}
	return reqs, true, nil
}

func invalidRequest(format string, args ...any) *rpcError {
	return &rpcError{codeRequest, fmt.Sprintf(format, args...)}
}

func parseRequest(text []byte) (r request) {
	if text[0] != '{' {
		r.id, r.err = null, invalidRequest("a request must be a JSON object")
		return r
	}
	for name, value := range members(text) {
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
	return r
}

func (r *request) setParams(value []byte) {
	switch value[0] {
	case '[':
		for item := range items(value) {
			r.add(nil, item)
		}
	case '{':
		r.named = true
		for name, item := range members(value) {
			r.add(name, item)
		}
	case 'n': // null
	default:
		r.err = invalidRequest("params must be an array or an object")
	}
}

func (r *request) add(name, value []byte) {
	if r.n < maxParams {
		r.names[r.n], r.values[r.n] = name, value
	}
	r.n++
}

var null = []byte("null")

// The functions below read valid JSON, without spaces before the first byte.

// items yields the elements of an array.
func items(text []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for i := space(text, 1); text[i] != ']'; {
			end := skip(text, i)
			if !yield(text[i:end]) {
				return
			}
			if i = space(text, end); text[i] == ',' {
				i = space(text, i+1)
			}
		}
	}
}

// members yields the members of an object.
func members(text []byte) func(yield func(name, value []byte) bool) {
	return func(yield func(name, value []byte) bool) {
		for i := space(text, 1); text[i] != '}'; {
			end := skip(text, i)
			name := unquote(text[i:end])
			i = space(text, space(text, end)+1) // after the colon
			end = skip(text, i)
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
	for i < len(text) {
		switch text[i] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

// unquote returns the bytes of a JSON string.
func unquote(text []byte) []byte {
	inner := text[1 : len(text)-1]
	for _, b := range inner {
		if b == '\\' {
			var s string
			_ = json.Unmarshal(text, &s) // valid
			return []byte(s)
		}
	}
	return inner
}
