package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// headerTimeout is how long a node may think about a request: it gives up itself after 20 to 60 seconds.
	headerTimeout = 2 * time.Minute
	// stallTimeout is how long nothing may come of an answer that has begun.
	stallTimeout = time.Minute
	// idleTimeout is less than the minute after which a node closes a connection, so that few requests meet that.
	idleTimeout = 20 * time.Second
	// places is the most requests under way at once.
	places = 8

	// smallAnswer is the most bytes of an answer without blocks in it: as many ids as a node gives at once fit.
	smallAnswer = 2 << 20
	// maxBlock is the most bytes of one full block: several times what the largest blocks that miners ever voted for
	// can have in JSON.
	maxBlock = 64 << 20
)

func newTransport(e endpoint) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: e.cert, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConnsPerHost:    places,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		ReadBufferSize:         64 << 10,
	}
}

// errSlow ends a request of which nothing comes.
var errSlow = errors.New("nothing comes")

// answer is what came to one request.
type answer struct {
	client   *Client
	ctx      context.Context // of the caller
	response *http.Response
	stalled  func() error // tells why, where the request was ended for its slowness
	alive    func()       // called when something comes
}

// Read gives a body's errors as they are told to the caller.
func (a *answer) Read(b []byte) (int, error) {
	n, err := a.response.Body.Read(b)
	a.alive()
	if err != nil && err != io.EOF {
		err = a.client.networkError(a.ctx, a.stalled(), err)
	}
	return n, err
}

// all is the whole body without space around it. It must not have more bytes than a small answer; not ok where it has.
func (a *answer) all() (text []byte, ok bool, err error) {
	text, err = io.ReadAll(io.LimitReader(a, smallAnswer+1))
	return bytes.TrimSpace(text), len(text) <= smallAnswer, err
}

// request is one request to a node.
type request struct {
	path   []string // below the URL's
	query  url.Values
	body   []byte // nil: GET
	answer func(*answer) error
}

// do sends a request and hands its answer on, whatever its status but for a key that is refused. It waits for one of
// the places.
func (c *Client) do(ctx context.Context, r request) error {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	key, err := c.keys.key()
	if err != nil {
		return c.keyError(err)
	}
	for again := false; ; again = true {
		refused, err := c.send(ctx, r, key)
		if !refused {
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

// send sends a request with a key.
func (c *Client) send(ctx context.Context, r request, key string) (refused bool, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	at := c.endpoint.url.JoinPath(r.path...)
	at.RawQuery = r.query.Encode()
	q, err := http.NewRequestWithContext(inner, method, at.String(), body)
	if err != nil {
		return false, badURL("the node's URL cannot be asked: %s", expectedURL)
	}
	q.Header.Set("Accept", "application/json")
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
		// Everything that is asked for only reads. Known to net/http by this, sent to nobody, it tries again where
		// the node closed an idle connection just now.
		q.Header["Idempotency-Key"] = nil
	}
	if key != "" {
		q.Header.Set("api_key", key)
	}
	slow := time.AfterFunc(c.headerTimeout, func() { cancel(errSlow) })
	defer slow.Stop()
	stalled := func() error { return context.Cause(inner) }
	// The transport itself, not a client: that would follow redirections with the key.
	response, err := c.transport.RoundTrip(q)
	if err != nil {
		return false, c.networkError(ctx, stalled(), err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true, nil
	}
	slow.Reset(c.stallTimeout)
	a := &answer{client: c, ctx: ctx, response: response, stalled: stalled, alive: func() { slow.Reset(c.stallTimeout) }}
	if err := r.answer(a); err != nil {
		return false, err
	}
	c.connected.Store(true)
	// To the end, so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, response.Body, 1<<10)
	return false, nil
}
