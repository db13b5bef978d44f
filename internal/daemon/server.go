package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"birthmark/api"
	"birthmark/api/auth"
	"birthmark/api/compress"
	"birthmark/api/docs"
	"birthmark/api/events"
	"birthmark/api/explorer"
	"birthmark/api/explorer/static"
	"birthmark/api/health"
	"birthmark/api/metrics"
	"birthmark/api/netserver"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/meter"
	"birthmark/internal/config"
	"birthmark/internal/guard"
)

// Server answers HTTP requests: the API, the explorer and the pages for operators.
type Server struct {
	CacheBytes int                      // as in [api.Options]
	Protocols  map[string]*config.Chain // settings of served chains by name, for their wallet protocols

	h        *Host
	settings *config.Settings
	set      config.Server
	chains   []*served.Chain
	listener net.Listener
	profiles net.Listener // nil: none
	limits   ratelimit.Options
	metrics  *metrics.Metrics
	logo     *static.Logo // nil: none
	writes   []string     // paths below which PUT and DELETE are answered
	electrum []electrumAddress
	handler  http.Handler
}

// Listen opens the addresses of a server and reads its files, so that errors are reported before anything else starts.
func (h *Host) Listen(settings *config.Settings, address string) (s *Server, err error) {
	s = &Server{h: h, settings: settings, set: settings.Server}
	if s.limits, err = h.limits(settings, address); err != nil {
		return nil, err
	}
	if s.logo, err = logoOf(settings); err != nil {
		return nil, err
	}
	if s.set.Cert != "" {
		if err := netserver.CheckCertificate(s.set.Cert, s.set.Key); err != nil {
			return nil, err
		}
	}
	if s.listener, err = netserver.Listen(address); err != nil {
		return nil, err
	}
	if s.set.Profiles != "" {
		if s.profiles, err = netserver.ListenPprof(s.set.Profiles); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close closes the listeners.
func (s *Server) Close() error {
	err := errors.Join(closed(s.listener), s.closeElectrum(true))
	if s.profiles != nil {
		err = errors.Join(err, closed(s.profiles))
	}
	return err
}

// closed closes a listener that may be closed already.
func closed(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// wire builds the handler of all requests. Streams end when ctx ends.
func (s *Server) wire(ctx context.Context, chains []*served.Chain) error {
	s.chains, s.metrics = chains, metrics.New(chains, s.h.Version)
	ending := ctx.Done()
	v1, err := api.New(api.Options{
		Chains: chains, Log: s.h.Log, Version: s.h.Version,
		Fields: func(chain string) (*api.FieldsAnswer, error) { return s.h.Fields(chain) },
		Events: func(c *served.Chain) http.Handler {
			return events.Handler(c, events.Options{
				Subscribers: s.limits.Streams, Done: ending, Log: s.h.Log, Subscribed: s.metrics.Subscribed,
			})
		},
		Watch:      events.WatchHandler,
		CacheBytes: s.CacheBytes, ImmutableDepth: s.set.ImmutableDepth, BasePath: s.set.Site.BasePath, Keys: s.keys(),
		Address: func(r *http.Request) string { return netserver.AddressOfServer(r, s.set.TrustedProxies) },
		Done:    ending,
	})
	if err != nil {
		return err
	}
	names, err := labelsOf(s.settings, chains)
	if err != nil {
		return err
	}
	pages, err := explorer.New(explorer.Options{
		Chains: chains, Log: s.h.Log, Version: s.h.Version, Timeout: s.set.RequestTimeout,
		Docs: v1.Documents.Page, API: v1, BasePath: s.set.Site.BasePath, Title: s.set.Site.Title, Logo: s.logo, Notice: s.set.Site.Notice,
		Pictures: s.set.Site.Pictures, Labels: names,
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for _, pattern := range v1.Patterns() {
		mux.Handle(pattern, v1)
	}
	s.serveSegments(mux, ending)
	s.serveTables(mux)
	near := health.Defaults()
	near.MaxLag = uint32(s.set.MaxLagBlocks)
	well := health.Handler(chains, near)
	mux.Handle("/healthz", well)
	mux.Handle("/readyz", well)
	mux.Handle("/metrics", s.metrics.Handler())
	mux.Handle("/", pages)
	if err := s.wireProtocols(ctx, mux); err != nil {
		return err
	}
	s.limits.Rejected, s.limits.Writes = s.metrics.Rejected, s.takesWrites
	s.limits.Upload = api.Uploads
	if err := s.checkBasePath(mux); err != nil {
		return err
	}
	s.handler = s.metrics.Wrap(netserver.Below(s.set.Site.BasePath, ratelimit.New(s.limits, compress.Handler(mux))))
	return nil
}

// keys returns whether requests need API keys.
func (s *Server) keys() docs.Keys {
	switch {
	case s.set.KeysFile == "":
		return docs.NoKeys
	case s.set.Anonymous:
		return docs.KeysOptional
	}
	return docs.KeysRequired
}

// limits returns the limits on requests to a server that listens at an address.
func (h *Host) limits(settings *config.Settings, address string) (o ratelimit.Options, err error) {
	set := &settings.Server
	o = ratelimit.Defaults()
	o.Log, o.Timeout, o.Origins, o.Proxies = h.Log, set.RequestTimeout, set.CORSOrigins, set.TrustedProxies
	o.Memory = meter.NewBudget(config.Divide(settings.Memory).Answers())
	o.Streams = set.MaxConnections / 2 // the others are for answers that end
	o.Rate = ratelimit.Rate{PerSecond: settings.RateAt(address), Burst: set.RateBurst}
	o.Submit = settings.SubmitLimitAt(address)
	if o.Rate.Burst == 0 {
		o.Rate.Burst = int(math.Ceil(2 * o.Rate.PerSecond))
	}
	o.CheckHost, o.Hosts = config.Loopback(address) && !strings.HasPrefix(address, "unix:"), set.Hosts
	if set.KeysFile != "" {
		o.Anonymous = set.Anonymous
		if o.Keys, err = auth.OpenKeys(set.KeysFile, h.Log); err != nil {
			return o, settings.BadValue("api_keys_file", err)
		}
	}
	return o, nil
}

// gcPercent is the GOGC of a server. Requests allocate little that lives long: collecting four times less often than by
// default saves a fifth of the CPU per request and costs a few MiB. The memory limit still holds.
const gcPercent = 400

// Serve answers the requests to chains until ctx ends.
func (s *Server) Serve(ctx context.Context, chains *Chains, announce func() error) error {
	s.Protocols = chains.sets
	if err := s.wire(ctx, chains.served); err != nil {
		return err
	}
	chains.Run(ctx)
	if err := announce(); err != nil {
		return err
	}
	return s.answer(ctx)
}

// answer answers requests until ctx ends, and returns when the running ones are answered.
func (s *Server) answer(ctx context.Context) error {
	if _, set := os.LookupEnv("GOGC"); !set {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var others sync.WaitGroup
	if s.profiles != nil {
		others.Go(func() {
			err := guard.Call(func() error { return netserver.ServePprof(ctx, s.profiles, s.h.Log) })
			if err != nil {
				s.h.Log.Error("the profiling server failed", "error", err)
			}
		})
	}
	var electrum error
	others.Go(func() { electrum = guard.Call(func() error { return s.answerElectrum(ctx) }) })
	err := netserver.Serve(ctx, s.httpOptions(s.listener), s.handler)
	stop()
	others.Wait()
	return errors.Join(err, electrum)
}

// httpOptions returns the options of a server of HTTP requests.
func (s *Server) httpOptions(l net.Listener) netserver.Options {
	o := netserver.Defaults()
	o.Listener, o.Cert, o.Key, o.Log = l, s.set.Cert, s.set.Key, s.h.Log
	o.Connections, o.Proxies, o.Guarded = s.set.MaxConnections, s.set.TrustedProxies, s.set.KeysFile != "" && !s.set.Anonymous
	o.Rejected, o.Open = s.metrics.Rejected, s.metrics.Connections
	return o
}

// Address is where a server answers.
type Address struct {
	Listen string   `json:"listen"` // host:port, or unix:/path
	URL    string   `json:"url"`    // of the explorer; for a socket without its path
	Chains []string `json:"chains"` // their names in paths

	Electrum []string `json:"electrum,omitempty"` // URLs of the Electrum protocol, such as tcp://127.0.0.1:50001
}

// Address returns where the server answers.
func (s *Server) Address() Address {
	at := s.listener.Addr()
	a := Address{Listen: at.String(), URL: s.URL()}
	if at.Network() == "unix" {
		a.Listen = "unix:" + a.Listen
	}
	for _, c := range s.chains {
		a.Chains = append(a.Chains, c.Name)
	}
	for _, e := range s.electrum {
		a.Electrum = append(a.Electrum, e.form.scheme+"://"+e.Addr().String())
	}
	return a
}

// Announce prints where the server answers.
func (s *Server) Announce() error {
	a := s.Address()
	at := a.URL
	if path, ok := strings.CutPrefix(a.Listen, "unix:"); ok {
		at = path + " as " + at
	}
	_, err := fmt.Fprintf(s.h.Console, "birthmark: %s at %s  (API: %sv1, its documentation: %sdocs)\n", strings.Join(a.Chains, ", "), at, a.URL, a.URL)
	if err == nil && len(a.Electrum) > 0 {
		_, err = fmt.Fprintf(s.h.Console, "birthmark: Electrum at %s\n", strings.Join(a.Electrum, ", "))
	}
	return err
}

// URL returns the address of the explorer for a browser on this machine.
func (s *Server) URL() string {
	scheme, at := "http://", "localhost"
	if s.set.Cert != "" {
		scheme = "https://"
	}
	if host, port, err := net.SplitHostPort(s.listener.Addr().String()); err == nil {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		at = net.JoinHostPort(host, port)
	}
	return scheme + at + s.set.Site.BasePath + "/"
}
