package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/core/query"
)

// serveChains serves /v1. Each chain has its own tip, so that the answer has no X-Tip.
func (a *API) serveChains(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "/v1"
	if !allowed(w, r, http.MethodGet) {
		return
	}
	q := request{op: &operation{Operation: huma.Operation{Path: "/v1"}}}
	if err := q.parse(r.URL.RawQuery); err != nil {
		a.fail(w, r, err)
		return
	}
	answer := ChainsAnswer{Version: a.Version, Chains: []ServedChain{}}
	for _, c := range a.Chains {
		s := ServedChain{Name: c.Name, Chain: c.Model.Name(), Network: c.Model.Network()}
		if tip, _ := c.Moved(); !tip.IsOrigin() {
			s.Tip = &query.PointAnswer{Height: uint32(tip.Height), Hash: c.Model.FormatHash(tip.Hash)}
		}
		answer.Chains = append(answer.Chains, s)
	}
	b := new(buffer)
	if err := b.encode(&answer); err != nil {
		a.fail(w, r, err)
		return
	}
	send(w, r, b.text, tagBody(w, r, b.text))
}
