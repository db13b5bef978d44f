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
)

// Options are where to listen and the limits on connections. What is zero is not limited; [Defaults] are limits
// that suit a server on a small machine.
type Options struct {
	Addr     string       // host:port, or unix:/path/of.sock
	Listener net.Listener // of [Listen], in place of Addr; it is closed with the server

	Cert, Key string // files in PEM; both empty: no TLS

	Log *slog.Logger // nil: nothing is logged

	Header time.Duration // for a request's header to come
	Idle   time.Duration // between two requests of a connection
	Grace  time.Duration // for answers under way, once the server is told to stop

	HeaderBytes int

	Connections int            // open at once
	Each        int            // open at once of one client; those of this machine and of Proxies have no such limit
	Proxies     []netip.Prefix // as in Options

	Guarded bool                  // clients show keys: listening to other machines without TLS needs no warning
	Refused func(reason string)   // one of [Reasons]; nil
	Open    func(connections int) // is told how many connections are open; nil
}

// Defaults are the limits of a server on a small machine.
func Defaults() Options {
	return Options{
		Addr:        "127.0.0.1:8080",
		Header:      10 * time.Second,
		Idle:        2 * time.Minute,
		Grace:       10 * time.Second,
		HeaderBytes: 16 << 10,
		Connections: 4096,
		Each:        256,
	}
}

const (
	// After the grace what is still being answered is told to stop, and may say so for as long.
	lastWords = time.Second

	mostStreams = 100 // of one connection of HTTP/2 at once
)

// CodeWrongHost is the code of the problem that [WrongHost] is.
const CodeWrongHost = "wrong_host"

const (
	noRoom  = "no_room"
	evicted = "evicted"
)

// Reasons are all that Options.Refused may be told.
func Reasons() []string { return []string{noRoom, evicted} }

// Serve answers with h until ctx ends and all that was begun by then is finished, or Grace has passed. It returns nil then;
// elsewhere why it could not listen. No goroutine of a request is left when it returns, unless its handler goes on though
// its context has ended and its connection is closed.
//
// When ctx ends no connection is accepted any more; the contexts of requests end only after Grace. A handler that streams
// has to be told of ctx some other way to end at once.
func Serve(ctx context.Context, o Options, h http.Handler) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	if o.Open == nil {
		o.Open = func(int) {}
	}
	l := o.Listener
	if l == nil {
		var err error
		if l, err = Listen(o.Addr); err != nil {
			return err
		}
	}
	s := &server{Options: o, handler: h}
	if err := s.prepare(l); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.run(ctx)
}

// server is a server that runs.
type server struct {
	Options
	handler  http.Handler
	http     *http.Server
	listener *connections
	answers  sync.WaitGroup
}

func (s *server) prepare(l net.Listener) error {
	s.listener = &connections{
		Listener: l, most: s.Connections, each: s.Each, trusted: s.Proxies, refused: s.Refused, count: s.Open,
		all: map[*connection]struct{}{}, by: map[netip.Prefix]int{}, spares: map[*connection]struct{}{},
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.Header,
		IdleTimeout:       s.Idle,
		MaxHeaderBytes:    s.HeaderBytes,
		ConnState:         became,
		ConnContext:       withConnection,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: mostStreams},
		// What a client does wrong before there is a request is no event.
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	if s.Cert != "" || s.Key != "" {
		config, err := certificates(s.Cert, s.Key, s.Log)
		if err != nil {
			return err
		}
		s.http.TLSConfig = config
	}
	s.warn(l.Addr())
	return nil
}

// warn tells of a server that others can listen to, or all may ask.
func (s *server) warn(at net.Addr) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return
	}
	if s.http.TLSConfig == nil && !s.Guarded {
		s.Log.Warn("other machines can ask this server, without TLS and without keys: set tls and api_keys_file, or listen on 127.0.0.1 behind a proxy", "listen", at.String())
	} else if s.http.TLSConfig == nil {
		s.Log.Warn("other machines can ask this server, without TLS: keys can be read on their way; set tls, or listen on 127.0.0.1 behind a proxy", "listen", at.String())
	}
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.answers.Add(1)
	defer s.answers.Done()
	if c := connectionOf(r); c != nil && c.spare.Load() {
		h := w.Header()
		if IsHealthCheck(r) {
			h.Set("Connection", "close") // it is needed for the next question
		} else if !s.listener.admit(r.Context(), c) {
			s.Refused(noRoom)
			h.Set("Connection", "close")
			h.Set("Retry-After", "1")
			problem.Write(w, problem.New(http.StatusServiceUnavailable, noRoom,
				"the server has %d connections, the most that it may have: retry in a second", s.Connections))
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
		if s.http.TLSConfig != nil {
			ended <- s.http.ServeTLS(s.listener, "", "")
		} else {
			ended <- s.http.Serve(s.listener)
		}
	}()
	select {
	case err := <-ended: // nobody told it to
		cut()
		return errors.Join(err, s.http.Close())
	case <-ctx.Done():
	}
	s.drain(cut)
	<-ended
	return nil
}

// drain finishes what is being answered.
func (s *server) drain(cut func()) {
	within := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		return s.http.Shutdown(ctx)
	}
	// The server would wait some seconds for the first request of a new connection.
	_ = s.listener.Close()
	s.listener.hangUp()
	if within(s.Grace) != nil {
		s.Log.Warn("some answers were not finished in time and are cut", "grace", s.Grace.String())
		cut()
		_ = within(lastWords) // what does not end by then is closed
	}
	_ = s.http.Close() // connections are gone, and nothing was to be written
	finished := make(chan struct{})
	go func() {
		s.answers.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(s.Grace + lastWords):
		s.Log.Error("an answer goes on though its request is gone, which is a bug")
	}
}

// IsHealthCheck reports whether a request asks whether the server is well.
func IsHealthCheck(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }
