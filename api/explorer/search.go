package explorer

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	searchLonger = 3  // least characters of a prefix search
	searchBegin  = 10 // results of a prefix search per index
	searchLong   = 70_000
)

// hit is a search result.
type hit struct {
	link
	What  string // block, transaction, address …
	Note  string
	Chain string // display name; empty: that of the page

	Unused bool // a valid address that no output has
}

// searchBody is a list of results, or the hints if there are none.
type searchBody struct {
	Query string
	Hits  []hit
	Tried []string // hints
}

// search redirects to the only result, or lists the results.
func (v *visit) search() (*page, error) {
	q := strings.TrimSpace(v.query("q"))
	hits, err := v.hits(q)
	if err != nil {
		return nil, err
	}
	if len(hits) == 1 {
		return &page{Location: hits[0].URL}, nil
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
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(s.Chains) == 1 {
		http.Redirect(w, r, pathOf("", []string{s.Chains[0].Name, "search"})+"?q="+url.QueryEscape(q), http.StatusFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	var all []hit
	for _, c := range s.Chains {
		err := c.View(ctx, func(view *query.View) error {
			v := s.visit(ctx, r, c)
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
		http.Redirect(w, r, all[0].URL, http.StatusFound)
		return
	}
	p := searchPage(q, all, []string{"a block: height, hash or tip", "a transaction hash", "an output: TX:N", "an address or another value of an index", "an asset"})
	p.frame = s.frameOf(r)
	s.send(w, r, p)
}

// tried returns the hints of the search box.
func (v *visit) tried() ([]string, error) {
	indexes, err := v.indexes()
	if err != nil {
		return nil, err
	}
	list := []string{"a block: height, hash or tip", "a transaction hash", "an output: TX:N"}
	for _, name := range indexes {
		list = append(list, "a value of the index "+words(name))
	}
	if !v.assetless() {
		list = append(list, "an asset")
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
	if q == "" || len(q) > searchLong {
		return nil, nil
	}
	for _, look := range []func(string) ([]hit, error){v.hitBlock, v.hitTx, v.hitOutput, v.hitValues, v.hitAsset} {
		found, err := look(q)
		if err != nil {
			return nil, err
		}
		hits = append(hits, found...)
	}
	if len(hits) == 0 {
		hits, err = v.hitUnused(q)
	}
	if len(hits) == 0 && err == nil && len(q) >= searchLonger {
		return v.hitBeginnings(q)
	}
	return hits, err
}

// missing reports whether an error means that something is not found, or not yet available.
func missing(err error) bool {
	kind, code := model.KindOf(err)
	return kind == model.NotFound || kind == model.Usage || code == "index_building"
}

func (v *visit) hitBlock(q string) ([]hit, error) {
	ref := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(q, "#"), ",", ""))
	switch ref {
	case "latest", "newest", "head", "best":
		ref = "tip"
	}
	b, err := v.Block(v.ctx, ref)
	if err != nil {
		return nil, unlessMissing(err)
	}
	return []hit{{link: v.BlockLink(b.Hash), What: "block", Note: "height " + humanize.Count(b.Height)}}, nil
}

func unlessMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

func (v *visit) hitTx(q string) ([]hit, error) {
	txs, err := v.Txs(v.ctx, []string{strings.ToLower(q)})
	if err != nil || txs[0] == nil {
		return nil, unlessMissing(err)
	}
	return []hit{{link: v.TxLink(txs[0].Hash), What: "transaction", Note: "in block " + humanize.Count(txs[0].Height)}}, nil
}

// hitOutput finds an output by TX:N or TX#N.
func (v *visit) hitOutput(q string) ([]hit, error) {
	ref := strings.ToLower(strings.Replace(q, "#", ":", 1))
	if !strings.Contains(ref, ":") {
		return nil, nil
	}
	o, err := v.Output(v.ctx, ref)
	if err != nil {
		return nil, unlessMissing(err)
	}
	return []hit{{link: v.OutputLink(o.Tx, o.Index), What: "output", Note: v.Amount(o.Value).String()}}, nil
}

// hitValues looks up q in every index.
func (v *visit) hitValues(q string) (hits []hit, err error) {
	indexes, err := v.indexes()
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		found, err := v.Find(v.ctx, index, q, query.Terms{}, query.Page{Limit: 1})
		if err != nil {
			if missing(err) {
				continue
			}
			return nil, err
		}
		if found.FirstSeen == nil {
			continue
		}
		h := hit{link: v.ValueLink(index, found.Value), What: words(index), Note: "first seen in block " + humanize.Count(found.FirstSeen.Height)}
		if index == v.chain.Model.Traits().SpendIndex {
			h.link = link{v.OutputLink(found.FirstSeen.Tx, found.FirstSeen.Index).URL, found.Value}
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// hitUnused returns an unused address. Other indexes are ignored, since any hash is a valid value of some index.
func (v *visit) hitUnused(q string) ([]hit, error) {
	found, err := v.Find(v.ctx, "address", q, query.Terms{}, query.Page{Limit: 1})
	if err != nil {
		return nil, unlessMissing(err)
	}
	return []hit{{link: v.ValueLink("address", found.Value), What: "address", Note: "never used", Unused: true}}, nil
}

func (v *visit) hitAsset(q string) ([]hit, error) {
	a, err := v.Asset(v.ctx, q)
	if err != nil {
		return nil, unlessMissing(err)
	}
	return []hit{{link: v.AssetLink(a.Asset), What: "asset", Note: a.Name}}, nil
}

// hitBeginnings returns values with prefix q, of indexes with the option prefix.
func (v *visit) hitBeginnings(q string) (hits []hit, err error) {
	indexes, err := v.indexes()
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		found, err := v.ValuesByText(v.ctx, index, q, query.Page{Limit: searchBegin})
		if err != nil {
			if missing(err) {
				continue
			}
			return nil, err
		}
		for _, value := range found.Values {
			hits = append(hits, hit{link: v.ValueLink(index, value.Value), What: words(index), Note: "first seen in block " + humanize.Count(value.FirstSeen.Height)})
		}
	}
	return hits, nil
}

// words returns a name of the settings in words.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
