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
	"birthmark/api/compat/submitapi"
	"birthmark/api/compat/wallet"
	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/model"
)

// wireProtocols adds the protocols of other programs. It fails if a database lacks an index or option that they need.
func (s *Server) wireProtocols(ctx context.Context, mux *http.ServeMux) error {
	paths := map[string]string{}
	s.limits.Errors = map[string]func(http.ResponseWriter, *problem.Problem){}
	for _, c := range s.chains {
		set := s.Protocols[c.Name]
		if set == nil || set.Serve == (config.Serve{}) {
			continue
		}
		// below adds a protocol below the path of a setting, if that is set.
		below := func(setting, path string, handler func() (http.Handler, error)) error {
			if path == "" {
				return nil
			}
			err := s.checkPath(path, c.Name, paths)
			var h http.Handler
			if err == nil {
				h, err = handler()
			}
			if err != nil {
				return At(set.Origin(setting), err)
			}
			mux.Handle(path+"/", h)
			paths[path] = c.Name
			return nil
		}
		if set.Serve.ForBitcoin() {
			w, err := wallet.New(ctx, c)
			if err != nil {
				return At(serveOrigin(set), err)
			}
			if err := s.wireElectrum(c.Name, w, set); err != nil {
				return err
			}
			err = below("serve.esplora", set.Serve.Esplora, func() (http.Handler, error) {
				s.limits.Errors[set.Serve.Esplora+"/"] = problem.WriteText
				return esplora.New(esplora.Options{Chain: w, Path: set.Serve.Esplora, Log: s.h.Log}), nil
			})
			if err == nil {
				err = below("serve.blockbook", set.Serve.Blockbook, func() (http.Handler, error) {
					return blockbook.New(blockbook.Options{
						Chain: w, Prefix: set.Serve.Blockbook, Version: s.h.Version, Timeout: s.set.RequestTimeout,
						Origins: s.set.CORSOrigins, InSync: func() bool { return s.inSync(c) }, Log: s.h.Log, Done: ctx.Done(),
						Connected: func() func() { return s.metrics.Subscribed(c.Name) },
					})
				})
			}
			if err != nil {
				return err
			}
		}
		err := below("serve.kupo", set.Serve.Kupo, func() (http.Handler, error) {
			s.writes = append(s.writes, set.Serve.Kupo+"/")
			return kupo.New(ctx, kupo.Options{
				Chain: c, Path: set.Serve.Kupo, Version: s.h.Version, InSync: func() bool { return s.inSync(c) }, Log: s.h.Log,
				AnyOrigin: len(s.set.CORSOrigins) == 0,
			})
		})
		if err == nil {
			err = below("serve.blockfrost", set.Serve.Blockfrost, func() (http.Handler, error) {
				s.limits.Errors[set.Serve.Blockfrost+"/"] = blockfrost.WriteProblem
				return blockfrost.New(ctx, blockfrost.Options{
					Chain: c, Path: set.Serve.Blockfrost, Version: s.h.Version, InSync: func() bool { return s.inSync(c) }, Log: s.h.Log,
					AnyOrigin: len(s.set.CORSOrigins) == 0,
				})
			})
		}
		if err == nil {
			err = below("serve.submit_api", set.Serve.SubmitAPI, func() (http.Handler, error) {
				return submitapi.New(submitapi.Options{
					Chain: c, Path: set.Serve.SubmitAPI, Log: s.h.Log, AnyOrigin: len(s.set.CORSOrigins) == 0,
				})
			})
		}
		if err == nil {
			err = s.wireErgo(ctx, c, set, mux, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wireErgo adds the APIs of Ergo's node and explorer, and of ergo-graphql.
func (s *Server) wireErgo(
	ctx context.Context, c *served.Chain, set *config.Chain, mux *http.ServeMux,
	below func(setting, path string, handler func() (http.Handler, error)) error,
) error {
	if set.Serve.ErgoNode == "" && set.Serve.ErgoExplorer == "" && set.Serve.ErgoGraphQL == "" {
		return nil
	}
	common, err := boxes.New(ctx, c)
	if err != nil {
		return At(serveOrigin(set), err)
	}
	go func() { _ = common.Prepare(ctx) }() // requests wait for it, and continue it if it fails
	anyOrigin := len(s.set.CORSOrigins) == 0
	err = below("serve.ergo_node", set.Serve.ErgoNode, func() (http.Handler, error) {
		return ergonode.New(ergonode.Options{Chain: common, Path: set.Serve.ErgoNode, Log: s.h.Log, AnyOrigin: anyOrigin}), nil
	})
	if err != nil {
		return err
	}
	err = below("serve.ergo_explorer", set.Serve.ErgoExplorer, func() (http.Handler, error) {
		return ergoexplorer.New(ergoexplorer.Options{
			Chain: common, Path: set.Serve.ErgoExplorer, Log: s.h.Log, AnyOrigin: anyOrigin,
		}), nil
	})
	if err != nil {
		return err
	}
	return below("serve.ergo_graphql", set.Serve.ErgoGraphQL, func() (http.Handler, error) {
		h := ergographql.New(ergographql.Options{
			Chain: common, Path: set.Serve.ErgoGraphQL, Log: s.h.Log, AnyOrigin: anyOrigin,
		})
		mux.Handle(set.Serve.ErgoGraphQL, h) // clients post to the path without a slash
		return h, nil
	})
}

// serveOrigin returns the place that set the first protocol of a chain.
func serveOrigin(set *config.Chain) string {
	for _, key := range config.ServeKeys() {
		if at := set.Origin(key); at != "" {
			return at
		}
	}
	return ""
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
