package explorer

import (
	"context"
	"html/template"
	"net/url"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/core/schema"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	richestRows = 100
	richestPart = 50 // rows of a page
)

// richestRead is how many rows a rich list reads at most, and richestHolders how many holdings of an asset, which are
// small and follow each other.
var richestRead, richestHolders uint64 = 100_000, 2_000_000

// richestBody is a rich list.
type richestBody struct {
	Index  string
	Asset  *assetAmount // nil: the coin of the chain
	Rows   []richRow
	Left   string // why there is no list
	Others []link // rich lists of other indexes
	Active bool   // rows have the last activity
	Values string // list of all values
	Pager  pager
}

// richRow is a value and its balance.
type richRow struct {
	Rank    int
	Value   link
	Label   string // from [Options.Labels]; empty: none
	Balance amount
	Unspent string        // empty: not counted
	Part    template.HTML // bar relative to the largest balance
	Share   string        // of the supply
	Last    *moment       // of the newest transaction; nil: unknown
}

// ranked returns the indexes that have a rich list, addresses first.
func (v *visit) ranked() (names []string, err error) {
	states, err := v.IndexStates(v.ctx)
	for _, s := range states {
		if s.Dropping || s.Kind == model.OneToOne.String() || s.Kind == model.PerBlock.String() ||
			s.Kind == model.Sums.String() || slices.Contains(s.Adding, "values") {
			continue
		}
		if names = append(names, s.Name); s.Name == schema.HoldersIndex {
			names = slices.Concat(names[len(names)-1:], names[:len(names)-1])
		}
	}
	return names, err
}

// richestAll is the rich list of the most important index.
func (v *visit) richestAll() (*page, error) {
	names, err := v.ranked()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, model.Errorf(model.NotFound, "no_index", "%s has no index with a rich list", v.chain.Name)
	}
	return &page{Location: v.URL("richest", names[0])}, nil
}

// richest lists the largest balances of an index, in the coin of the chain or in an asset.
func (v *visit) richest() (*page, error) {
	index, asset := v.req.PathValue("index"), v.query("asset")
	x, err := v.indexState(index)
	if err != nil {
		return nil, err
	}
	b := &richestBody{Index: index, Values: v.URL("values", index)}
	p := &page{Kind: "richest", Title: "Rich list of " + format.ManyOf(index), JSON: v.api("richest", index), Section: "richest", Body: b,
		Description: "Largest balances by " + format.Words(index) + " on " + titleOf(v.chain.Model) + ".",
		Crumbs:      []link{{v.URL("values", index), format.Words(index)}, {Text: "Rich list"}}}
	names, err := v.ranked()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name != index && asset == "" {
			b.Others = append(b.Others, link{v.URL("richest", name), format.ManyOf(name)})
		}
	}
	unit, rows, most, supply := v.unit, x.Values, richestRead, ""
	ask := v.patiently
	atOnce := func(read func(context.Context) error) (bool, error) { return false, read(v.ctx) }
	if asset == "" {
		status, err := v.Status(v.ctx)
		if err != nil {
			return nil, err
		}
		supply = status.Totals.UnspentValue
		if kept, err := richest.Kept(v.ctx, v.Queries, index, richestRows); err != nil {
			return nil, err
		} else if kept {
			rows, ask = richestRows, atOnce
		} else if !slices.Contains(x.Keeps, "balance") {
			rows = status.Totals.Outputs + status.Totals.GenesisOutputs
		}
	} else {
		a, err := v.Asset(v.ctx, asset)
		if err != nil {
			return nil, err
		}
		if unit, rows, supply = assetUnit(a), a.OutputCount, a.Supply; index == schema.HoldersIndex && rows > richest.CountedOutputs {
			rows, most, ask = *a.HolderCount, richestHolders, atOnce
		}
		b.Asset = &assetAmount{link: v.AssetLink(a.Asset), Name: v.AssetName(a)}
		p.JSON += "?asset=" + a.Asset
	}
	late := rows > most
	var list *query.RichestAnswer
	if !late {
		late, err = ask(func(ctx context.Context) (err error) {
			list, err = richest.Of(ctx, v.Queries, index, asset, richestRows)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if late {
		b.Left = "Not available: the list needs " + humanize.Count(rows) + " rows, too many for a page."
		return p, nil
	}
	part, err := v.number("page", 1)
	if err != nil {
		return nil, err
	}
	here := v.URL("richest", index)
	if asset != "" {
		here += "?asset=" + url.QueryEscape(asset)
	}
	from, to, pg, err := numbered(here, "page", part, len(list.Values), richestPart)
	if err != nil {
		return nil, err
	}
	b.Pager = pg
	for i, r := range list.Values[from:to] {
		held := format.Scaled(format.Integer(r.Balance), unit)
		row := richRow{
			Rank: from + i + 1, Value: v.Listed(v.ValueLink(index, r.Value), ""), Label: v.label(r.Value), Balance: amountOf(unit, r.Balance),
			Part: charts.Bar(held, format.Scaled(format.Integer(list.Values[0].Balance), unit)), Share: format.Share(format.Integer(r.Balance), format.Integer(supply)),
		}
		if r.UnspentCount != nil {
			row.Unspent = humanize.Count(*r.UnspentCount)
		}
		if b.Active = slices.Contains(x.Keeps, "history"); b.Active {
			if row.Last, err = v.lastActive(index, r.Value); err != nil {
				return nil, err
			}
		}
		b.Rows = append(b.Rows, row)
	}
	return p, nil
}

// lastActive returns the time of the newest transaction of a value; nil before the first block.
func (v *visit) lastActive(index, value string) (*moment, error) {
	h, err := v.History(v.ctx, index, value, query.Range{}, query.Page{Limit: 1, Descending: true})
	if err != nil || len(h.Txs) == 0 {
		return nil, err
	}
	return v.TimeAt(h.Txs[0].Height)
}
