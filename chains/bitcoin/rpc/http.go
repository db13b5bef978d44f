package rpc

import (
	"context"
	"errors"
	"net/http"

	"birthmark/chains/bitcoin/params"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// smallAnswer is the maximum size in bytes of a response without blocks.
const smallAnswer = 1 << 20

func kind(n *params.Network) *nodehttp.Kind {
	return &nodehttp.Kind{
		Node:   "a " + n.Coin.Title + " node",
		URL:    "expected http://USER:PASSWORD@HOST:PORT or https://…, special characters of a password written as %XX",
		Secret: "a password",
		Chain:  n.FullName(),
		CertOf: "btcd", CertFile: "rpc.cert",
	}
}

// answer is the response to one request. Its body is read within the bound of allow.
type answer struct {
	client   *Client
	response *http.Response
	left     int
}

var errTooLarge = errors.New("the answer is too large")

// allow sets the number of bytes that may still be read.
func (a *answer) allow(n int) { a.left = n }

// Read returns classified errors of the body, except [errTooLarge].
func (a *answer) Read(b []byte) (int, error) {
	if a.left <= 0 {
		return 0, errTooLarge
	}
	n, err := a.response.Body.Read(b[:min(len(b), a.left)])
	a.left -= n
	return n, err
}

// cutOff is the error of a truncated response. With a Content-Length the node sent this text; without one, as from
// btcd, the node closed the connection.
func (a *answer) cutOff() error {
	if a.response.ContentLength < 0 && len(a.response.TransferEncoding) == 0 {
		return a.client.http.Unreachable("it closed the connection in the middle of an answer")
	}
	return model.Errorf(model.BadSource, "bad_answer", "the answer of %s is incomplete", a.client.Host())
}

// do sends a request and returns the response. The body of a small response may already be read.
func (c *Client) do(ctx context.Context, r nodehttp.Request, read func(*answer) error) error {
	return c.http.Do(ctx, r, func(response *http.Response) error {
		return read(&answer{client: c, response: response, left: smallAnswer})
	})
}
