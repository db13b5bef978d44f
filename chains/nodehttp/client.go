package nodehttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"birthmark/chains/adapter"
	"birthmark/model"
)

const (
	// Places is the maximum number of concurrent requests: btcd accepts 10 clients, older Cores queue 16.
	Places = 8

	dialTimeout = 10 * time.Second
	// headerTimeout exceeds the 20 to 60 seconds after which an Ergo node gives up on a request.
	headerTimeout = 2 * time.Minute
	stallTimeout  = time.Minute
	// idleTimeout is less than the 30 seconds after which Core closes a connection, and the minute of an Ergo node, so
	// that few requests use a closed connection.
	idleTimeout = 20 * time.Second
)

// Client sends requests to one node. Its methods may be called concurrently. Set its fields before the first request,
// except Connected.
type Client struct {
	// HeaderTimeout limits the time until a response begins: a node that processes blocks does not answer meanwhile.
	HeaderTimeout time.Duration
	StallTimeout  time.Duration            // limit for a pause within a response
	Redact        func(text string) string // removes secrets from text; nil: no change
	Connected     atomic.Bool              // the node has answered before: then a missing address is temporary
	kind          *Kind
	endpoint      endpoint
	port          string // the default of the network
	transport     *http.Transport
	places        chan struct{}
}

// New returns a client of the node at http(s)://[USER[:PASSWORD]@]HOST[:PORT][/PATH][?cert=FILE]; port is the default.
// proxy: see [adapter.Dialer]. It parses the URL and reads its certificate file, without any request. The error is of
// kind [birthmark/model.Usage], code bad_source.
func New(kind *Kind, uri, port, proxy string) (*Client, error) {
	e, err := kind.parse(uri, port)
	if err != nil {
		return nil, err
	}
	dial, err := adapter.Dialer(proxy, dialTimeout)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_source", "%w", err)
	}
	return &Client{
		HeaderTimeout: headerTimeout, StallTimeout: stallTimeout, kind: kind, endpoint: e, port: port, places: make(chan struct{}, Places),
		transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dial,
			TLSClientConfig:        &tls.Config{RootCAs: e.cert, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTimeout,
			MaxIdleConnsPerHost:    Places,
			IdleConnTimeout:        idleTimeout,
			DisableCompression:     !kind.Packed,
			MaxResponseHeaderBytes: 64 << 10,
			ReadBufferSize:         64 << 10,
		},
	}, nil
}

// Host returns the node's name and port for errors, without secrets.
func (c *Client) Host() string { return c.endpoint.host }

// User returns the user info of the URL, which requests do not contain automatically; nil: none.
func (c *Client) User() *url.Userinfo { return c.endpoint.user }

// Close closes the connections. No call may be active.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// errSlow cancels a request without progress.
var errSlow = errors.New("nothing comes")

// Request is one request to a node. It must be read-only: it is sent again if the node just closed an idle connection.
type Request struct {
	Path   []string // appended to the path of the URL; none: the URL's path
	Query  url.Values
	Header http.Header // in addition to the type of the body
	Body   []byte      // JSON, sent by POST; nil: GET
	Waits  bool        // no time limit until the response begins
}

// Do sends a request and passes the response to read, whatever its status. It waits for a free place. Errors of the
// body are already classified; the body is valid until read returns and must not be closed.
func (c *Client) Do(ctx context.Context, r Request, read func(*http.Response) error) error {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q, err := c.request(inner, r)
	if err != nil {
		return err
	}
	patience := c.HeaderTimeout
	if r.Waits {
		patience = math.MaxInt64
	}
	slow := time.AfterFunc(patience, func() { cancel(errSlow) })
	defer slow.Stop()
	named := func(err error) error { return c.failure(ctx, context.Cause(inner), err) }
	// The transport itself, since a client would follow redirections with secrets and put the URL into errors.
	response, err := c.transport.RoundTrip(q)
	if err != nil {
		return named(err)
	}
	whole := response.Body
	defer whole.Close()
	slow.Reset(c.StallTimeout)
	response.Body = &body{ReadCloser: whole, alive: func() { slow.Reset(c.StallTimeout) }, named: named}
	if err := read(response); err != nil {
		return err
	}
	// Read to the end, so that the connection can be reused.
	_, _ = io.CopyN(io.Discard, whole, 1<<10)
	return nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if r.Body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.Body)
	}
	at := c.endpoint.url.JoinPath(r.Path...)
	at.RawQuery = r.Query.Encode()
	q, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, badURL("invalid URL of the node: %s", c.kind.URL)
	}
	maps.Copy(q.Header, r.Header)
	if r.Body != nil {
		q.Header.Set("Content-Type", "application/json")
		// net/http retries a POST with this header, which is not sent.
		q.Header["Idempotency-Key"] = nil
	}
	return q, nil
}

// body is a response body that classifies its errors and sets Connected.
type body struct {
	io.ReadCloser
	alive func()
	named func(error) error
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.alive()
	if err != nil && err != io.EOF {
		err = b.named(err)
	}
	return n, err
}
