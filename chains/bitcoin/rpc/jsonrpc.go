package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// call is one call of a batch. Its id is its position.
type call struct {
	method string
	params []any
}

// Error codes of Core, unless stated otherwise.
const (
	codeMisc       = -1 // btcd: also out of range
	codeType       = -3
	codeNotFound   = -5 // unknown block
	codeParameter  = -8 // out of range
	codeStarting   = -28
	codeBadParams  = -32602
	codeNoMethod   = -32601
	redactedLength = 200
)

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// callError converts the error response of a call.
func (c *Client) callError(method string, e *rpcError) error {
	switch e.Code {
	case codeStarting:
		return blocksource.Temporary(model.Errorf(model.BadSource, "starting", "%s is starting: %s", c.Host(), e.Message))
	case codeNoMethod:
		return model.Errorf(model.BadSource, "method_missing", "%s has no method %s: expected a %s full node", c.Host(), method, c.options.Network.Coin.Title)
	}
	return model.Errorf(model.BadSource, "node_error", "%s: %s: %w", c.Host(), method, e)
}

// reply is one element of a batch response.
type reply[T any] struct {
	ID     json.RawMessage `json:"id"`
	Result T               `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// post sends a batch and passes each result, or the error in its place, to each as it arrives, with the position of its
// call. most bounds the size of a result in bytes. each can end the reading. Calls without a response are not passed
// on.
func post[T any](ctx context.Context, c *Client, calls []call, most int, waits bool, each func(i int, result T, e *rpcError) (done bool, err error)) error {
	body, err := batchBody(calls)
	if err != nil {
		return err
	}
	return c.authorizedPost(ctx, body, waits, func(a *answer) error {
		return replies(a, calls, most, each)
	})
}

// batchBody returns the body of a batch request.
func batchBody(calls []call) ([]byte, error) {
	type request struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  []any  `json:"params"`
	}
	batch := make([]request, len(calls))
	for i, call := range calls {
		params := call.params
		if params == nil {
			params = []any{} // btcd rejects null as an empty list
		}
		batch[i] = request{"2.0", i, call.method, params}
	}
	return json.Marshal(batch)
}

// authorizedPost sends body with the current credentials, and once more with newer ones if those were refused.
func (c *Client) authorizedPost(ctx context.Context, body []byte, waits bool, read func(*answer) error) error {
	used, err := c.secret.Use(func(auth credentials) error {
		return c.do(ctx, nodehttp.Request{Body: body, Header: auth.header(), Waits: waits}, func(a *answer) error {
			if a.response.StatusCode == http.StatusUnauthorized {
				return adapter.ErrRefused
			}
			if auth != (credentials{}) && a.response.StatusCode == http.StatusOK {
				c.authorized.Store(true)
			}
			return read(a)
		})
	}, c.passwordError)
	if err == adapter.ErrRefused {
		return c.unauthorized(used)
	}
	return err
}

// replies reads the elements of a batch response.
func replies[T any](a *answer, calls []call, most int, each func(i int, result T, e *rpcError) (done bool, err error)) error {
	c := a.client
	in := bufio.NewReader(a)
	if isBatch, err := begin(a, in, calls); !isBatch {
		return err
	}
	d := json.NewDecoder(in)
	if _, err := d.Token(); err != nil {
		return c.garbled(a, err)
	}
	for d.More() {
		a.allow(most)
		var r reply[T]
		if err := d.Decode(&r); err != nil {
			return c.garbled(a, err)
		}
		e := c.parseError(r.Error)
		i, err := c.position(r.ID, e, calls)
		if err != nil {
			return err
		}
		if done, err := each(i, r.Result, e); done || err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return c.garbled(a, err)
	}
	return nil
}

// begin reads up to the start of a batch response. It returns the error of any other response.
func begin(a *answer, in *bufio.Reader, calls []call) (isBatch bool, err error) {
	first, err := firstByte(in)
	if err != nil && err != io.EOF {
		return false, a.client.garbled(a, err)
	}
	switch {
	case first == '[' && a.response.StatusCode == http.StatusOK:
		return true, nil
	case first == '{':
		return false, single(a, in, calls)
	}
	text, _ := in.Peek(256)
	return false, a.client.refusal(a, text)
}

// position returns the position of the call that a reply belongs to. An error of the whole batch has none.
func (c *Client) position(id json.RawMessage, e *rpcError, calls []call) (int, error) {
	i, err := strconv.Atoi(string(id))
	switch {
	case (err != nil || i < 0 || i >= len(calls)) && e != nil:
		return 0, c.callError(calls[0].method, e)
	case err != nil || i < 0 || i >= len(calls):
		return 0, model.Errorf(model.BadSource, "bad_answer", "%s answered a call that was not made", c.Host())
	}
	return i, nil
}

// single reads a response that is not a batch: an error, or not JSON-RPC.
func single(a *answer, in *bufio.Reader, calls []call) error {
	text, err := io.ReadAll(in)
	if err != nil && err != errTooLarge {
		return err
	}
	var r reply[json.RawMessage]
	if json.Unmarshal(text, &r) == nil {
		if e := a.client.parseError(r.Error); e != nil {
			return a.client.callError(calls[0].method, e)
		}
	}
	return a.client.refusal(a, text)
}

// parseError parses the error of a reply; nil if there is none. Some nodes send it as a string.
func (c *Client) parseError(raw json.RawMessage) *rpcError {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var e rpcError
	if json.Unmarshal(raw, &e) != nil {
		e = rpcError{Message: string(raw)}
	}
	e.Message = c.http.Excerpt(e.Message, redactedLength)
	return &e
}

// garbled is the error of invalid JSON.
func (c *Client) garbled(a *answer, err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return a.cutOff()
	case errors.Is(err, errTooLarge):
		return model.Errorf(model.BadSource, "bad_answer", "the answer of %s has more bytes than expected", c.Host())
	}
	_, isSyntax := errors.AsType[*json.SyntaxError](err)
	_, isOurs := errors.AsType[notJSON](err)
	isSyntax = isSyntax || isOurs
	_, isType := errors.AsType[*json.UnmarshalTypeError](err)
	if isSyntax || isType {
		return model.Errorf(model.BadSource, "bad_answer", "the answer of %s is not JSON-RPC: %s", c.Host(), c.http.Excerpt(err.Error(), redactedLength))
	}
	return err
}

// firstByte returns the first byte that is not white space, without consuming it.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, in.UnreadByte()
		}
	}
}
