package explorer

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const blocksPage = 50

type blocksBody struct {
	Blocks []query.BlockSummaryAnswer
	Pager  pager
}

// blocks lists the blocks, newest first. A page is identified by its highest block, so that it does not change when
// blocks are added.
func (v *visit) blocks() (*page, error) {
	p := &page{Kind: "blocks", Title: "Blocks", Description: "The blocks of " + titleOf(v.chain.Model) + ", newest first.", JSON: v.api("blocks"),
		Section: "blocks", Crumbs: []link{{Text: "Blocks"}}}
	tip := int(v.Tip.Height)
	to, err := v.number("to", tip)
	if err != nil {
		return nil, err
	}
	var within query.Range
	if to = min(to, tip); to < tip {
		highest := model.HeightPk(to)
		within.ToHeight = &highest
	}
	blocks, err := v.Blocks(v.ctx, within, query.Page{Limit: blocksPage, Descending: true})
	if err != nil {
		return nil, err
	}
	b := &blocksBody{Blocks: blocks.Blocks}
	base := v.URL("blocks")
	part := func(to int) string {
		if to >= tip {
			return base
		}
		return base + "?to=" + strconv.Itoa(to)
	}
	if to < tip {
		b.Pager.First, b.Pager.Newer = base, part(to+blocksPage)
	}
	if blocks.Next != nil {
		b.Pager.Older = part(int(blocks.Blocks[len(blocks.Blocks)-1].Height) - 1)
	}
	if n := len(blocks.Blocks); n > 0 {
		b.Pager.Here = humanize.Count(blocks.Blocks[n-1].Height) + " to " + humanize.Count(blocks.Blocks[0].Height)
	}
	p.Body = b
	return p, nil
}

const txsPage = 50

type blockBody struct {
	*query.BlockAnswer
	Parent         link // empty: it has none
	Previous, Next string
	Depth          uint32  // confirmations
	Median         *moment // median of the times of 11 blocks; nil: the chain does not use it
	Fields         []field
	Txs            []*query.TxAnswer
	Pager          pager
	Totals         *query.BlockTotalsAnswer // nil: they take too long
	TotalsURL      string                   // as JSON
	Reward         string                   // paid to the miner; empty: unknown
	Coinbase       *query.TxAnswer          // nil: none
	Pool           link                     // that the text of the coinbase names; empty: unknown
	Bare           bool                     // too many inputs and outputs to show totals
	Orders         []navLink                // of the transactions; empty: one at most
	By             query.TxOrder            // the current order; empty: block order
	Sized          bool                     // the sizes of transactions are known
	Rated          bool                     // some of Txs have a fee rate
	Map            template.HTML            // the transactions by size; empty: unknown
	Rates          string                   // of the fees in words; empty: unknown
	Compared       *comparison              // with the projected block; nil: unknown

	filling []query.TxFilling // all transactions, if they were read for Totals
}

// block is the page of a block with a page of its transactions.
func (v *visit) block() (*page, error) {
	a, err := v.BlockHeader(v.ctx, v.req.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	height := humanize.Count(a.Height)
	p := &page{Kind: "block", Title: "Block " + height, JSON: v.api("block", a.Hash), Section: "blocks",
		Description: titleOf(v.chain.Model) + " block " + height + " of " + humanize.Clock(a.Time) + ", " + humanize.Plural(a.TxCount, "transaction") + ".",
		Crumbs:      []link{{v.URL("blocks"), "Blocks"}, {Text: height}}}
	b := &blockBody{BlockAnswer: a, TotalsURL: v.api("block", a.Hash, "totals"), Depth: uint32(v.Tip.Height) - a.Height + 1}
	if a.PrevHash != "" {
		b.Parent.Text = a.PrevHash
		if v.hasBlock(model.HeightPk(a.Height - 1)) {
			b.Parent = v.BlockLink(a.PrevHash)
			b.Previous = b.Parent.URL
		}
	}
	if a.Height < uint32(v.Tip.Height) {
		b.Next = v.HeightLink(a.Height + 1).URL
	}
	if err := v.blockTxs(b); err != nil {
		return nil, err
	}
	p.Body, p.LacksRaw = b, a.TxCount > 0 && v.lacksRaw()
	if err := v.blockSums(b); err != nil {
		return nil, err
	}
	if v.query("page") == "" {
		if err := cmp.Or(v.fill(b), v.compare(b)); err != nil {
			return nil, err
		}
	}
	return p, v.blockFields(b)
}

// blockTxs adds the requested page of the transactions in the requested order.
func (v *visit) blockTxs(b *blockBody) error {
	part, err := v.number("page", 1)
	if err != nil {
		return err
	}
	base, err := v.orders(b)
	if err != nil {
		return err
	}
	from, to, pg, err := numbered(base, "page", part, b.TxCount, txsPage)
	if err != nil {
		return err
	}
	b.Pager = pg.at("txs")
	at := make([]int, to-from)
	for i := range at {
		at[i] = from + i
	}
	if b.By != "" {
		all, err := v.sorted(b)
		if err != nil {
			return err
		}
		at = all[from:to]
	}
	b.Txs, b.Bare, err = v.txRows(b.Height, at)
	b.Rated = slices.ContainsFunc(b.Txs, func(t *query.TxAnswer) bool { return t.FeeRate != nil })
	return err
}

// orders adds the orders of the transactions, and returns the path of the requested one.
func (v *visit) orders(b *blockBody) (path string, err error) {
	all, err := v.TxOrders(v.ctx)
	if err != nil {
		return "", err
	}
	b.By = query.TxOrder(v.query("sort"))
	b.Sized = slices.Contains(all, query.OrderBySize)
	if b.By != "" && !slices.Contains(all, b.By) {
		return "", model.Errorf(model.Usage, "bad_value", "sort %q: expected one of %v", b.By, all)
	}
	base := v.URL("block", b.Hash)
	for _, by := range append([]query.TxOrder{""}, all...) {
		row := navLink{link{base, orderNames[by]}, by == b.By}
		if by != "" {
			row.URL = withQuery(base, "sort="+string(by))
		}
		if row.Current {
			path = row.URL
		}
		row.URL += "#txs"
		b.Orders = append(b.Orders, row)
	}
	if b.TxCount < 2 {
		b.Orders = nil
	}
	return path, nil
}

var orderNames = map[query.TxOrder]string{
	"": "block order", query.OrderByValue: "total output", query.OrderByFee: "fee", query.OrderByFeeRate: "fee rate",
	query.OrderBySize: "size",
}

// blockSums adds the sums of a block and its reward.
func (v *visit) blockSums(b *blockBody) (err error) {
	if b.Totals, err = v.totals(b); err != nil {
		return err
	}
	traits := v.chain.Model.Traits()
	if !traits.Coinbase && !traits.FeeOutputs || b.TxCount == 0 {
		return nil
	}
	hashes, err := v.BlockTxHashes(v.ctx, b.Height, []int{0})
	if err != nil {
		return err
	}
	first, err := v.Tx(v.ctx, hashes[0])
	switch {
	case err != nil:
		return err
	case first.Coinbase:
		b.Coinbase, b.Reward = first, formatTotal(first.Outputs)
		if name := poolOf(first.CoinbaseText); name != "" {
			b.Pool = link{v.producerURL(b.Height, name), name}
		}
	case len(first.Inputs) > 0 && len(first.Outputs) > 1 && v.sameOwner(&first.Inputs[0].Output, &first.Outputs[0]):
		b.Reward = formatTotal(first.Outputs[1:]) // Ergo: the first transaction pays it out of the emission box, which it recreates
	}
	return nil
}

// sameOwner reports whether two outputs have the same address.
func (v *visit) sameOwner(a, b *query.OutputAnswer) bool {
	x, y := v.owner(a), v.owner(b)
	return len(x) > 0 && slices.Equal(x, y)
}

// blockFields adds the miner and the fields of the header.
func (v *visit) blockFields(b *blockBody) error {
	if b.Coinbase != nil {
		for _, o := range v.owner(&b.Coinbase.Outputs[0]) {
			b.Fields = append(b.Fields, field{"paid to", o.Text, o.URL, o.Label})
		}
	}
	if v.chain.Model.Traits().Coinbase {
		median, err := v.medianTime(b.Height)
		if err != nil {
			return err
		}
		b.Median = &median
	}
	for _, f := range humanize.Header(b.Header) {
		row := field{Name: f[0], Value: f[1]}
		switch row.Name {
		case "miner":
			row.URL = v.ValueLink("address", row.Value).URL
		case "pool":
			row.URL = v.producerURL(b.Height, row.Value)
		}
		b.Fields = append(b.Fields, row)
	}
	return nil
}

// medianTime returns the median of the times of a block and the ten before it (BIP 113).
func (v *visit) medianTime(height uint32) (m moment, err error) {
	to := model.HeightPk(height)
	from := to - min(to, 10)
	newest, err := v.Blocks(v.ctx, query.Range{FromHeight: &from, ToHeight: &to}, query.Page{Limit: 11})
	if err != nil {
		return m, err
	}
	var times []int64
	for _, x := range newest.Blocks {
		times = append(times, x.Time)
	}
	slices.Sort(times)
	return v.Moment(times[len(times)/2]), nil
}

// maxWeight is the maximum weight of a block (BIP 141).
const maxWeight = 4_000_000

// Fill returns the part of the maximum weight that the block has.
func (b *blockBody) Fill() string {
	return fmt.Sprintf("%.1f%%", 100*float64(b.Totals.Weight)/maxWeight)
}

// txRows returns the transactions at positions of a block; bare: they have too many inputs and outputs to read.
func (v *visit) txRows(height uint32, at []int) (txs []*query.TxAnswer, bare bool, err error) {
	hashes, err := v.BlockTxHashes(v.ctx, height, at)
	if err != nil {
		return nil, false, err
	}
	txs, err = v.Txs(v.ctx, hashes)
	if _, code := model.KindOf(err); code != "too_many" {
		return txs, false, err
	}
	for i, n := range at {
		txs = append(txs, &query.TxAnswer{Hash: hashes[i], Index: n})
	}
	return txs, true, nil
}

// numbered returns a page of a list of n entries, and its pager. Pages count from 1.
func numbered(base, parameter string, part, n, size int) (from, to int, pg pager, err error) {
	parts := max(1, (n+size-1)/size)
	if part < 1 || part > parts {
		return 0, 0, pg, model.Errorf(model.NotFound, "unknown_page", "no %s %d: the last is %d", parameter, part, parts)
	}
	from, to = (part-1)*size, min(part*size, n)
	at := func(part int) string {
		if part == 1 {
			return base
		}
		return withQuery(base, parameter+"="+strconv.Itoa(part))
	}
	pg = pager{NewerText: "Previous", OlderText: "Next"}
	if part > 1 {
		pg.First, pg.Newer = at(1), at(part-1)
	}
	if part < parts {
		pg.Older = at(part + 1)
	}
	if parts > 1 {
		pg.Here = humanize.Count(from+1) + " to " + humanize.Count(to) + " of " + humanize.Count(n)
	}
	return from, to, pg, nil
}
