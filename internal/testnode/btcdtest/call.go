package btcdtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

const (
	user     = "user"
	password = "pass"
)

// rpcError is an error response of a node.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// call sends one request to the node at addr without retries. result may be nil.
func call(ctx context.Context, addr, method string, result any, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": append([]any{}, params...)})
	if err != nil {
		return err
	}
	text, err := post(ctx, addr, body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	reply := struct {
		Result any
		Error  *rpcError
	}{Result: result}
	if err := json.Unmarshal(text, &reply); err != nil {
		return fmt.Errorf("%s: %.200q: %w", method, text, err)
	}
	if reply.Error != nil {
		return fmt.Errorf("%s: %w", method, reply.Error)
	}
	return nil
}

// post sends a call or a batch and returns the response body for any status.
func post(ctx context.Context, addr string, body []byte) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.SetBasicAuth(user, password)
	q.Header.Set("Content-Type", "application/json")
	q.Close = true // btcd closes every connection anyway
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}
