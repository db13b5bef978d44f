package explorer

import (
	"html/template"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

const (
	homeBlocks = 12  // of the newest, in the table
	homeChart  = 120 // of the newest, in the chart
)

// stat is one figure on the page of a chain.
type stat struct {
	Name   string
	Value  string // empty: Amount
	Note   string
	Amount amount
}

// homeBody is the overview of a chain.
type homeBody struct {
	Stats  []stat
	Blocks []query.BlockSummaryAnswer
	More   string           // list of all blocks; empty: these are all
	Chart  template.HTML    // transactions per block; empty: too few blocks
	Rates  template.HTML    // speed of the sync; empty: no sync
	Forks  []reorganization // newest
}

const homeForks = 3

// home is the overview of a chain.
func (v *visit) home() (*page, error) {
	title := titleOf(v.chain.Model)
	p := &page{Kind: "home", Title: title, Description: title + ": newest blocks, transactions, addresses and assets.", JSON: v.api("status")}
	status, err := v.Status(v.ctx)
	if err != nil {
		return nil, err
	}
	t := status.Totals
	b := &homeBody{}
	b.Stats = []stat{
		{Name: "Height", Value: tipHeight(status)},
		{Name: "Transactions", Value: humanize.Count(t.Txs)},
		{Name: "Outputs", Value: humanize.Count(t.Outputs), Note: humanize.Count(t.Unspent) + " unspent"},
		{Name: "Circulating supply", Amount: v.Amount(t.UnspentValue).coarse()},
	}
	if t.Assets > 0 {
		assets, err := v.Assets(v.ctx, query.Page{Limit: 1})
		if err != nil {
			return nil, err
		}
		b.Stats = append(b.Stats, stat{Name: "Assets", Value: humanize.Count(assets.Count)})
	}
	blocks, err := v.Blocks(v.ctx, query.Range{}, query.Page{Limit: homeChart, Descending: true})
	if err != nil {
		return nil, err
	}
	b.Blocks = blocks.Blocks[:min(len(blocks.Blocks), homeBlocks)]
	if len(blocks.Blocks) > homeBlocks {
		b.More = v.URL("blocks")
	}
	if b.Chart, err = v.txsChart(blocks.Blocks); err != nil {
		return nil, err
	}
	if syncingOf(v.chain.State()) != nil {
		if b.Rates, err = v.rates(); err != nil {
			return nil, err
		}
	}
	forks, err := v.Forks(v.ctx, query.Page{Limit: 100})
	if err != nil {
		return nil, err
	}
	b.Forks = v.reorganizations(forks.Forks)
	b.Forks = b.Forks[:min(len(b.Forks), homeForks)]
	p.Body = b
	return p, nil
}

// txsChart draws the transactions per block of the newest blocks.
func (v *visit) txsChart(blocks []query.BlockSummaryAnswer) (template.HTML, error) {
	if len(blocks) < 2 {
		return "", nil
	}
	c := charts.Chart{ID: "txs-chart", Title: "Transactions per block, newest " + humanize.Plural(len(blocks), "block"), Kind: charts.Bars,
		X: charts.Axis{Name: "Block", Whole: true, Label: func(h float64) string { return humanize.Count(int64(h)) }}, Y: charts.Axis{Name: "Transactions", Whole: true}}
	for _, b := range slices.Backward(blocks) {
		height := v.HeightLink(b.Height)
		c.Points = append(c.Points, charts.Point{X: float64(b.Height), Y: float64(b.TxCount), At: height.Text, Value: humanize.Count(b.TxCount), Link: height.URL})
	}
	return c.HTML()
}

func tipHeight(s *query.StatusAnswer) string {
	if s.Tip == nil {
		return "none yet"
	}
	return humanize.Count(s.Tip.Height)
}
