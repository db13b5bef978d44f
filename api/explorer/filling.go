package explorer

import (
	"cmp"
	"context"
	"html/template"
	"math"
	"slices"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// filling is the sizes and fee rates of the transactions of a block.
type filling struct {
	Size  int64      // of all, in virtual bytes, or in bytes on chains without weight
	Rates [3]float64 // below which a tenth, a half and nine tenths of the size is
	Paid  bool       // Rates are known
}

const (
	keptFillings = 4096    // blocks
	keptMaps     = 8 << 20 // bytes
)

// fillingOf returns the filling of transactions.
func fillingOf(txs []query.TxFilling) *filling {
	type part struct {
		rate float64
		size int64
	}
	f, paid := &filling{}, int64(0)
	var parts []part
	for _, t := range txs {
		f.Size += t.Size
		if t.Paid && t.Size > 0 {
			parts = append(parts, part{float64(t.Fee) / float64(t.Size), t.Size})
			paid += t.Size
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.rate, b.rate) })
	for i, share := range []float64{0.1, 0.5, 0.9} {
		below := int64(math.Ceil(share * float64(paid)))
		for _, p := range parts {
			if f.Rates[i] = p.rate; below <= p.size {
				break
			}
			below -= p.size
		}
	}
	f.Paid = len(parts) > 0
	return f
}

// fill adds the fee rates of a block, and its treemap.
func (v *visit) fill(b *blockBody) error {
	if !b.Sized || b.TxCount < 2 || b.Totals == nil {
		return nil
	}
	sums := v.site.sums[v.chain]
	html, drawn := sums.maps.Get(b.Hash)
	f, known := sums.fillings.Get(b.Hash)
	if !drawn || !known {
		late, err := v.within(blockPatience, func(ctx context.Context) (err error) {
			if b.filling == nil {
				if _, b.filling, err = v.BlockFilling(ctx, b.Height); err != nil {
					return err
				}
			}
			f = fillingOf(b.filling)
			html, err = v.treemap(b, b.filling)
			return err
		})
		if late || err != nil || b.filling == nil {
			return err
		}
		sums.fillings.Put(b.Hash, f)
		sums.maps.Put(b.Hash, html)
	}
	b.Map = html
	if f.Paid && v.chain.Model.Traits().BlockVSize > 0 {
		b.Rates = "median " + v.rateOf(f.Rates[1]) + "; 10% of the size below " + charts.Short(f.Rates[0]) + ", 10% above " + charts.Short(f.Rates[2])
	}
	return nil
}

// treemap draws the transactions of a block by size. Colors are fee rates if miners select by them, and amounts otherwise.
func (v *visit) treemap(b *blockBody, txs []query.TxFilling) (template.HTML, error) {
	byRate := v.chain.Model.Traits().BlockVSize > 0
	groups := make([]charts.Group, len(tiers)+1)
	for i, t := range txs {
		if byRate && !t.Paid {
			continue // a coinbase
		}
		tier := 0
		if byRate {
			tier = tierOf(rateOf(&t))
		} else {
			tier = v.amountTier(t.Value)
		}
		groups[tier].Cells = append(groups[tier].Cells, charts.Cell{Size: float64(t.Size), At: i})
	}
	describe := func(at []int) ([]charts.Description, error) {
		hashes, err := v.BlockTxHashes(v.ctx, b.Height, at)
		if err != nil {
			return nil, err
		}
		list := make([]charts.Description, len(at))
		for i, n := range at {
			t, text := &txs[n], humanize.Count(txs[n].Size)+" "+v.byteUnit()
			if byRate {
				text += ", " + v.rateOf(rateOf(t))
			} else {
				text += ", " + v.brief(format.Integer(t.Value))
			}
			list[i] = charts.Description{Text: text, Link: v.TxLink(hashes[i]).URL}
		}
		return list, nil
	}
	if byRate {
		return v.rateMap("Filling by fee rate", groups, describe)
	}
	for i := range groups {
		groups[i].Name = between(i, amountTiers, v.unit.Symbol)
	}
	return treemapOf("Filling by amount", "the sum of its outputs", groups, describe)
}

// rateOf returns the fee rate of a transaction.
func rateOf(t *query.TxFilling) float64 { return float64(t.Fee) / float64(max(1, t.Size)) }

// rateMap draws transactions in groups by [tierOf] of their fee rates.
func (v *visit) rateMap(title string, groups []charts.Group, describe func([]int) ([]charts.Description, error)) (template.HTML, error) {
	for i := range groups {
		groups[i].Name = between(i, tiers, v.rateUnit())
	}
	return treemapOf(title, "its fee rate", groups, describe)
}

// treemapOf draws groups, the last one first.
func treemapOf(title, color string, groups []charts.Group, describe func([]int) ([]charts.Description, error)) (template.HTML, error) {
	for i := range groups {
		groups[i].Tier = i
	}
	slices.Reverse(groups)
	m := charts.Treemap{ID: "filling", Title: title, Unit: "transaction", Groups: groups, Describe: describe,
		Text: "The area of a transaction is its size, its color " + color + "."}
	return m.HTML()
}

// amountTiers are the lowest amounts of the colors of transactions, in units of the coin.
var amountTiers = []float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}

func (v *visit) amountTier(value string) (tier int) {
	n := format.Scaled(format.Integer(value), v.unit)
	for tier < len(amountTiers) && n >= amountTiers[tier] {
		tier++
	}
	return tier
}

// between names the range below bounds[i], and from the bound before it.
func between(i int, bounds []float64, unit string) (name string) {
	switch {
	case i == 0:
		name = "below " + charts.Short(bounds[0])
	case i == len(bounds):
		name = charts.Short(bounds[i-1]) + " or more"
	default:
		name = charts.Short(bounds[i-1]) + " to " + charts.Short(bounds[i])
	}
	if unit == "" {
		return name
	}
	return name + " " + unit
}

// fillings returns the fillings of blocks that are known, or that read has time for; the last block is read first. The
// others are nil, and those whose file the node no longer has.
func (v *visit) fillings(blocks []sample, read reader) (list []*filling, err error) {
	kept := &v.site.sums[v.chain].fillings
	list = make([]*filling, len(blocks))
	hashes := make([]string, len(blocks))
	missing := false
	for i := range blocks {
		hashes[i] = v.chain.Model.FormatHash(blocks[i].Hash)
		list[i], _ = kept.Get(hashes[i])
		missing = missing || list[i] == nil
	}
	if !missing {
		return list, nil
	}
	_, err = read(func(ctx context.Context) error {
		for i := range slices.Backward(blocks) {
			if list[i] != nil {
				continue
			}
			_, txs, err := v.BlockFilling(ctx, uint32(blocks[i].height))
			if err != nil {
				return err
			}
			if txs != nil {
				list[i] = fillingOf(txs)
				kept.Put(hashes[i], list[i])
			}
		}
		return nil
	})
	return list, err
}

// comparison is the difference between a block and the projected one.
type comparison struct {
	Stats   []stat
	Missing []compared
	Added   []compared
}

// compared is a transaction that is in one of the two blocks only.
type compared struct {
	Hash  link
	Fee   amount
	Rate  string
	Place string // of the template
}

const mostCompared = 5 // transactions in each list

// compare adds the comparison of a block with the projected one, if the mempool was complete when it arrived.
func (v *visit) compare(b *blockBody) error {
	if v.chain.Mempool == nil {
		return nil
	}
	hash, err := v.chain.Model.ParseHash(b.Hash)
	if err != nil {
		return err
	}
	a := v.chain.Mempool.Audit(hash)
	if a == nil {
		return nil
	}
	c := &comparison{}
	match := "none"
	if a.Expected.VSize > 0 {
		match = charts.Share(100 * float64(a.Both.VSize) / float64(a.Expected.VSize))
	}
	amountOf := func(fees uint64) string { return v.brief(format.Integer(strconv.FormatUint(fees, 10))) }
	c.Stats = []stat{
		{Name: "As projected", Value: match, Note: humanize.Plural(a.Both.Count, "transaction") + " of " + humanize.Count(a.Expected.Count)},
		{Name: "Missing", Value: humanize.Plural(a.Missing.Count, "transaction"), Note: amountOf(a.Missing.Fees) + " of fees"},
		{Name: "Added", Value: humanize.Plural(a.Added.Count, "transaction"), Note: amountOf(a.Added.Fees) + " of fees"},
	}
	unknown := a.Unknown
	if b.Coinbase != nil {
		unknown--
	}
	c.Stats = append(c.Stats, stat{Name: "Not in the mempool", Value: humanize.Plural(max(0, unknown), "transaction"), Note: "without the coinbase"})
	for _, t := range a.MissingTxs[:min(len(a.MissingTxs), mostCompared)] {
		c.Missing = append(c.Missing, compared{Hash: v.TxLink(v.chain.Model.FormatHash(t.ID)), Fee: v.Amount(strconv.FormatUint(t.Fee, 10)), Rate: v.rateOf(t.Rate)})
	}
	for _, t := range a.AddedTxs[:min(len(a.AddedTxs), mostCompared)] {
		row := compared{Hash: v.TxLink(v.chain.Model.FormatHash(t.ID)), Fee: v.Amount(strconv.FormatUint(t.Fee, 10)), Rate: v.rateOf(t.Rate),
			Place: "after all projected blocks"}
		if t.Block > 0 {
			row.Place = "block " + strconv.Itoa(t.Block+1)
		}
		c.Added = append(c.Added, row)
	}
	b.Compared = c
	return nil
}
