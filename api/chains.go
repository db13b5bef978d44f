package api

import (
	"github.com/danielgtaylor/huma/v2"

	"birthmark/api/docs"
	"birthmark/api/exchange"
	"birthmark/api/served"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/query/search"
)

// pathOnly returns an operation that has only a path and parameters.
func pathOnly(path string, query ...*parameter) *operation {
	return &operation{Operation: docs.Operation{Operation: huma.Operation{Path: path}}, query: query}
}

// parse parses the parameters of a request for all chains, or for a chain as a whole.
func (op *operation) parse(r *exchange.Request) (*request, error) {
	r.Pattern = op.Path
	q := &request{op: op}
	return q, q.parse(r.URL.RawQuery)
}

var (
	listOfChains = pathOnly("/v1")
	oneChain     = pathOnly("/v1/{chain}")
	searchOfAll  = pathOnly("/v1/search", searchParameter)
)

// serveChains serves /v1. Each chain has its own tip, so that the answer has no X-Tip.
func (a *API) serveChains(r *exchange.Request) (any, error) {
	if _, err := listOfChains.parse(r); err != nil {
		return nil, err
	}
	answer := ChainsAnswer{Version: a.Version, Chains: []ServedChain{}}
	for _, c := range a.Chains {
		answer.Chains = append(answer.Chains, servedChain(c))
	}
	return sendTagged(r, &answer)
}

// serveIndex serves /v1/{chain}: the chain and its operations.
func (a *API) serveIndex(r *exchange.Request) (any, error) {
	c, err := a.chainOf(r.Request)
	if err != nil {
		return nil, err
	}
	if _, err := oneChain.parse(r); err != nil {
		return nil, err
	}
	s := servedChain(c.Chain)
	answer := ChainAnswer{s.Name, s.Chain, s.Network, s.Tip, a.BasePath + "/docs", []OperationAnswer{}}
	for _, op := range a.listed {
		path := a.BasePath + "/v1/" + c.Name + op.path
		answer.Operations = append(answer.Operations, OperationAnswer{op.Method, path, op.Summary})
	}
	return sendTagged(r, &answer)
}

func servedChain(c *served.Chain) ServedChain {
	s := ServedChain{Name: c.Name, Chain: c.Model.Name(), Network: c.Model.Network()}
	if tip, _ := c.Moved(); !tip.IsOrigin() {
		s.Tip = &query.PointAnswer{Height: uint32(tip.Height), Hash: c.Model.FormatHash(tip.Hash)}
	}
	return s
}

// serveSearch serves /v1/search, a search in all chains.
func (a *API) serveSearch(r *exchange.Request) (any, error) {
	q, err := searchOfAll.parse(r)
	if err != nil {
		return nil, err
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
			return nil, err
		}
	}
	return sendTagged(r, &answer)
}
