package daemon

import (
	"context"
	"net/http"
	"strings"

	"birthmark/api/compat/blockbook"
	"birthmark/api/compat/esplora"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/model"
)

// wireWallets adds the wallet protocols of the chains. It fails if a database lacks an index or option that they need.
func (s *Server) wireWallets(ctx context.Context, mux *http.ServeMux) error {
	paths := map[string]string{}
	for _, c := range s.chains {
		set := s.Protocols[c.Name]
		if set == nil || set.Serve == (config.Serve{}) {
			continue
		}
		w, err := wallet.New(ctx, c)
		if err != nil {
			return At(serveOrigin(set), err)
		}
		if err := s.wireElectrum(c.Name, w, set); err != nil {
			return err
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
		err = below("serve.esplora", set.Serve.Esplora, func() (http.Handler, error) {
			s.plain = append(s.plain, set.Serve.Esplora+"/")
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
	return nil
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

// plainErrors reports whether errors of requests to a path are plain text, as the protocol that is served there has
// them.
func (s *Server) plainErrors(path string) bool {
	for _, prefix := range s.plain {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
