package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"birthmark/api/compat/electrum"
	"birthmark/api/compat/wallet"
	"birthmark/api/netserver"
	"birthmark/internal/config"
	"birthmark/internal/guard"
)

// electrumAddress is an open address of the Electrum protocol.
type electrumAddress struct {
	net.Listener
	form   electrumForm
	server *electrum.Server
}

// electrumForm is a way in which the Electrum protocol is served.
type electrumForm struct {
	key       string // setting
	scheme    string // of its URL
	tls       bool
	webSocket bool
	address   func(*config.Serve) string
}

var electrumForms = []electrumForm{
	{"serve.electrum", "tcp", false, false, func(s *config.Serve) string { return s.Electrum }},
	{"serve.electrum_tls", "ssl", true, false, func(s *config.Serve) string { return s.ElectrumTLS }},
	{"serve.electrum_ws", "ws", false, true, func(s *config.Serve) string { return s.ElectrumWS }},
	{"serve.electrum_wss", "wss", true, true, func(s *config.Serve) string { return s.ElectrumWSS }},
}

// wireElectrum opens the addresses of the Electrum protocol of a chain.
func (s *Server) wireElectrum(name string, w *wallet.Chain, set *config.Chain) error {
	var server *electrum.Server
	for _, form := range electrumForms {
		address, origin := form.address(&set.Serve), set.Origin(form.key)
		if address == "" {
			continue
		}
		if form.tls && s.set.Cert == "" {
			return At(origin, usageError("bad_setting", "%s without tls.cert and tls.key: set both", form.key))
		}
		if s.set.KeysFile != "" && !s.set.Anonymous {
			return At(origin, usageError("bad_setting",
				"%s with api_keys_file: Electrum clients cannot send API keys: set allow_anonymous: true", form.key))
		}
		l, err := netserver.Listen(address)
		if err != nil {
			return At(origin, fmt.Errorf("%s: %w", form.key, err))
		}
		if server == nil {
			server = electrum.New(w, s.electrumOptions(name, address))
		}
		s.electrum = append(s.electrum, electrumAddress{l, form, server})
	}
	return nil
}

func (s *Server) electrumOptions(chain, address string) electrum.Options {
	limits, set := electrum.Defaults(), s.set.Electrum
	limits.MaxConnections, limits.ClientConns, limits.ClientSubs = s.set.MaxConnections, set.ClientConns, set.ClientSubs
	limits.MaxRequest, limits.MaxBatch = int(set.MaxRequest), set.MaxBatch
	limits.IdleTimeout, limits.RequestTimeout = set.IdleTimeout, set.Timeout
	limits.SoftCost, limits.HardCost, limits.CostPerSecond = set.SoftCost, set.HardCost, set.CostPerSecond
	limits.SubmitPerMinute = s.settings.SubmitLimitAt(address)
	return electrum.Options{
		Log: s.h.Log.With("chain", chain), Version: s.h.Version, Observer: s.metrics.Electrum(chain, electrum.Reasons()),
		Proxies: s.set.TrustedProxies, Origins: s.set.CORSOrigins, Limits: limits,
		Memory: s.limits.Memory,
	}
}

// answerElectrum answers the Electrum protocol until ctx ends.
func (s *Server) answerElectrum(ctx context.Context) error {
	failed := make(chan error, len(s.electrum))
	for _, a := range s.electrum {
		go func() { failed <- guard.Call(func() error { return s.answerAddress(ctx, a) }) }()
	}
	<-ctx.Done()
	err := s.closeElectrum(false) // HTTP servers close their own
	for range s.electrum {
		err = errors.Join(err, <-failed)
	}
	return err
}

func (s *Server) answerAddress(ctx context.Context, a electrumAddress) error {
	if a.form.webSocket {
		o := s.httpOptions(a.Listener)
		o.Open = nil // counted as connections of Electrum
		if !a.form.tls {
			o.Cert, o.Key = "", ""
		}
		return netserver.Serve(ctx, o, a.server.WebSocket())
	}
	l := a.Listener
	if a.form.tls {
		config, err := netserver.TLSConfig(s.set.Cert, s.set.Key, s.h.Log)
		if err != nil {
			return err
		}
		l = tls.NewListener(l, config)
	}
	return a.server.Serve(l)
}

// closeElectrum closes the addresses of the Electrum protocol, those of WebSocket on request, and ends its connections.
func (s *Server) closeElectrum(webSocket bool) (err error) {
	var ended sync.WaitGroup
	for _, a := range s.electrum {
		if webSocket || !a.form.webSocket {
			err = errors.Join(err, closed(a.Listener))
		}
		ended.Go(func() { _ = guard.Do(s.h.Log, "the end of an Electrum server", a.server.Close) })
	}
	ended.Wait()
	return err
}
