package daemon

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"birthmark/api/compat/blockbook"
	"birthmark/api/compat/blockfrost"
	"birthmark/api/compat/boxes"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/api/compat/ergographql"
	"birthmark/api/compat/ergonode"
	"birthmark/api/compat/esplora"
	"birthmark/api/compat/kupo"
	"birthmark/api/compat/ogmios"
	"birthmark/api/compat/onesat"
	"birthmark/api/compat/ord"
	"birthmark/api/compat/submitapi"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/model"
)

// endpoint is a protocol below a path of the HTTP address, which is empty if it is not served.
type endpoint struct {
	setting, path string
	exact         bool // clients use the path without a slash
	handler       func() (http.Handler, error)
}

// wireProtocols adds the protocols of other programs. checkServed has compared their needs with the chains.
func (s *Server) wireProtocols(ctx context.Context, mux *http.ServeMux) error {
	paths := map[string]string{}
	s.limits.Errors = map[string]func(http.ResponseWriter, *problem.Problem){}
	s.limits.APIs = []string{"/v1"}
	for _, c := range s.chains {
		set := s.Protocols[c.Name]
		if set == nil || set.Serve == (config.Serve{}) {
			continue
		}
		for _, of := range []func(context.Context, *served.Chain, *config.Chain) ([]endpoint, error){
			s.bitcoinEndpoints, s.bsvEndpoints, s.cardanoEndpoints, s.ergoEndpoints,
		} {
			all, err := of(ctx, c, set)
			if err != nil {
				return err
			}
			for _, e := range all {
				if e.path == "" {
					continue
				}
				err := s.checkPath(e.path, c.Name, paths)
				var h http.Handler
				if err == nil {
					h, err = e.handler()
				}
				if err != nil {
					return At(set.Origin(e.setting), err)
				}
				if mux.Handle(e.path+"/", h); e.exact {
					mux.Handle(e.path, h)
				}
				s.limits.Errors[e.path] = h.(exchange.ProblemWriter).WriteProblem
				paths[e.path] = c.Name
				s.limits.APIs = append(s.limits.APIs, e.path)
			}
		}
	}
	return nil
}

// bitcoinEndpoints returns the APIs of Esplora, Blockbook and ord, and starts the Electrum protocol.
func (s *Server) bitcoinEndpoints(ctx context.Context, c *served.Chain, set *config.Chain) ([]endpoint, error) {
	if !serves(set, &wallet.Needs) && !serves(set, &esplora.Needs) {
		return nil, nil
	}
	w := wallet.New(c)
	if err := s.wireElectrum(c.Name, w, set); err != nil {
		return nil, err
	}
	return []endpoint{
		{"serve.esplora", set.Serve.Esplora, false, func() (http.Handler, error) {
			return esplora.New(esplora.Options{Chain: w, Path: set.Serve.Esplora, Log: s.h.Log}), nil
		}},
		{"serve.blockbook", set.Serve.Blockbook, false, func() (http.Handler, error) {
			return blockbook.New(blockbook.Options{
				Chain: w, Prefix: set.Serve.Blockbook, Version: s.h.Version, Timeout: s.set.RequestTimeout, Done: ctx.Done(),
				Origins: s.set.CORSOrigins, InSync: func() bool { return s.inSync(c) }, Log: s.h.Log,
				Connected: func() func() { return s.metrics.Subscribed(c.Name) },
			})
		}},
		{"serve.ord", set.Serve.Ord, false, func() (http.Handler, error) {
			o := ord.Options{Chain: w, Path: set.Serve.Ord, Log: s.h.Log}
			if t := c.Model.Traits().Tokens; t != nil {
				o.Rules = t.Rules
			}
			return ord.New(o)
		}},
	}, nil
}

// bsvEndpoints returns the API of 1sat-stack.
func (s *Server) bsvEndpoints(_ context.Context, c *served.Chain, set *config.Chain) ([]endpoint, error) {
	if !serves(set, &onesat.Needs) {
		return nil, nil
	}
	return []endpoint{{"serve.onesat", set.Serve.Onesat, false, func() (http.Handler, error) {
		o := onesat.Options{Chain: wallet.New(c), Path: set.Serve.Onesat, Log: s.h.Log}
		if t := c.Model.Traits().Tokens; t != nil {
			o.Rules = t.Rules
		}
		return onesat.New(o)
	}}}, nil
}

// cardanoEndpoints returns the APIs of Kupo, Blockfrost, cardano-submit-api and Ogmios.
func (s *Server) cardanoEndpoints(ctx context.Context, c *served.Chain, chain *config.Chain) ([]endpoint, error) {
	set, inSync := &chain.Serve, func() bool { return s.inSync(c) }
	return []endpoint{
		{"serve.kupo", set.Kupo, false, func() (http.Handler, error) {
			s.writes = append(s.writes, set.Kupo+"/")
			return kupo.New(kupo.Options{Chain: c, Path: set.Kupo, Version: s.h.Version, InSync: inSync, Log: s.h.Log}), nil
		}},
		{"serve.blockfrost", set.Blockfrost, false, func() (http.Handler, error) {
			o := blockfrost.Options{Chain: c, Path: set.Blockfrost, Version: s.h.Version, InSync: inSync, Log: s.h.Log}
			return blockfrost.New(o), nil
		}},
		{"serve.submit_api", set.SubmitAPI, false, func() (http.Handler, error) {
			return submitapi.New(submitapi.Options{Chain: c, Path: set.SubmitAPI, Log: s.h.Log}), nil
		}},
		{"serve.ogmios", set.Ogmios, true, func() (http.Handler, error) {
			return ogmios.New(ogmios.Options{Chain: c, Path: set.Ogmios, Log: s.h.Log, Origins: s.set.CORSOrigins}), nil
		}},
	}, nil
}

// ergoEndpoints returns the APIs of Ergo's node and explorer, and of ergo-graphql.
func (s *Server) ergoEndpoints(ctx context.Context, c *served.Chain, set *config.Chain) ([]endpoint, error) {
	if !serves(set, &boxes.Needs) {
		return nil, nil
	}
	common, err := boxes.New(c)
	if err != nil {
		return nil, err
	}
	go func() { // requests wait for it, and continue it if it fails
		_ = guard.Do(s.h.Log, "the preparation of Ergo's APIs", func() { _ = common.Prepare(ctx) })
	}()
	of := &set.Serve
	return []endpoint{
		{"serve.ergo_node", of.ErgoNode, false, func() (http.Handler, error) {
			return ergonode.New(ergonode.Options{Chain: common, Path: of.ErgoNode, Log: s.h.Log}), nil
		}},
		{"serve.ergo_explorer", of.ErgoExplorer, false, func() (http.Handler, error) {
			return ergoexplorer.New(ergoexplorer.Options{Chain: common, Path: of.ErgoExplorer, Log: s.h.Log}), nil
		}},
		{"serve.ergo_graphql", of.ErgoGraphQL, true, func() (http.Handler, error) {
			return ergographql.New(ergographql.Options{Chain: common, Path: of.ErgoGraphQL, Log: s.h.Log}), nil
		}},
	}, nil
}

// inSync reports whether a chain is near the tip of its source, as /readyz does.
func (s *Server) inSync(c *served.Chain) bool {
	state := c.State()
	return state.Failed == "" && (state.Sync == nil || state.Sync.Height+model.HeightPk(s.set.MaxLagBlocks) >= state.Sync.Target)
}

// checkPath returns an error if a path of a protocol is used already: paths has the chains by path.
func (s *Server) checkPath(path, chain string, paths map[string]string) error {
	if other, ok := paths[path]; ok {
		return usageError("bad_setting", "the path %s of %s is also that of %s: each protocol of a chain needs its own",
			path, chain, other)
	}
	for _, c := range s.chains {
		if path == "/"+c.Name || strings.HasPrefix(path, "/"+c.Name+"/") {
			return usageError("bad_setting", "the path %s belongs to the explorer of %s: use another one, such as /api", path, c.Name)
		}
	}
	return nil
}

// takesWrites reports whether the protocol that is served at a path answers PUT and DELETE.
func (s *Server) takesWrites(path string) bool {
	return slices.ContainsFunc(s.writes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}
