package explorer

import (
	"context"
	"net/http"
	"strconv"

	"birthmark/api/explorer/details"
	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/model"
)

// contentPolicy lets the content of an inscription, which anybody can write, do nothing: it loads nothing, runs no scripts,
// and has no origin.
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// inscription serves the content of an inscription: a picture with its type, and everything else as a file.
func (s *site) inscription(chain *served.Chain) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
		defer cancel()
		v := s.visit(ctx, r, chain)
		var in *model.Inscription
		err := v.open(func(view *query.View) error {
			a, err := view.Tx(ctx, r.PathValue("hash"))
			if err != nil {
				return err
			}
			all := details.InscriptionsOf(chain.Model, a)
			n, err := strconv.Atoi(r.PathValue("number"))
			if err != nil || n < 0 || n >= len(all) {
				return model.Errorf(model.NotFound, "unknown_inscription", "transaction %s has %d inscriptions, numbered from 0", a.Hash, len(all))
			}
			in = &all[n]
			return nil
		})
		if err != nil {
			s.fail(w, r, err)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		if kind := details.PictureType(in); kind != "" {
			h.Set("Content-Type", kind)
		} else {
			h.Set("Content-Type", "application/octet-stream")
			h.Set("Content-Disposition", "attachment")
		}
		h.Set("Content-Length", strconv.Itoa(len(in.Content)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(in.Content) // fails only if the client is gone
		}
	}
}
