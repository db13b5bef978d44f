package explorer

import "birthmark/internal/humanize"

type assetsBody struct {
	Count  uint64
	Assets []assetRow
	Oldest bool // oldest first
	Other  link
	Pager  pager
	None   bool // the chain does not support assets
}

type assetRow struct {
	Asset   link
	Name    string
	Supply  amount
	Holders string // empty: unknown
	Mints   uint64
	Born    link // first block
}

const assetsRows = 50

// assets lists the assets, newest first.
func (v *visit) assets() (*page, error) {
	b := &assetsBody{Oldest: v.query("order") == "asc"}
	base, p := v.url("assets"), v.cursor(assetsRows)
	b.Other = link{base + "?order=asc", "Oldest first"}
	if b.Oldest {
		b.Other, base = link{base, "Newest first"}, b.Other.URL
		p.Descending = false
	}
	a, err := v.Assets(v.ctx, p)
	if err != nil {
		return nil, err
	}
	b.Count, b.Pager = a.Count, cursorPager(base, p, a.Next)
	b.None = a.Count == 0 && v.assetless()
	for i := range a.Assets {
		x := &a.Assets[i]
		row := assetRow{Asset: v.assetLink(x.Asset), Name: v.assetName(x), Supply: amountOf(assetUnit(x), x.Supply), Mints: x.MintCount, Born: v.heightLink(x.FirstSeen.Height)}
		if x.HolderCount != nil {
			row.Holders = humanize.Count(*x.HolderCount)
		}
		b.Assets = append(b.Assets, row)
	}
	return &page{Kind: "assets", Title: "Assets", JSON: v.api("assets"), Section: "assets", Body: b,
		Description: "The assets of " + titleOf(v.chain.Model) + ".", Crumbs: []link{{Text: "Assets"}}}, nil
}
