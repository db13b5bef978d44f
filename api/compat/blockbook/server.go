package blockbook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/api/compat/account"
	"birthmark/api/compat/wallet"
	"birthmark/api/problem"
	"birthmark/chains/bitcoin/descriptor"
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
	mux      http.Handler
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
	s := &Server{Options: o, chain: o.Chain, coin: c, accounts: account.NewCache(descriptors(o.Chain, c), cachedScripts)}
	s.hub = newHub(s)
	s.mux = s.routes()
	return s, nil
}

func descriptors(chain *wallet.Chain, c coin) *descriptor.Network {
	return &descriptor.Network{
		Name: "bitcoin " + chain.Network(), Coin: "bitcoin", Test: c.params.Net != chaincfg.MainNetParams.Net, Script: chain.ScriptOfAddress,
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// question is a request that reads the chain.
type question struct {
	*wallet.View
	meter *meter.Meter
}

// view calls fn with a view.
func (s *Server) view(ctx context.Context, fn func(*question) error) error {
	return s.chain.View(ctx, func(v *wallet.View) error {
		if v.Tip.IsOrigin() {
			return model.Errorf(model.Refused, "no_blocks", "the database has no blocks yet: retry after the sync has begun")
		}
		return fn(&question{v, meter.Of(ctx)})
	})
}

// statusAndText returns the HTTP status and the text of an error.
func statusAndText(err error) (int, string) {
	p := problem.Of(err)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		p.Status = http.StatusBadRequest // as Blockbook does
	}
	return p.Status, p.Detail
}

// failed returns the text of an error that no answer by REST has, and logs it if it is internal.
func (s *Server) failed(err error, method string) string {
	status, text := statusAndText(err)
	if status == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.Log.Error("a Blockbook request failed", "request", method, "error", err)
	}
	return text
}
