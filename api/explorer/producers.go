package explorer

import (
	"cmp"
	"context"
	"html/template"
	"maps"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	producerBlocks  = 144  // of the chart: a day of Bitcoin
	producerShares  = 10   // of the chart: the largest
	producedBlocks  = 1008 // of the pages of producers: a week of Bitcoin
	producedShares  = 100  // of the page of all producers
	producerList    = 50   // newest blocks on the page of a producer
	coinbasesAtOnce = 100
)

// production is the newest blocks by their producers: the stake pool or the miner that headers name, or else the mining
// pool that coinbases name, which only raw transactions have.
type production struct {
	Blocks []produced // newest first; empty: no producer is known, or it takes too long
	Index  string     // that has values with the names of the producers; empty: none
}

// produced is a block and its producer.
type produced struct {
	Height uint32
	Hash   string
	Time   int64
	Txs    int
	Size   int
	Name   string // of the producer; empty: unknown
}

// production reads the newest n blocks. late: it took too long.
func (v *visit) production(n int) (p production, late bool, err error) {
	if v.Tip.IsOrigin() {
		return p, false, nil
	}
	late, err = v.within(blockPatience, func(ctx context.Context) error {
		if err := v.headers(ctx, &p, n); err != nil {
			return err
		}
		if p.Index == "" && v.chain.Model.Traits().Coinbase {
			return v.coinbases(ctx, &p)
		}
		return nil
	})
	if late || err != nil || !slices.ContainsFunc(p.Blocks, func(b produced) bool { return b.Name != "" }) {
		return production{}, late, err
	}
	return p, false, nil
}

// headers adds the newest n blocks with the producers that their headers name.
func (v *visit) headers(ctx context.Context, p *production, n int) error {
	return v.From(ctx, func(q *query.Query) error {
		if err := q.Pass(n); err != nil {
			return err
		}
		for h := v.Tip.Height; len(p.Blocks) < n; h-- {
			row, err := schema.BlockAt(q.R, h)
			if kind, _ := model.KindOf(err); kind == model.NotFound {
				return nil // the first block of some chains is higher
			}
			if err != nil {
				return err
			}
			header, err := v.chain.Model.Header(row.Header)
			if err != nil {
				return err
			}
			b := produced{Height: uint32(h), Hash: v.chain.Model.FormatHash(row.Hash), Time: row.Time, Txs: row.TxCount, Size: row.Size}
			for _, f := range humanize.Header(header) {
				if f[0] == "miner" || f[0] == "pool" {
					b.Name = f[1]
					p.Index = map[string]string{"miner": "address", "pool": "pool"}[f[0]]
				}
			}
			p.Blocks = append(p.Blocks, b)
			if h == 0 {
				return nil
			}
		}
		return nil
	})
}

// coinbases adds the mining pools that coinbases name. Those of blocks that were read before are kept.
func (v *visit) coinbases(ctx context.Context, p *production) error {
	kept := &v.site.sums[v.chain].pools
	var missing []*produced
	for i := range p.Blocks {
		b := &p.Blocks[i]
		var ok bool
		if b.Name, ok = kept.Get(b.Hash); !ok {
			missing = append(missing, b)
		}
	}
	for part := range slices.Chunk(missing, coinbasesAtOnce) {
		hashes, err := v.firstTxs(ctx, part)
		if err != nil {
			return err
		}
		txs, err := v.Txs(ctx, hashes)
		if err != nil {
			return err
		}
		for i, t := range txs {
			if t != nil && t.CoinbaseText == "" && v.lacksRaw() {
				return nil // no block names one
			}
			if t != nil {
				part[i].Name = poolOf(t.CoinbaseText)
			}
			kept.Put(part[i].Hash, part[i].Name)
		}
	}
	return nil
}

// firstTxs returns the hash of the first transaction of each block.
func (v *visit) firstTxs(ctx context.Context, blocks []*produced) (hashes []string, err error) {
	err = v.From(ctx, func(q *query.Query) error {
		keys := make([][]byte, len(blocks))
		for i, b := range blocks {
			keys[i] = q.FirstPk(model.HeightPk(b.Height)).AppendTo(nil)
		}
		rows, err := q.R.GetMany(schema.FamilyTxHash, keys)
		if err != nil {
			return err
		}
		for _, row := range rows {
			hash := model.Hash{}
			if row != nil {
				if hash, _, err = schema.ParseTxHashRow(row); err != nil {
					return err
				}
			}
			hashes = append(hashes, v.chain.Model.FormatHash(hash))
		}
		return nil
	})
	return hashes, err
}

// producers draws who produced the newest blocks. Empty if no block names its producer, or if they take too long.
func (v *visit) producers() (template.HTML, error) {
	p, late, err := v.production(producerBlocks)
	if late || err != nil || len(p.Blocks) == 0 {
		return "", err
	}
	return v.producerChart(&p, producerShares)
}

// producerChart draws the blocks by producer, largest first.
func (v *visit) producerChart(p *production, most int) (template.HTML, error) {
	counts := map[string]int{}
	for _, b := range p.Blocks {
		counts[b.Name]++
	}
	others := counts[""]
	delete(counts, "")
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	s := charts.Shares{ID: "producers", Title: "Producers of the newest " + humanize.Plural(len(p.Blocks), "block"), Name: "Producer", Value: "Blocks"}
	for i, name := range names {
		n := counts[name]
		if i >= most {
			others += n
			continue
		}
		s.Parts = append(s.Parts, charts.Part{Name: name, Value: humanize.Count(n), Size: float64(n), Link: v.URL("producers", name)})
	}
	if others > 0 {
		s.Parts = append(s.Parts, charts.Part{Name: "others or unknown", Value: humanize.Count(others), Size: float64(others), Rest: true})
	}
	return s.HTML()
}

// producersBody is the producers of the newest blocks.
type producersBody struct {
	Chart template.HTML // empty: unknown
	Late  bool          // it took too long
}

// allProducers is the page of the producers of the newest blocks.
func (v *visit) allProducers() (*page, error) {
	p, late, err := v.production(producedBlocks)
	if err != nil {
		return nil, err
	}
	b := &producersBody{Late: late}
	if len(p.Blocks) > 0 {
		if b.Chart, err = v.producerChart(&p, producedShares); err != nil {
			return nil, err
		}
	}
	unknown := len(p.Blocks) == 0 && !late && v.chain.Model.Traits().Coinbase // coinbases name mining pools
	return &page{Kind: "producers", Title: "Producers of blocks", Section: "charts", Body: b, LacksRaw: unknown && v.lacksRaw(),
		Description: "Who produced the newest blocks of " + titleOf(v.chain.Model) + ": stake pools, miners or mining pools.",
		Crumbs:      []link{{v.URL("charts"), "Charts"}, {Text: "Producers"}}}, nil
}

// producersURL returns the path of the page of the producers of blocks; empty if neither the newest header names one nor
// a coinbase can.
func (v *visit) producersURL() (string, error) {
	if v.Tip.IsOrigin() {
		return "", nil
	}
	var p production
	if err := v.headers(v.ctx, &p, 1); err != nil {
		return "", err
	}
	if p.Index == "" && !v.chain.Model.Traits().Coinbase {
		return "", nil
	}
	return v.URL("producers"), nil
}

// producerURL returns the path of the page of the producer of a block; empty if the block is older than the blocks that
// the page counts.
func (v *visit) producerURL(height uint32, name string) string {
	if uint32(v.Tip.Height)-height >= producedBlocks {
		return ""
	}
	return v.URL("producers", name)
}

// producerBody is a producer of blocks.
type producerBody struct {
	Name  string
	Value link // of the index with its name; empty: none
	Stats []stat
	List  []produced // newest first
	More  int        // that List lacks
}

// producer is the page of a producer of blocks.
func (v *visit) producer() (*page, error) {
	name := v.req.PathValue("name")
	p, late, err := v.production(producedBlocks)
	if err != nil {
		return nil, err
	}
	if late {
		return nil, model.Errorf(model.Refused, "overloaded", "the newest blocks take too long to read now: reload the page")
	}
	b := &producerBody{Name: name}
	txs, count := 0, 0
	for _, x := range p.Blocks {
		if x.Name != name || name == "" {
			continue
		}
		txs += x.Txs
		if count++; count <= producerList {
			b.List = append(b.List, x)
		}
	}
	if count == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_producer", "no producer %q of the newest %s", name, humanize.Plural(producedBlocks, "block"))
	}
	b.More = count - len(b.List)
	of := "of the newest " + humanize.Count(len(p.Blocks))
	b.Stats = []stat{
		{Name: "Blocks", Value: humanize.Count(count), Note: of},
		{Name: "Share", Value: charts.Share(100 * float64(count) / float64(len(p.Blocks)))},
		{Name: "Last block", Value: humanize.Count(b.List[0].Height), URL: v.BlockLink(b.List[0].Hash).URL, Note: v.Moment(b.List[0].Time).Ago},
		{Name: "Transactions", Value: humanize.Count(txs), Note: charts.Short(float64(txs)/float64(count)) + " per block"},
	}
	if p.Index != "" {
		known, err := v.indexes()
		if err != nil {
			return nil, err
		}
		if slices.Contains(known, p.Index) {
			b.Value = v.ValueLink(p.Index, name)
		}
	}
	title := name
	if p.Index != "" {
		title = "Producer of blocks"
	}
	return &page{Kind: "producer", Title: title, Section: "charts", Body: b,
		Description: "Newest blocks of the producer " + name + " on " + titleOf(v.chain.Model) + ".",
		Crumbs:      []link{{v.URL("charts"), "Charts"}, {v.URL("producers"), "Producers"}, {Text: "Producer"}}}, nil
}
