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
	producerBlocks = 144 // a day of Bitcoin
	producerShares = 10  // of the largest
)

// producers draws who produced the newest blocks: the stake pool or the miner that headers name, or else the mining pool
// that coinbases name, which only raw transactions have. Empty if no block names one, or if they take too long.
func (v *visit) producers() (html template.HTML, err error) {
	if v.Tip.IsOrigin() {
		return "", nil
	}
	counts, index, total := map[string]int{}, "", 0
	late, err := v.patiently(func(ctx context.Context) error {
		return v.From(ctx, func(q *query.Query) error {
			if err := q.Pass(producerBlocks); err != nil {
				return err
			}
			first := v.Tip.Height - min(v.Tip.Height, producerBlocks-1)
			for h := first; h <= v.Tip.Height; h++ {
				row, err := schema.BlockAt(q.R, h)
				if kind, _ := model.KindOf(err); kind == model.NotFound {
					continue // the first block of some chains is higher
				}
				if err != nil {
					return err
				}
				header, err := v.chain.Model.Header(row.Header)
				if err != nil {
					return err
				}
				total++
				for _, f := range humanize.Header(header) {
					if f[0] == "miner" || f[0] == "pool" {
						counts[f[1]]++
						index = map[string]string{"miner": "address", "pool": "pool"}[f[0]]
					}
				}
			}
			return nil
		})
	})
	if !late && err == nil && len(counts) == 0 && v.chain.Model.Traits().Coinbase {
		late, err = v.patiently(func(ctx context.Context) error { return v.minersOf(ctx, counts) })
	}
	if late || err != nil || len(counts) == 0 {
		return "", err
	}
	return v.producerChart(counts, index, total)
}

// minersOf counts the newest blocks by the mining pool that their coinbases name.
func (v *visit) minersOf(ctx context.Context, counts map[string]int) error {
	var hashes []string
	err := v.From(ctx, func(q *query.Query) error {
		var keys [][]byte
		for h := v.Tip.Height - min(v.Tip.Height, producerBlocks-1); h <= v.Tip.Height; h++ {
			keys = append(keys, q.FirstPk(h).AppendTo(nil))
		}
		rows, err := q.R.GetMany(schema.FamilyTxHash, keys)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row == nil {
				continue
			}
			hash, _, err := schema.ParseTxHashRow(row)
			if err != nil {
				return err
			}
			hashes = append(hashes, v.chain.Model.FormatHash(hash))
		}
		return nil
	})
	if err != nil {
		return err
	}
	txs, err := v.Txs(ctx, hashes)
	if err != nil {
		return err
	}
	for _, t := range txs {
		if t != nil && t.CoinbaseText != "" {
			counts[poolOf(t.CoinbaseText)]++
		}
	}
	if len(counts) == 1 && counts[""] > 0 {
		clear(counts) // no pool is known
	}
	return nil
}

// producerChart draws counts of blocks by producer, largest first. index has values of their names; empty: none.
func (v *visit) producerChart(counts map[string]int, index string, total int) (template.HTML, error) {
	unknown := total
	for _, n := range counts {
		unknown -= n
	}
	unknown += counts[""]
	delete(counts, "")
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	s := charts.Shares{ID: "producers", Title: "Producers of the newest " + humanize.Plural(total, "block"), Name: "Producer", Value: "Blocks"}
	linked := false
	if index != "" {
		known, err := v.indexes()
		if err != nil {
			return "", err
		}
		linked = slices.Contains(known, index)
	}
	others := unknown
	for i, name := range names {
		n := counts[name]
		if i >= producerShares {
			others += n
			continue
		}
		p := charts.Part{Name: name, Value: humanize.Count(n), Size: float64(n)}
		if linked {
			p.Link = v.ValueLink(index, name).URL
		}
		s.Parts = append(s.Parts, p)
	}
	if others > 0 {
		s.Parts = append(s.Parts, charts.Part{Name: "others or unknown", Value: humanize.Count(others), Size: float64(others), Rest: true})
	}
	return s.HTML()
}
