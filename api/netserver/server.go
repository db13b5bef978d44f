package netserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"birthmark/api/problem"
	"birthmark/internal/guard"
)

// Options configure a server. Zero means no limit; [Defaults] suit a server on a small machine.
type Options struct {
	Listener net.Listener // of [Listen]; Serve closes it

	Cert, Key string // PEM files; both empty: no TLS

	Log *slog.Logger // nil: no log

	Header time.Duration // to receive the header of a request
	Idle   time.Duration // between two requests of a connection
	Grace  time.Duration // for running requests at shutdown

	HeaderBytes int

	Connections int            // open at the same time
	Each        int            // of one client; this machine and Proxies have no such limit
	Proxies     []netip.Prefix // whose X-Forwarded-For is trusted

	Guarded  bool                  // requests need an API key, so that TLS is the only thing missing for other machines
	Rejected func(reason string)   // called for each rejected connection, with one of [Reasons]; may be nil
	Open     func(connections int) // called with the number of open connections; may be nil
}

// Defaults returns the limits for a small machine.
func Defaults() Options {
	return Options{
		Header:      10 * time.Second,
		Idle:        2 * time.Minute,
		Grace:       10 * time.Second,
		HeaderBytes: 16 << 10,
		Connections: 4096,
		Each:        256,
	}
}

const (
	// cancelGrace is the time for requests to end after their contexts were canceled at the end of Grace.
	cancelGrace = time.Second

	maxHTTP2Streams = 100 // of one connection
)

// CodeWrongHost is the code of [WrongHost].
const CodeWrongHost = "wrong_host"

const (
	connectionLimit = "connection_limit"
	evicted         = "evicted"
)

// Reasons returns all reasons for Options.Rejected.
func Reasons() []string { return []string{connectionLimit, evicted} }

// Serve serves h until ctx ends. Then it accepts no more connections, waits up to Grace for running requests, and
// returns nil. The contexts of requests end only after Grace: a handler that streams must observe ctx in another way.
// Serve returns an error if it cannot read the certificate.
func Serve(ctx context.Context, o Options, h http.Handler) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rejected == nil {
		o.Rejected = func(string) {}
	}
	if o.Open == nil {
		o.Open = func(int) {}
	}
	s := &server{Options: o, handler: h}
	if err := s.prepare(); err != nil {
		return errors.Join(err, o.Listener.Close())
	}
	return s.run(ctx)
}

type server struct {
	Options
	handler  http.Handler
	http     *http.Server
	listener *connections
	answers  sync.WaitGroup
}

func (s *server) prepare() error {
	s.listener = &connections{
		Listener: s.Listener, max: s.Connections, each: s.Each, trusted: s.Proxies, rejected: s.Rejected, opened: s.Open,
		all: map[*connection]struct{}{}, by: map[netip.Prefix]int{}, spares: map[*connection]struct{}{},
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.Header,
		IdleTimeout:       s.Idle,
		MaxHeaderBytes:    s.HeaderBytes,
		ConnState:         stateChanged,
		ConnContext:       withConnection,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2Streams},
		// Malformed requests and failed TLS handshakes are errors of clients.
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	if s.Cert != "" || s.Key != "" {
		config, err := TLSConfig(s.Cert, s.Key, s.Log)
		if err != nil {
			return err
		}
		s.http.TLSConfig = config
	}
	s.warn(s.Listener.Addr())
	return nil
}

// warn logs a warning if other machines can reach the server without TLS or keys.
func (s *server) warn(at net.Addr) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return
	}
	why := "without TLS and API keys: set tls and api_keys_file"
	if s.Guarded {
		why = "without TLS, which exposes API keys: set tls"
	}
	if s.http.TLSConfig == nil {
		s.Log.Warn("other machines can reach this server "+why+", or listen on 127.0.0.1 behind a proxy", "listen", at.String())
	}
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.answers.Add(1)
	defer s.answers.Done()
	if c := connectionOf(r); c != nil && c.spare.Load() {
		h := w.Header()
		if IsHealthCheck(r) {
			h.Set("Connection", "close") // frees it for the next health check
		} else if !s.listener.admit(r.Context(), c) {
			s.Rejected(connectionLimit)
			h.Set("Connection", "close")
			h.Set("Retry-After", "1")
			problem.Write(w, problem.New(http.StatusServiceUnavailable, connectionLimit,
				"the server has %d connections, its limit: retry in a second", s.Connections))
			return
		}
	}
	s.handler.ServeHTTP(w, r)
}

func (s *server) run(ctx context.Context) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	s.http.BaseContext = func(net.Listener) context.Context { return base }
	ended := make(chan error, 1)
	go func() {
		ended <- guard.Call(func() error {
			if s.http.TLSConfig != nil {
				return s.http.ServeTLS(s.listener, "", "")
			}
			return s.http.Serve(s.listener)
		})
	}()
	select {
	case err := <-ended: // failed
		cut()
		return errors.Join(err, s.http.Close())
	case <-ctx.Done():
	}
	s.drain(cut)
	<-ended
	return nil
}

// drain waits for running requests.
func (s *server) drain(cut func()) {
	within := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		return s.http.Shutdown(ctx)
	}
	// Shutdown would wait some seconds for the first request of a new connection.
	_ = s.listener.Close()
	s.listener.closeIdle()
	// Shutdown also returns the error of closing the listener a second time.
	if errors.Is(within(s.Grace), context.DeadlineExceeded) {
		s.Log.Warn("some requests did not finish in time and were canceled", "grace", s.Grace.String())
		cut()
		_ = within(cancelGrace) // the connections of the others are closed
	}
	_ = s.http.Close() // fails only for connections that are closed
	finished := make(chan struct{})
	go func() {
		s.answers.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(s.Grace + cancelGrace):
		s.Log.Error("a handler still runs after its connection was closed: please report this bug")
	}
}

// IsHealthCheck reports whether a request is a health check.
func IsHealthCheck(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }
