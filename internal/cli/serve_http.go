package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"birthmark/api"
	"birthmark/api/auth"
	"birthmark/api/events"
	"birthmark/api/explorer"
	"birthmark/api/health"
	"birthmark/api/metrics"
	"birthmark/api/netserver"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/internal/config"
)

// server is all that answers over HTTP: the API, the explorer and what operators ask, behind one guard.
type server struct {
	p        *program
	set      config.Server
	chains   []*served.Chain
	listener net.Listener
	profiles net.Listener // nil: none
	limits   ratelimit.Options
	kept     int // as in [api.Options]
	metrics  *metrics.Metrics
	handler  http.Handler
}

// listen opens the addresses of a server and reads its files, so that what cannot be is told before anything else is begun.
func (p *program) listen(address string) (s *server, err error) {
	s = &server{p: p, set: p.settings.Server}
	if s.limits, err = p.limits(address); err != nil {
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
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// close gives the addresses back.
func (s *server) close() error {
	err := closed(s.listener)
	if s.profiles != nil {
		err = errors.Join(err, closed(s.profiles))
	}
	return err
}

// closed closes a listener, which may be closed already.
func closed(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// wire makes the handler of all requests. Ending ends what is streamed.
func (s *server) wire(chains []*served.Chain, ending <-chan struct{}) error {
	s.chains, s.metrics = chains, metrics.New(chains)
	v1, err := api.New(api.Options{
		Chains: chains, Log: s.p.log, Version: version().Version,
		Fields: func(chain string) (*api.FieldsAnswer, error) { return s.p.fieldsOf(chain) },
		Events: func(c *served.Chain) http.Handler {
			return events.Handler(c, events.Options{
				Followers: s.limits.Streams, Done: ending, Log: s.p.log, Followed: s.metrics.Followed,
			})
		},
		CacheBytes: s.kept,
		Done:       ending,
	})
	if err != nil {
		return err
	}
	pages, err := explorer.New(explorer.Options{Chains: chains, Log: s.p.log, Version: version().Version, Timeout: s.set.Timeout})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for _, pattern := range v1.Patterns() {
		mux.Handle(pattern, v1)
	}
	near := health.Defaults()
	near.Behind = uint32(s.set.ReadyWithin)
	well := health.Handler(chains, near)
	mux.Handle("/healthz", well)
	mux.Handle("/readyz", well)
	mux.Handle("/metrics", s.metrics.Handler())
	mux.Handle("/", pages)
	s.limits.Refused = s.metrics.Refused
	s.handler = s.metrics.Wrap(ratelimit.New(s.limits, mux))
	return nil
}

// limits are those on requests to a server that listens at an address, as they are set.
func (p *program) limits(address string) (o ratelimit.Options, err error) {
	set := &p.settings.Server
	o = ratelimit.Defaults()
	o.Log, o.Timeout, o.Origins, o.Proxies = p.log, set.Timeout, set.CORS, set.Proxies
	o.Streams = set.Connections / 2 // the others are for answers that end
	o.Rate = ratelimit.Rate{PerSecond: p.settings.RateAt(address), Burst: set.Burst}
	if o.Rate.Burst == 0 {
		o.Rate.Burst = int(math.Ceil(2 * o.Rate.PerSecond))
	}
	o.CheckHost, o.Hosts = config.Loopback(address) && !strings.HasPrefix(address, "unix:"), set.Hosts
	if set.KeysFile != "" {
		o.Anonymous = set.KeysOptional
		o.Keys, err = auth.OpenKeys(set.KeysFile, p.log)
	}
	return o, err
}

// rubbish is how much of it there may be beside what is in use, in percent, before Go's collector comes. What answers are made
// of is little and soon done with: to collect it four times less often than usual takes a fifth less CPU for a request, and a
// few MiB. The limit on Go's memory holds as before.
const rubbish = 400

// answer answers until ctx ends, then no new requests; it returns when those under way are answered.
func (s *server) answer(ctx context.Context) error {
	if _, set := s.p.lookup("GOGC"); !set {
		defer debug.SetGCPercent(debug.SetGCPercent(rubbish))
	}
	var profiles sync.WaitGroup
	if s.profiles != nil {
		profiles.Go(func() {
			if err := netserver.ServePprof(ctx, s.profiles, s.p.log); err != nil {
				s.p.log.Error("profiles are not answered any more", "error", err)
			}
		})
	}
	o := netserver.Defaults()
	o.Listener, o.Cert, o.Key, o.Log = s.listener, s.set.Cert, s.set.Key, s.p.log
	o.Connections, o.Proxies, o.Guarded = s.set.Connections, s.set.Proxies, s.set.KeysFile != "" && !s.set.KeysOptional
	o.Refused, o.Open = s.metrics.Refused, s.metrics.Connections
	err := netserver.Serve(ctx, o, s.handler)
	profiles.Wait()
	return err
}

// servingAnswer says where a server answers, once it does.
type servingAnswer struct {
	Listen string   `json:"listen"` // host:port, or unix:/path
	URL    string   `json:"url"`    // of the explorer; of a socket without its path
	Chains []string `json:"chains"` // their names in paths
}

// where the server answers.
func (s *server) where() servingAnswer {
	at := s.listener.Addr()
	a := servingAnswer{Listen: at.String(), URL: s.url()}
	if at.Network() == "unix" {
		a.Listen = "unix:" + a.Listen
	}
	for _, c := range s.chains {
		a.Chains = append(a.Chains, c.Name)
	}
	return a
}

// tell tells people where the server answers.
func (s *server) tell() error {
	a := s.where()
	at := a.URL
	if path, ok := strings.CutPrefix(a.Listen, "unix:"); ok {
		at = path + " as " + at
	}
	_, err := fmt.Fprintf(s.p.console, "birthmark: %s at %s  (API: %sv1, its documentation: %sdocs)\n", strings.Join(a.Chains, ", "), at, a.URL, a.URL)
	return err
}

// url is where a browser on this machine finds the server.
func (s *server) url() string {
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
	return scheme + at + "/"
}
