package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"

	"birthmark/api"
	"birthmark/api/explorer"
	"birthmark/api/guard"
	"birthmark/api/served"
	"birthmark/cmd/birthmark/settings"
)

// server is all that answers over HTTP: the API, the explorer and what operators ask, behind one guard.
type server struct {
	p        *program
	set      settings.Server
	chains   []*served.Chain
	listener net.Listener
	profiles net.Listener // nil: none
	handler  http.Handler
}

// listen opens the addresses of a server, so that one that cannot be had is told before anything else is begun.
func (p *program) listen(address string) (s *server, err error) {
	s = &server{p: p, set: p.settings.Server}
	if s.listener, err = guard.Listen(address); err != nil {
		return nil, err
	}
	if s.set.Profiles != "" {
		if s.profiles, err = guard.ListenProfiles(s.set.Profiles); err != nil {
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
	s.chains = chains
	v1, err := api.New(api.Options{
		Chains: chains, Log: s.p.log, Version: version().Version, Fields: func(chain string) (*api.FieldsAnswer, error) { return s.p.fieldsOf(chain) }, Done: ending,
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
	mux.Handle("/", pages)
	limits, err := s.limits()
	if err != nil {
		return err
	}
	s.handler = guard.New(limits, mux)
	return nil
}

// limits are those on requests, as they are set.
func (s *server) limits() (o guard.Options, err error) {
	o = guard.Defaults()
	o.Log, o.Timeout, o.Origins, o.Proxies = s.p.log, s.set.Timeout, s.set.CORS, s.set.Proxies
	o.Rate = guard.Rate{PerSecond: s.set.Rate, Burst: s.set.Burst}
	if o.Rate.Burst == 0 {
		o.Rate.Burst = int(math.Ceil(2 * s.set.Rate))
	}
	if s.set.KeysFile != "" {
		o.Anonymous = s.set.KeysOptional
		o.Keys, err = guard.OpenKeys(s.set.KeysFile, s.p.log)
	}
	return o, err
}

// answer answers until ctx ends, then no new requests; it returns when those under way are answered.
func (s *server) answer(ctx context.Context) error {
	var profiles sync.WaitGroup
	if s.profiles != nil {
		profiles.Go(func() {
			if err := guard.ServeProfiles(ctx, s.profiles, s.p.log); err != nil {
				s.p.log.Error("profiles are not answered any more", "error", err)
			}
		})
	}
	o := guard.ServerDefaults()
	o.Listener, o.Cert, o.Key, o.Log = s.listener, s.set.Cert, s.set.Key, s.p.log
	o.Connections, o.Proxies, o.Guarded = s.set.Connections, s.set.Proxies, s.set.KeysFile != "" && !s.set.KeysOptional
	err := guard.Serve(ctx, o, s.handler)
	profiles.Wait()
	return err
}

// servingAnswer says where a server answers, once it does.
type servingAnswer struct {
	Listen string   `json:"listen"` // host:port, or unix:/path
	URL    string   `json:"url"`    // of the explorer
	Chains []string `json:"chains"` // their names in paths
}

// tell says where the server answers: people on stderr, programs in the document they asked for.
func (s *server) tell() error {
	at := s.listener.Addr()
	a := servingAnswer{Listen: at.String(), URL: s.url()}
	if at.Network() == "unix" {
		a.Listen = "unix:" + a.Listen
	}
	for _, c := range s.chains {
		a.Chains = append(a.Chains, c.Name)
	}
	if s.p.json {
		return s.p.document(a)
	}
	_, err := fmt.Fprintf(s.p.console, "birthmark: %s at %s  (API: %sv1, its documentation: %sdocs)\n", strings.Join(a.Chains, ", "), a.URL, a.URL, a.URL)
	return err
}

// url is where a browser on this machine finds the server; of a socket it is none.
func (s *server) url() string {
	at := s.listener.Addr()
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "unix:" + at.String() + ":/"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if s.set.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}
