package explorer

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/core/schema"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// hit is a search result.
type hit struct {
	link
	What  string // block, transaction, address …
	Note  string
	Chain string // display name; empty: the chain of the page

	Unused bool // a valid address that no output has
}

// searchBody is a list of results, or the hints if there are none.
type searchBody struct {
	Query string
	Hits  []hit
	Tried []string // hints
}

// isForm reports whether a request is a search whose text is not in the URL.
func isForm(r *http.Request) bool { return r.Method == http.MethodPost }

// redirectOf returns the status of a redirect, which a browser follows with GET.
func redirectOf(r *http.Request) int {
	if isForm(r) {
		return http.StatusSeeOther
	}
	return http.StatusFound
}

// searched returns the text that was searched for.
func searched(r *http.Request) string {
	if isForm(r) {
		return search.Clean(r.PostFormValue("q"))
	}
	return search.Clean(r.URL.Query().Get("q"))
}

// search redirects to the only result, or lists the results. The list has a URL, unless that would show a private text.
func (v *visit) search() (*page, error) {
	q := searched(v.req)
	hits, err := v.hits(q)
	if err != nil {
		return nil, err
	}
	if len(hits) == 1 {
		return &page{Location: hits[0].URL}, nil
	}
	if isForm(v.req) && !private(q) {
		return &page{Location: v.URL("search") + "?q=" + url.QueryEscape(q)}, nil
	}
	tried, err := v.tried()
	if err != nil {
		return nil, err
	}
	p := searchPage(q, hits, tried)
	p.Crumbs = []link{{Text: "Search"}}
	return p, nil
}

func searchPage(q string, hits []hit, tried []string) *page {
	p := &page{Kind: "search", Title: "Search", Description: "Blocks, transactions, outputs, addresses and assets.", Query: q, Body: &searchBody{q, hits, tried}}
	if len(hits) == 0 && q != "" {
		p.Status = http.StatusNotFound
	}
	return p
}

// searchAll searches in every chain.
func (s *site) searchAll(w http.ResponseWriter, r *http.Request) {
	if len(s.Chains) == 1 {
		to := pathOf(s.BasePath, []string{s.Chains[0].Name, "search"})
		if isForm(r) {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect) // also a form
			return
		}
		http.Redirect(w, r, to+"?q="+url.QueryEscape(searched(r)), http.StatusFound)
		return
	}
	q := searched(r)
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	var all []hit
	for _, c := range s.Chains {
		v := s.visit(ctx, r, c)
		err := v.open(func(view *query.View) error {
			v.View = view
			hits, err := v.hits(q)
			for _, h := range hits {
				h.Chain = titleOf(c.Model)
				all = append(all, h)
			}
			return err
		})
		if err != nil {
			s.fail(w, r, err)
			return
		}
	}
	if used := slices.DeleteFunc(slices.Clone(all), func(h hit) bool { return h.Unused }); len(used) > 0 {
		all = used // networks share address formats: prefer the network on which it is used
	}
	if len(all) == 1 {
		http.Redirect(w, r, all[0].URL, redirectOf(r))
		return
	}
	if isForm(r) && !private(q) {
		http.Redirect(w, r, pathOf(s.BasePath, []string{"search"})+"?q="+url.QueryEscape(q), http.StatusSeeOther)
		return
	}
	p := searchPage(q, all, []string{"a block: height or hash", "a transaction: its hash", "an output: TX:N", "an address or another value of an index", "an asset: id or name"})
	p.frame = s.frameOf(r)
	s.send(w, r, p)
}

// tried returns the hints of the search box.
func (v *visit) tried() ([]string, error) {
	indexes, err := v.indexes()
	if err != nil {
		return nil, err
	}
	list := []string{"a block: height or hash", "a transaction: its hash, or a part of it", "an output: TX:N"}
	for _, name := range indexes {
		if _, wallets := v.chain.Model.(model.WalletReader); name == schema.HoldersIndex && wallets {
			list = append(list, "an address, an extended public key or a descriptor")
		} else if name == schema.HoldersIndex {
			list = append(list, "an address")
		} else {
			list = append(list, "a value of the index "+format.Words(name))
		}
	}
	if !v.assetless() {
		list = append(list, "an asset: id or name")
	}
	return list, nil
}

// indexes returns the names of the indexes of the database.
func (v *visit) indexes() (names []string, err error) {
	states, err := v.IndexStates(v.ctx)
	for _, s := range states {
		if !s.Dropping {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// assetless reports whether the chain has no assets at all.
func (v *visit) assetless() bool {
	_, err := v.chain.Model.ParseAsset("00")
	kind, _ := model.KindOf(err)
	return kind == model.NotFound
}

// hits returns the results for q, most likely first.
func (v *visit) hits(q string) (hits []hit, err error) {
	found, err := search.Of(v.ctx, v.Queries, v.chain.Model, q, v.overlay.Contains)
	if err != nil {
		return nil, err
	}
	for _, r := range found.Results {
		h := v.hit(&r)
		if isForm(v.req) && v.isWallet(r.Index, r.Value) {
			if len(r.Value) > longestHidden {
				return nil, model.Errorf(model.Usage, "too_large", "the descriptor has %d bytes, expected at most %d: "+
					"the command birthmark balance reads longer ones", len(r.Value), longestHidden)
			}
			h.URL = v.URL("address", v.site.hider.hide(r.Value))
		}
		hits = append(hits, h)
	}
	if len(hits) == 0 {
		if h := v.action(q); h != nil {
			hits = append(hits, *h)
		}
	}
	return hits, nil
}

// action returns the governance action of an id if its transaction exists: without votes no index has it.
func (v *visit) action(id string) *hit {
	g := v.governs()
	if g == nil {
		return nil
	}
	hash, _, ok := g.ParseAction(id)
	if !ok {
		return nil
	}
	if _, err := v.Tx(v.ctx, v.chain.Model.FormatHash(hash)); err != nil {
		return nil
	}
	return &hit{link: link{v.URL("governance", id), id}, What: "governance action"}
}

// hit returns a result with its page.
func (v *visit) hit(r *search.Result) hit {
	switch r.Type {
	case search.Block:
		return hit{link: v.BlockLink(r.Value), What: "block", Note: "height " + humanize.Count(*r.Height)}
	case search.Tx:
		h := hit{link: v.TxLink(r.Value), What: "transaction", Note: "unconfirmed"}
		if r.Height != nil {
			h.Note = "in block " + humanize.Count(*r.Height)
		}
		return h
	case search.Output:
		return hit{link: link{v.URL("output", r.Value), r.Value}, What: "output", Note: v.Amount(r.Amount).String()}
	case search.Asset:
		return hit{link: v.AssetLink(r.Value), What: "asset", Note: r.Name}
	}
	h := hit{link: v.ValueLink(r.Index, r.Value), What: format.Words(r.Index), Unused: r.Height == nil, Note: "never used"}
	if url := v.governanceURL(r.Value); r.Index == subjectIndex && url != "" {
		h.URL, h.What = url, "governance"
	}
	if !h.Unused {
		h.Note = "first seen in block " + humanize.Count(*r.Height)
	}
	return h
}
