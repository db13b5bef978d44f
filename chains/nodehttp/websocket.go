package nodehttp

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
)

// WebSocket opens a WebSocket at a path below the URL, with the given headers. status is the HTTP status of a refused
// handshake, 0 without a response. Messages of more than most bytes are an error. The connection does not count as a
// request.
func (c *Client) WebSocket(ctx context.Context, header http.Header, most int64, path ...string) (conn *websocket.Conn, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	at := c.endpoint.url.JoinPath(path...)
	conn, response, err := websocket.Dial(ctx, at.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: c.transport, CheckRedirect: noRedirect}, HTTPHeader: header,
	})
	if err != nil {
		if response != nil {
			status = response.StatusCode
		}
		return nil, status, c.failure(ctx, nil, err)
	}
	conn.SetReadLimit(most)
	return conn, 0, nil
}

// noRedirect keeps a client from following redirections, with the secrets in the headers.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
