package explorer

import (
	"context"
	"html/template"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

const (
	homeBlocks = 10  // of the newest, in the table
	homeTxs    = 10  // of the newest, in the table
	homeChart  = 120 // of the newest, in the chart
)

// stat is one figure on the page of a chain.
type stat struct {
	Name   string
	Value  string // empty: Amount
	Note   string
	Amount amount
	URL    string // of Value; empty: none
	Part   *int   // percent of a progress bar; nil: none
}

// homeBody is the overview of a chain.
type homeBody struct {
	Stats   []stat
	Blocks  []query.BlockSummaryAnswer
	More    string // list of all blocks; empty: these are all
	Txs     []newTx
	Pending bool             // Txs are unconfirmed
	Sized   bool             // Txs are listed with their sizes
	Chart   template.HTML    // transactions per block; empty: too few blocks
	Rates   template.HTML    // speed of the sync; empty: no sync
	Forks   []reorganization // newest

	Producers string // path of the page of the producers of blocks; empty: blocks do not name them
}

// newTx is a transaction in a list of the newest.
type newTx struct {
	Hash  link
	Block link   // of a confirmed transaction
	At    moment // of an unconfirmed transaction: when it was first seen
	Value amount // of all outputs
	Fee   *amount
	Rate  string // fee rate; empty: unknown
	Size  string // of an unconfirmed transaction
}

const homeForks = 3

// home is the overview of a chain.
func (v *visit) home() (*page, error) {
	title := titleOf(v.chain.Model)
	p := &page{Kind: "home", Title: title, Description: title + ": newest blocks, transactions, addresses and assets.", JSON: v.api("status")}
	b := &homeBody{}
	blocks, err := v.Blocks(v.ctx, query.Range{}, query.Page{Limit: homeChart, Descending: true})
	if err != nil {
		return nil, err
	}
	if b.Stats, err = v.homeStats(blocks.Blocks); err != nil {
		return nil, err
	}
	b.Blocks = blocks.Blocks[:min(len(blocks.Blocks), homeBlocks)]
	if len(blocks.Blocks) > homeBlocks {
		b.More = v.URL("blocks")
	}
	if pool := v.chain.Mempool; pool != nil {
		p.Volatile, p.Follow = true, pendingEvents
		b.Pending, b.Txs = true, v.newestPending(v.overlay, homeTxs)
	}
	if len(b.Txs) == 0 {
		b.Pending = false
		if b.Txs, err = v.newestTxs(b.Blocks); err != nil {
			return nil, err
		}
	}
	if b.Chart, err = v.txsChart(blocks.Blocks); err != nil {
		return nil, err
	}
	if b.Producers, err = v.producersURL(); err != nil {
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

// newestTxs returns the newest transactions of blocks, which are sorted by height, highest first.
func (v *visit) newestTxs(blocks []query.BlockSummaryAnswer) (list []newTx, err error) {
	var hashes []string
	for _, b := range blocks {
		if len(hashes) == homeTxs {
			break
		}
		var at []int // from the end
		for i := b.TxCount - 1; i >= 0 && len(hashes)+len(at) < homeTxs; i-- {
			at = append(at, i)
		}
		more, err := v.BlockTxHashes(v.ctx, b.Height, at)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, more...)
	}
	if len(hashes) == 0 {
		return nil, nil
	}
	var txs []*query.TxAnswer
	late, err := v.patiently(func(ctx context.Context) (err error) { // some have many inputs
		txs, err = v.Txs(ctx, hashes)
		return err
	})
	if late || err != nil {
		return nil, err
	}
	for _, t := range txs {
		if t == nil {
			continue
		}
		row := newTx{Hash: v.TxLink(t.Hash), Block: v.HeightLink(t.Height), Value: v.Amount(formatTotal(t.Outputs))}
		if t.Fee != "" && !t.Coinbase {
			fee := v.Amount(t.Fee)
			row.Fee = &fee
		}
		list = append(list, row)
	}
	return list, nil
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
