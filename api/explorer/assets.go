package explorer

import "birthmark/core/query"

type assetsBody struct {
	Count  uint64
	Assets []query.AssetAnswer
	Oldest bool // oldest first
	Other  link
	Pager  pager
	None   bool // the chain does not support assets
}

const assetsRows = 50

// assets lists the assets, newest first.
func (v *visit) assets() (*page, error) {
	b := &assetsBody{Oldest: v.query("order") == "asc"}
	base, p := v.URL("assets"), v.cursor(assetsRows)
	b.Other = link{base + "?order=asc", "Oldest first"}
	if b.Oldest {
		b.Other, base = link{base, "Newest first"}, b.Other.URL
		p.Descending = false
	}
	a, err := v.Assets(v.ctx, p)
	if err != nil {
		return nil, err
	}
	b.Assets, b.Count, b.Pager = a.Assets, a.Count, cursorPager(base, p, a.Next)
	b.None = a.Count == 0 && v.assetless()
	return &page{Kind: "assets", Title: "Assets", JSON: v.api("assets"), Section: "assets", Body: b,
		Description: "The assets of " + titleOf(v.chain.Model) + ".", Crumbs: []link{{Text: "Assets"}}}, nil
}
