package blockbook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"birthmark/api/compat/account"
	"birthmark/api/compat/wallet"
	"birthmark/api/problem"
	"birthmark/core/meter"
	"birthmark/model"
)

// Options configure a [Server].
type Options struct {
	Chain   *wallet.Chain
	Prefix  string        // of all paths: /blockbook
	Version string        // of the program
	Timeout time.Duration // of an answer by WebSocket; 0: DefaultTimeout
	Origins []string      // of web pages that may connect by WebSocket, as in the setting cors_origins
	InSync  func() bool   // the chain is at its source's tip; nil: always
	Log     *slog.Logger  // nil: no log

	// Done ends all WebSocket connections; nil: never.
	Done <-chan struct{}
	// Connected is called when a client connects by WebSocket, and the result when it disconnects; may be nil.
	Connected func() (left func())
}

// DefaultTimeout is the default of Options.Timeout.
const DefaultTimeout = 10 * time.Second

// Server answers the requests to one chain. It is an [http.Handler] of the paths below Options.Prefix.
type Server struct {
	Options
	chain    *wallet.Chain
	coin     coin
	accounts *account.Cache
	hub      *hub
	mux      *http.ServeMux
}

// cachedScripts is how many scripts of accounts a server keeps: about 16 MB.
const cachedScripts = 200_000

// New returns the server of a chain. The error is of kind [model.Refused] if Blockbook has no such network.
func New(o Options) (*Server, error) {
	c, err := coinOf(o.Chain.Network())
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.InSync == nil {
		o.InSync = func() bool { return true }
	}
	if o.Connected == nil {
		o.Connected = func() func() { return func() {} }
	}
	s := &Server{Options: o, chain: o.Chain, coin: c, accounts: account.NewCache(c.params, cachedScripts)}
	s.hub = newHub(s)
	s.mux = s.routes()
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// question is a request that reads the chain.
type question struct {
	*wallet.View
	meter *meter.Meter
}

// ask answers a question within a view.
func (s *Server) ask(ctx context.Context, answer func(*question) (any, error)) (a any, err error) {
	err = s.chain.View(ctx, func(v *wallet.View) error {
		if v.Tip.IsOrigin() {
			return model.Errorf(model.Refused, "no_blocks", "the database has no blocks yet: retry after the sync has begun")
		}
		a, err = answer(&question{v, meter.Of(ctx)})
		return err
	})
	return a, err
}

// failure returns the HTTP status and the text of an error, and logs it if it is internal.
func (s *Server) failure(err error, method string) (status int, text string) {
	p := problem.Of(err)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		p.Status = http.StatusBadRequest // as Blockbook does
	}
	if p.Status == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.Log.Error("a Blockbook request failed", "request", method, "error", err)
	}
	return p.Status, p.Detail
}

// encode returns the JSON of an answer.
func encode(answer any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
