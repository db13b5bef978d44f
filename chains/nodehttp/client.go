package nodehttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	// Places is the most requests under way at once: btcd has room for 10 clients, older Cores for a queue of 16.
	Places = 8

	dialTimeout = 10 * time.Second
	// headerTimeout is more than the 20 to 60 seconds after which an Ergo node gives a request up.
	headerTimeout = 2 * time.Minute
	stallTimeout  = time.Minute
	// idleTimeout is less than the 30 seconds after which Core closes a connection, and the minute of an Ergo node, so
	// that few requests meet that.
	idleTimeout = 20 * time.Second
)

// Client asks one node. Its methods may be called at the same time; its fields are set before the first request, but
// for Connected.
type Client struct {
	// HeaderTimeout is how long a node may think about a request: one that takes in blocks answers nothing meanwhile.
	HeaderTimeout time.Duration
	StallTimeout  time.Duration            // how long nothing may come of an answer that has begun
	Redact        func(text string) string // text without what is secret; nil: nothing is
	Connected     atomic.Bool              // the node has been there: a host without an address is awaited
	kind          *Kind
	endpoint      endpoint
	transport     *http.Transport
	places        chan struct{}
}

// New makes a client of the node at http(s)://[USER[:PASSWORD]@]HOST[:PORT][/PATH][?cert=FILE]; port is for a URL that
// has none. It looks at the URL and at the certificate it names, and asks nobody anything: an error is of kind
// [birthmark/model.Usage], code bad_source.
func New(kind *Kind, uri, port string) (*Client, error) {
	e, err := kind.parse(uri, port)
	if err != nil {
		return nil, err
	}
	return &Client{
		HeaderTimeout: headerTimeout, StallTimeout: stallTimeout, kind: kind, endpoint: e, places: make(chan struct{}, Places),
		transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
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

// Host is the node's name and port, as errors name it: nothing secret is in it.
func (c *Client) Host() string { return c.endpoint.host }

// User is what stands before the @ of the URL, which no request has of itself; nil: nothing does.
func (c *Client) User() *url.Userinfo { return c.endpoint.user }

// Close lets go of the connections. No call may be under way.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// errSlow ends a request of which nothing comes.
var errSlow = errors.New("nothing comes")

// Request is one request to a node. It only reads: where the node closed an idle connection just now it is sent again.
type Request struct {
	Path   []string // below the URL's; none: the URL's own
	Query  url.Values
	Header http.Header // more of it than the type of the body
	Body   []byte      // JSON, sent by POST; nil: GET
	Waits  bool        // however long the node thinks about it
}

// Do sends a request and hands its answer on, whatever its status. It waits for one of the places. Errors of the
// answer's body are already those to tell; the body is good until read returns, and not to be closed.
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
	// The transport itself, not a client: that would follow redirections with what is secret and tell the URL in errors.
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
	// To the end, so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, whole, 1<<10)
	return nil
}

// request is r as it is sent.
func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if r.Body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.Body)
	}
	at := c.endpoint.url.JoinPath(r.Path...)
	at.RawQuery = r.Query.Encode()
	q, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, badURL("the node's URL cannot be asked: %s", c.kind.URL)
	}
	maps.Copy(q.Header, r.Header)
	if r.Body != nil {
		q.Header.Set("Content-Type", "application/json")
		// Known to net/http by this, sent to nobody, it tries a POST again.
		q.Header["Idempotency-Key"] = nil
	}
	return q, nil
}

// body is that of an answer: its errors are named, and what comes of it shows that the node is there.
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
