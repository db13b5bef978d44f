package core_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// refBlock is the numbers of a block, by series. A nil number is unknown.
type refBlock struct {
	*model.Block
	sums   map[string]*big.Int
	values map[string]map[string]bool // by index: the values in outputs that it creates or spends
	born   map[string]int
}

// refBlocks computes the numbers of all blocks.
func (r *reference) refBlocks() (all []*refBlock) {
	seen := map[string]bool{}
	unspent, supply := new(big.Int), new(big.Int)
	assets := map[string]bool{}
	for n, b := range r.blocks {
		x := &refBlock{Block: b, sums: map[string]*big.Int{}, values: map[string]map[string]bool{}, born: map[string]int{}}
		all = append(all, x)
		add := func(name string, n *big.Int) {
			if x.sums[name] == nil {
				x.sums[name] = new(big.Int)
			}
			x.sums[name].Add(x.sums[name], n)
		}
		one := func(name string, n int) { add(name, big.NewInt(int64(n))) }
		for _, name := range []string{"inputs", "outputs", "fees", "input_value", "output_value", "new_assets", "mints", "burns"} {
			one(name, 0)
		}
		one("blocks", 1)
		one("transactions", len(b.Txs))
		one("size", b.Size)
		known := true
		for _, t := range r.txs {
			if t.block != b && (t.block != nil || n > 0) { // the genesis is part of the first block
				continue
			}
			in, out := new(big.Int), new(big.Int)
			for _, list := range [][]*refOutput{t.spends, t.outputs} {
				for _, o := range list {
					for _, k := range o.Keys {
						name := r.indexes[k.Index].Name
						if x.values[name] == nil {
							x.values[name] = map[string]bool{}
						}
						x.values[name][string(k.Value)] = true
						if key := name + "|" + string(k.Value); !seen[key] {
							seen[key] = true
							x.born[name]++
						}
					}
				}
			}
			for _, o := range t.spends {
				in.Add(in, new(big.Int).SetUint64(o.Value))
			}
			for _, o := range t.outputs {
				out.Add(out, new(big.Int).SetUint64(o.Value))
				for _, a := range o.Assets {
					if id := string(a.ID); a.Amount > 0 && !assets[id] {
						assets[id] = true
						one("new_assets", 1)
					}
				}
			}
			one("inputs", len(t.spends))
			one("outputs", len(t.outputs))
			add("input_value", in)
			add("output_value", out)
			unspent.Add(unspent, big.NewInt(int64(len(t.outputs)-len(t.spends))))
			supply.Add(supply, out).Sub(supply, in)
			for _, amount := range t.mints {
				switch amount.Sign() {
				case 1:
					one("mints", 1)
				case -1:
					one("burns", 1)
				}
			}
			switch {
			case t.block == nil:
			case t.Fee.Stated:
				add("fees", new(big.Int).SetUint64(t.Fee.Amount))
			case len(t.spends) == 0:
			case in.Cmp(out) < 0 || r.traits.FeeOutputs:
				known = false
			default:
				add("fees", in.Sub(in, out))
			}
		}
		x.sums["unspent_outputs"], x.sums["supply"] = new(big.Int).Set(unspent), new(big.Int).Set(supply)
		if !known {
			x.sums["fees"] = nil
		}
	}
	return all
}

func (b *refBlock) day() time.Time { return time.Unix(b.Time, 0).UTC().Truncate(24 * time.Hour) }

// statistics returns the numbers of a series; blocks are those of [reference.refBlocks].
func (r *reference) statistics(blocks []*refBlock, name, unit string) (all []query.StatisticAnswer) {
	text := func(n *big.Int) *string {
		if n == nil {
			return nil
		}
		s := n.String()
		return &s
	}
	index, part, ofValues := strings.Cut(name, ".")
	if unit == "block" {
		for _, b := range blocks {
			height, n := uint32(b.Height), b.sums[name]
			if ofValues {
				if n = big.NewInt(int64(len(b.values[index]))); part == "new" {
					n = big.NewInt(int64(b.born[index]))
				}
			}
			all = append(all, query.StatisticAnswer{Height: &height, From: b.Time, To: b.Time, Value: text(n)})
		}
		return all
	}
	days := map[time.Time][]*refBlock{}
	var sorted []time.Time
	for _, b := range blocks {
		if days[b.day()] == nil {
			sorted = append(sorted, b.day())
		}
		days[b.day()] = append(days[b.day()], b)
	}
	slices.SortFunc(sorted, time.Time.Compare)
	type period struct {
		from, to time.Time
		n        *big.Int
		days     int
	}
	var periods []*period
	total := new(big.Int) // unspent outputs or their value, over the days so far
	for _, day := range sorted {
		from, to := day, day.AddDate(0, 0, 1)
		switch unit {
		case "week":
			from = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
			to = from.AddDate(0, 0, 7)
		case "month":
			from = time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
			to = from.AddDate(0, 1, 0)
		}
		n, active, known := new(big.Int), map[string]bool{}, true
		for _, b := range days[day] {
			switch {
			case ofValues:
				if part == "new" {
					n.Add(n, big.NewInt(int64(b.born[index])))
				}
				for value := range b.values[index] {
					active[value] = true
				}
			case name == "unspent_outputs":
				total.Add(total, b.sums["outputs"]).Sub(total, b.sums["inputs"])
			case name == "supply":
				total.Add(total, b.sums["output_value"]).Sub(total, b.sums["input_value"])
			case b.sums[name] == nil:
				known = false
			default:
				n.Add(n, b.sums[name])
			}
		}
		if part == "active" {
			n.SetInt64(int64(len(active)))
		}
		if ofValues && len(active) == 0 {
			continue // a day without values
		}
		if len(periods) == 0 || periods[len(periods)-1].from != from {
			periods = append(periods, &period{from: from, to: to, n: new(big.Int)})
		}
		p := periods[len(periods)-1]
		p.days++
		switch {
		case name == "unspent_outputs" || name == "supply":
			p.n.Set(total)
		case !known:
			p.n = nil
		case p.n != nil:
			p.n.Add(p.n, n)
		}
	}
	for _, p := range periods {
		if part == "active" {
			p.n.Quo(p.n, big.NewInt(int64(p.days)))
		}
		all = append(all, query.StatisticAnswer{From: p.from.Unix(), To: p.to.Unix() - 1, Value: text(p.n)})
	}
	return all
}

// checkStatistics compares all series of a database of the blocks with the reference, in pages of random sizes.
func checkStatistics(t *testing.T, db *core.DB, v modeltest.Variant, blocks []*model.Block, rng *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	r := newReference(v, blocks)
	numbers := r.refBlocks()
	names, err := db.StatisticsNames(ctx)
	if err != nil || len(names.Series) < 13+2*3 {
		t.Fatalf("%d series: %v", len(names.Series), err)
	}
	var all []string
	for _, s := range names.Series {
		all = append(all, s.Name)
	}
	together := map[string][]query.StatisticsAnswer{} // by unit
	for _, unit := range query.StatisticsUnits[1:] {
		if together[unit], err = db.StatisticsOf(ctx, all, unit, query.Range{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range names.Series {
		if v.Tokens && (s.Name == "new_assets" || s.Name == "mints" || s.Name == "burns") {
			continue // the reference has no births without outputs; check computes these numbers from rows
		}
		for _, unit := range query.StatisticsUnits {
			want := r.statistics(numbers, s.Name, unit)
			if list := together[unit]; list != nil {
				agree(t, fmt.Sprintf("%s by %s, with all series", s.Name, unit), list[i].Values, nil, want)
			}
			descending := rng.IntN(2) == 0
			if descending {
				slices.Reverse(want)
			}
			p := query.Page{Limit: 1 + rng.IntN(9), Descending: descending}
			got := []query.StatisticAnswer{}
			for {
				a, err := db.Statistics(ctx, s.Name, unit, query.Range{}, p)
				if err != nil {
					t.Fatalf("%s by %s: %v", s.Name, unit, err)
				}
				if got = append(got, a.Values...); a.Next == nil {
					break
				}
				p.After = *a.Next
			}
			agree(t, fmt.Sprintf("%s by %s, descending %t", s.Name, unit, descending), got, nil, want)
		}
	}
}

// The statistics of blocks and periods are those of the blocks, after appends, reorganizations and restarts, whatever is
// in memory.
func TestStatistics(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		if !v.Statistics {
			t.Skip("databases of the variant keep no statistics")
		}
		rng := testseed.Rand(t)
		store := memory.New()
		db := open(t, store, v, 1<<16)
		generators := []*modeltest.Generator{v.NewGenerator(rng.Uint64())} // after each number of blocks
		var blocks []*model.Block
		grow := func(n, batch int) {
			var added []*model.Block
			for range n {
				g := generators[len(generators)-1].Fork(rng.Uint64())
				added, generators = append(added, g.Next()), append(generators, g)
			}
			appendAll(t, db, added, batch)
			blocks = append(blocks, added...)
		}
		grow(30, 4)
		checkStatistics(t, db, v, blocks, rng)
		for range testrun.Amount(8, 2) {
			keep := len(blocks) - rng.IntN(min(25, len(blocks)-1))
			if rng.IntN(2) == 0 {
				keep = max(1, len(blocks)-rng.IntN(3))
			}
			blocks, generators = slices.Clone(blocks[:keep]), generators[:keep+1]
			rollback(t, db, point(blocks, keep-1))
			if rng.IntN(3) == 0 {
				db = open(t, store, v, 1<<16)
			}
			grow(1+rng.IntN(20), 1+rng.IntN(6))
			checkStatistics(t, db, v, blocks, rng)
			consistent(t, db)
		}
	})
}
