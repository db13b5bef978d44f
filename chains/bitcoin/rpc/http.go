package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	"birthmark/chains/follow"
	"birthmark/model"
)

const (
	dialTimeout = 10 * time.Second
	// headerTimeout is how long a node may think about a request: one that connects blocks answers nothing meanwhile.
	headerTimeout = 2 * time.Minute
	// stallTimeout is how long nothing may come of an answer that has begun.
	stallTimeout = time.Minute
	// idleTimeout is less than the 30 seconds after which Core closes a connection, so that few requests meet that.
	idleTimeout = 20 * time.Second
	// places is the most requests under way at once: btcd has room for 10 clients, older Cores for a queue of 16.
	places = 8

	// smallAnswer is the most bytes of an answer without blocks in it.
	smallAnswer = 1 << 20
)

func newTransport(e endpoint) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: e.cert, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConnsPerHost:    places,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		ReadBufferSize:         64 << 10,
	}
}

// errSlow ends a request of which nothing comes.
var errSlow = errors.New("nothing comes")

// answer is what came to one request. Its body is read within what allow allows.
type answer struct {
	client   *Client
	ctx      context.Context // of the caller
	response *http.Response
	stalled  func() error // tells why, where the request was ended for its slowness
	alive    func()       // called when something comes
	left     int
}

var errTooLarge = errors.New("the answer is too large")

// allow sets how many bytes more may be read.
func (a *answer) allow(n int) { a.left = n }

// Read gives a body's errors as they are told to the caller, [errTooLarge] apart.
func (a *answer) Read(b []byte) (int, error) {
	if a.left <= 0 {
		return 0, errTooLarge
	}
	n, err := a.response.Body.Read(b[:min(len(b), a.left)])
	a.left -= n
	a.alive()
	if err != nil && err != io.EOF {
		err = a.client.networkError(a.ctx, a.stalled(), err)
	}
	return n, err
}

// cutOff is the error of an answer that ended before its sense did. Where the node said how long it would be it meant
// this; where the end of the connection ends it, as in btcd's, the node went away.
func (a *answer) cutOff() error {
	if a.response.ContentLength < 0 && len(a.response.TransferEncoding) == 0 {
		return a.client.unreachable("it closed the connection in the middle of an answer")
	}
	return model.Errorf(model.BadSource, "bad_answer", "the answer of %s ends in the middle", a.client.Host())
}

// request is one request to a node.
type request struct {
	path   []string     // below the URL's; none: the URL's own
	body   []byte       // nil: GET
	auth   *credentials // nil: none
	waits  bool         // however long the node thinks about it
	answer func(*answer) error
}

// do sends a request and hands its answer on, whatever its status. It waits for one of the places.
func (c *Client) do(ctx context.Context, r request) error {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	q, err := http.NewRequestWithContext(inner, method, c.endpoint.url.JoinPath(r.path...).String(), body)
	if err != nil {
		return badURL("the node's URL cannot be asked: %s", expectedURL)
	}
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
		// Everything that is asked for only reads. Known to net/http by this, sent to nobody, it tries again where
		// the node closed an idle connection just now.
		q.Header["Idempotency-Key"] = nil
	}
	if r.auth != nil {
		q.SetBasicAuth(r.auth.user, r.auth.password)
	}
	patience := c.headerTimeout
	if r.waits {
		patience = math.MaxInt64
	}
	slow := time.AfterFunc(patience, func() { cancel(errSlow) })
	defer slow.Stop()
	stalled := func() error { return context.Cause(inner) }
	// The transport itself, not a client: that would follow redirections with the password and tell the URL in errors.
	response, err := c.transport.RoundTrip(q)
	if err != nil {
		return c.networkError(ctx, stalled(), err)
	}
	defer response.Body.Close()
	slow.Reset(c.stallTimeout)
	a := &answer{client: c, ctx: ctx, response: response, stalled: stalled, alive: func() { slow.Reset(c.stallTimeout) }}
	a.allow(smallAnswer)
	if err := r.answer(a); err != nil {
		return err
	}
	// To the end, so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, response.Body, 1<<10)
	return nil
}

// unreachable is the error of a node that is not there just now.
func (c *Client) unreachable(format string, args ...any) error {
	return follow.Temporary(model.Errorf(model.BadSource, "unreachable", "%s is unreachable: %s", c.Host(), fmt.Sprintf(format, args...)))
}
