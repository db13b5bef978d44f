package electrum

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/semaphore"

	"birthmark/api/compat/wallet"
	"birthmark/api/netserver"
	"birthmark/internal/guard"
)

// Server answers the Electrum protocol for one chain.
type Server struct {
	Options
	chain    *wallet.Chain
	hub      *hub
	clients  *clients
	feeRates histogram
	long     *semaphore.Weighted // places of long answers; nil: no limit
	software string              // as clients see it

	ctx   context.Context // ends when the server stops
	stop  context.CancelCauseFunc
	conns sync.WaitGroup // and the hub
}

// software is the name in server.version. Sparrow sends batches only to servers that it knows, such as ElectrumX.
func software(version string) string {
	return "Birthmark " + strings.TrimPrefix(version, "v") + " (ElectrumX)"
}

// New returns a server, which distributes changes of the chain until Close.
func New(chain *wallet.Chain, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = noObserver{}
	}
	if o.Banner == "" {
		o.Banner = "Welcome to Birthmark."
	}
	s := &Server{
		Options: o, chain: chain, software: software(o.Version),
		hub: &hub{watched: map[wallet.Key]*watched{}, conns: map[*conn]bool{}},
	}
	s.clients = &clients{limits: &s.Limits, now: time.Now, by: map[netip.Prefix]*client{}}
	if s.LongAnswers > 0 {
		s.long = semaphore.NewWeighted(int64(s.LongAnswers))
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.conns.Go(func() {
		for guard.Do(s.Log, "the changes for Electrum clients", func() { s.hub.run(s.ctx, chain) }) != nil {
			s.hub.change(wallet.Event{All: true, NewTip: true}) // some changes were lost
			select {
			case <-time.After(changesRetry):
			case <-s.ctx.Done():
				return
			}
		}
	})
	s.conns.Go(func() { _ = guard.Do(s.Log, "the list of Electrum clients", s.sweep) })
	return s
}

// sweep forgets clients that left.
func (s *Server) sweep() {
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			s.clients.sweep()
		case <-s.ctx.Done():
			return
		}
	}
}

// Close ends all connections and waits for them. The listeners of Serve must be closed before.
func (s *Server) Close() {
	s.stop(errShutdown)
	s.conns.Wait()
}

// Serve accepts connections until the listener is closed. A TLS listener does its handshakes here too.
func (s *Server) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed) || s.ctx.Err() != nil:
			return nil
		case err != nil: // such as too many open files
			s.Log.Warn("electrum: cannot accept a connection", "error", err)
			select {
			case <-time.After(acceptRetry):
				continue
			case <-s.ctx.Done():
				return nil
			}
		}
		var from netip.Prefix
		if a := netserver.AddressOf(c.RemoteAddr().String()); a.IsValid() {
			from = netserver.Network(a)
		}
		s.conns.Go(func() {
			// Accepting and closing a connection, too.
			_ = guard.Do(s.Log, "an Electrum connection", func() { s.serve(newLines(c, &s.Limits), from) })
		})
	}
}

const (
	acceptRetry  = 100 * time.Millisecond
	changesRetry = time.Second // after a panic
)

// limited reports whether a client has limits of its own.
func (s *Server) limited(from netip.Prefix) bool {
	return from.IsValid() && !from.Addr().IsLoopback() && !netserver.Trusts(s.Proxies, from.Addr())
}

// WebSocket returns the handler of WebSocket connections. Its requests end when their connection ends.
func (s *Server) WebSocket() http.Handler {
	o := &websocket.AcceptOptions{OriginPatterns: s.Origins, InsecureSkipVerify: slices.Contains(s.Origins, "*")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, o)
		if err != nil {
			return // it has answered
		}
		c.SetReadLimit(-1) // frames.read has the limit
		s.serve(&frames{conn: c, limits: &s.Limits}, netserver.Sender(r, s.Proxies))
	})
}
