package rest

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"birthmark/chains/adapter"
	"birthmark/chains/nodehttp"
)

const (
	// smallAnswer is the maximum size in bytes of a response without blocks: the maximum number of ids fits.
	smallAnswer = 2 << 20
	// maxBlock is the maximum size in bytes of a full block: several times the JSON of the largest blocks that miners
	// ever voted for.
	maxBlock = 64 << 20
)

var kind = nodehttp.Kind{
	Node:   "an Ergo node",
	URL:    "expected http://HOST:PORT, http://:API_KEY@HOST:PORT or https://…, special characters of a key written as %XX",
	Secret: "an API key",
	NoUser: true,
	Packed: true,
}

// all reads the whole body of a response without surrounding white space. ok is false if it exceeds smallAnswer.
func all(a *http.Response) (text []byte, ok bool, err error) {
	text, err = io.ReadAll(io.LimitReader(a.Body, smallAnswer+1))
	return bytes.TrimSpace(text), len(text) <= smallAnswer, err
}

// do sends a request with the current key, and once more with a newer key if that was refused. It returns the response
// with any other status.
func (c *Client) do(ctx context.Context, r nodehttp.Request, read func(*http.Response) error) error {
	key, err := c.key.Use(func(key string) error { return c.send(ctx, r, key, read) }, c.keyError)
	if err == adapter.ErrRefused {
		return c.unauthorized(key)
	}
	return err
}

// send sends a request with a key; empty: none.
func (c *Client) send(ctx context.Context, r nodehttp.Request, key string, read func(*http.Response) error) error {
	r.Header = http.Header{"Accept": {"application/json"}}
	if key != "" {
		r.Header.Set("api_key", key)
	}
	err := c.http.Do(ctx, r, func(a *http.Response) error {
		switch a.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return adapter.ErrRefused
		}
		return read(a)
	})
	if err == nil {
		c.http.Connected.Store(true)
	}
	return err
}
