package explorer

import (
	"context"
	"html/template"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/humanize"
)

const richestRows = 100

// richestRead is how many rows a rich list reads at most.
var richestRead uint64 = 100_000

// richestBody is a rich list.
type richestBody struct {
	Index  string
	Asset  *assetAmount // nil: the coin of the chain
	Rows   []richRow
	Left   string // why there is no list
	Values string // list of all values
}

// richRow is a value and its balance.
type richRow struct {
	Rank    int
	Value   link
	Balance amount
	Unspent uint64
	Part    template.HTML // bar relative to the largest balance
}

// richest lists the largest balances of an index, in the coin of the chain or in an asset.
func (v *visit) richest() (*page, error) {
	index, asset := v.req.PathValue("index"), v.query("asset")
	x, err := v.indexState(index)
	if err != nil {
		return nil, err
	}
	b := &richestBody{Index: index, Values: v.URL("values", index)}
	p := &page{Kind: "richest", Title: "Rich list: " + words(index), JSON: v.api("richest", index), Section: "richest", Body: b,
		Description: "Largest balances by " + words(index) + " on " + titleOf(v.chain.Model) + ".",
		Crumbs:      []link{{v.URL("values", index), words(index)}, {Text: "Richest"}}}
	unit, rows := v.unit, x.Values
	if asset == "" {
		if !slices.Contains(x.Keeps, "balance") {
			status, err := v.Status(v.ctx)
			if err != nil {
				return nil, err
			}
			rows = status.Totals.Outputs + status.Totals.GenesisOutputs
		}
	} else {
		a, err := v.Asset(v.ctx, asset)
		if err != nil {
			return nil, err
		}
		unit, rows = assetUnit(a), a.OutputCount
		b.Asset = &assetAmount{link: v.AssetLink(a.Asset), Name: v.AssetName(a)}
		p.JSON += "?asset=" + a.Asset
	}
	late := rows > richestRead
	var list *query.RichestAnswer
	if !late {
		late, err = v.patiently(func(ctx context.Context) (err error) {
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
	for i, r := range list.Values {
		held := scaled(integer(r.Balance), unit)
		b.Rows = append(b.Rows, richRow{i + 1, v.ValueLink(index, r.Value), amountOf(unit, r.Balance), r.UnspentCount,
			charts.Bar(held, scaled(integer(list.Values[0].Balance), unit))})
	}
	return p, nil
}
