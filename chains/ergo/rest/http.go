package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"birthmark/chains/nodehttp"
)

const (
	// smallAnswer is the most bytes of an answer without blocks in it: as many ids as a node gives at once fit.
	smallAnswer = 2 << 20
	// maxBlock is the most bytes of one full block: several times what the largest blocks that miners ever voted for
	// can have in JSON.
	maxBlock = 64 << 20
)

var kind = nodehttp.Kind{
	Node:   "an Ergo node",
	URL:    "expected http://HOST:PORT, http://:API_KEY@HOST:PORT or https://…, special characters of a key written as %XX",
	Secret: "an API key",
	NoUser: true,
	Packed: true,
}

// all is the whole body of an answer without space around it. It must not have more bytes than a small answer; not ok
// where it has.
func all(a *http.Response) (text []byte, ok bool, err error) {
	text, err = io.ReadAll(io.LimitReader(a.Body, smallAnswer+1))
	return bytes.TrimSpace(text), len(text) <= smallAnswer, err
}

// errRefused is the status of a key that is refused, or of none where there has to be one.
var errRefused = errors.New("the key is refused")

// do sends a request with the key there is, and once more with a newer one where that was refused. It hands the answer
// on, whatever its status but for that.
func (c *Client) do(ctx context.Context, r nodehttp.Request, read func(*http.Response) error) error {
	key, err := c.keys.key()
	if err != nil {
		return c.keyError(err)
	}
	for again := false; ; again = true {
		if err := c.send(ctx, r, key, read); err != errRefused {
			return err
		}
		now, err := c.keys.renew(key)
		if err != nil {
			return c.keyError(err)
		}
		if now == key || again {
			return c.unauthorized(key)
		}
		key = now
	}
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
			return errRefused
		}
		return read(a)
	})
	if err == nil {
		c.http.Connected.Store(true)
	}
	return err
}
