package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/api/docs"
	"birthmark/api/served"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/query/search"
)

// serveChains serves /v1. Each chain has its own tip, so that the answer has no X-Tip.
func (a *API) serveChains(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "/v1"
	if !allowed(w, r, http.MethodGet) {
		return
	}
	q := request{op: &operation{Operation: docs.Operation{Operation: huma.Operation{Path: "/v1"}}}}
	if err := q.parse(r.URL.RawQuery); err != nil {
		a.fail(w, r, err)
		return
	}
	answer := ChainsAnswer{Version: a.Version, Chains: []ServedChain{}}
	for _, c := range a.Chains {
		answer.Chains = append(answer.Chains, servedChain(c))
	}
	a.sendTagged(w, r, &answer)
}

// serveIndex serves /v1/{chain}: the chain and its operations.
func (a *API) serveIndex(w http.ResponseWriter, r *http.Request) {
	c := a.chainOf(w, r)
	if c == nil || !allowed(w, r, http.MethodGet) {
		return
	}
	q := request{op: &operation{Operation: docs.Operation{Operation: huma.Operation{Path: "/v1/{chain}"}}}}
	if err := q.parse(r.URL.RawQuery); err != nil {
		a.fail(w, r, err)
		return
	}
	s := servedChain(c.Chain)
	answer := ChainAnswer{s.Name, s.Chain, s.Network, s.Tip, a.BasePath + "/docs", []OperationAnswer{}}
	for _, op := range a.listed {
		path := a.BasePath + "/v1/" + c.Name + op.path
		answer.Operations = append(answer.Operations, OperationAnswer{op.Method, path, op.Summary})
	}
	a.sendTagged(w, r, &answer)
}

func servedChain(c *served.Chain) ServedChain {
	s := ServedChain{Name: c.Name, Chain: c.Model.Name(), Network: c.Model.Network()}
	if tip, _ := c.Moved(); !tip.IsOrigin() {
		s.Tip = &query.PointAnswer{Height: uint32(tip.Height), Hash: c.Model.FormatHash(tip.Hash)}
	}
	return s
}

// sendTagged sends an answer of several chains, whose ETag is made of the body.
func (a *API) sendTagged(w http.ResponseWriter, r *http.Request, answer any) {
	b := new(buffer)
	if err := b.encode(answer); err != nil {
		a.fail(w, r, err)
		return
	}
	send(w, r, b.text, tagBody(w, r, b.text))
}

// serveSearch serves /v1/search, a search in all chains.
func (a *API) serveSearch(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "/v1/search"
	if !allowed(w, r, http.MethodGet) {
		return
	}
	q := request{op: &operation{Operation: docs.Operation{Operation: huma.Operation{Path: "/v1/search"}}, query: []*parameter{searchParameter}}}
	if err := q.parse(r.URL.RawQuery); err != nil {
		a.fail(w, r, err)
		return
	}
	answer := SearchAnswer{Query: search.Clean(q.text), Chains: []ChainSearch{}}
	for _, c := range a.Chains {
		err := c.Newest(r.Context(), func(v *query.View, o *pending.Overlay) error {
			found, err := search.Of(r.Context(), v.Queries, c.Model, q.text, o.Contains)
			if err == nil && len(found.Results) > 0 {
				answer.Chains = append(answer.Chains, ChainSearch{c.Name, found.Results, found.Partial})
			}
			return err
		})
		if err != nil {
			a.fail(w, r, err)
			return
		}
	}
	a.sendTagged(w, r, &answer)
}
