package explorer

import (
	"net/url"
	"slices"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
)

const valuesRows = 50

// valuesBody is a list of values of an index.
type valuesBody struct {
	Index    string
	Kind     string
	Count    uint64
	Values   []query.ValueAnswer
	Pager    pager
	Prefix   string
	Searches bool // the index supports prefix search
	Oldest   bool
	Other    link   // the other order; empty: sorted by text
	Base     string // first page
	Richest  string
}

// values lists the values of an index: newest first, or those with a prefix.
func (v *visit) values() (*page, error) {
	index := v.req.PathValue("index")
	x, err := v.indexState(index)
	if err != nil {
		return nil, err
	}
	b := &valuesBody{Index: index, Base: v.URL("values", index), Kind: x.Kind, Prefix: v.query("prefix"), Searches: slices.Contains(x.Keeps, "prefix"), Oldest: v.query("order") == "asc"}
	base, p := b.Base, v.cursor(valuesRows)
	var a *query.ValuesAnswer
	if b.Prefix != "" {
		base += "?prefix=" + url.QueryEscape(b.Prefix)
		p.Descending = false
		a, err = v.ValuesByText(v.ctx, index, b.Prefix, p)
	} else {
		b.Other = link{base + "?order=asc", "Oldest first"}
		if b.Oldest {
			b.Other, base = link{base, "Newest first"}, b.Other.URL
			p.Descending = false
		}
		a, err = v.Values(v.ctx, index, p)
	}
	if err != nil {
		return nil, err
	}
	if x.Kind != "one-to-one" {
		b.Richest = v.URL("richest", index)
	}
	b.Values, b.Count, b.Pager = a.Values, a.Count, cursorPager(base, p, a.Next)
	return &page{Kind: "values", Title: "All " + format.ManyOf(index), JSON: v.api("values", index), Section: "status", Body: b,
		Description: "All " + format.ManyOf(index) + " of " + titleOf(v.chain.Model) + ".",
		Crumbs:      []link{{v.URL("status"), "Indexes"}, {Text: format.Words(index)}}}, nil
}
