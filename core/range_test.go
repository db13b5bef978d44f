package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// between returns the blocks of a range by definition: it examines every block.
func between(blocks []*model.Block, r query.Range) (from, to model.HeightPk, ok bool) {
	from, to = 0, blocks[len(blocks)-1].Height
	if r.FromHeight != nil {
		from = *r.FromHeight
	}
	if r.ToHeight != nil {
		to = min(to, *r.ToHeight)
	}
	ok = r.FromTime == nil || r.ToTime == nil || *r.FromTime <= *r.ToTime
	if ok && r.FromTime != nil {
		i := slices.IndexFunc(blocks, func(b *model.Block) bool { return b.Time >= *r.FromTime })
		if ok = i >= 0; ok {
			from = max(from, blocks[i].Height)
		}
	}
	if ok && r.ToTime != nil {
		last := -1
		for i, b := range blocks {
			if b.Time <= *r.ToTime {
				last = i
			}
		}
		if ok = ok && last >= 0; ok {
			to = min(to, blocks[last].Height)
		}
	}
	return from, to, ok && from <= to
}

// anyRange returns a random range with one to four bounds. Some ranges contain no block.
func anyRange(rng *rand.Rand, blocks []*model.Block) (r query.Range) {
	height := func() *model.HeightPk {
		h := blocks[rng.IntN(len(blocks))].Height + model.HeightPk(rng.IntN(2))
		return &h
	}
	time := func() *int64 {
		t := blocks[rng.IntN(len(blocks))].Time + rng.Int64N(3) - 1
		return &t
	}
	for r == (query.Range{}) {
		if rng.IntN(3) == 0 {
			r.FromHeight = height()
		}
		if rng.IntN(3) == 0 {
			r.ToHeight = height()
		}
		if rng.IntN(3) == 0 {
			r.FromTime = time()
		}
		if rng.IntN(3) == 0 {
			r.ToTime = time()
		}
	}
	return r
}

// A list with a range equals the whole list without the entries of other blocks.
func TestRangesAreTheBlocksBetweenTheirEnds(t *testing.T) {
	ctx := context.Background()
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 730)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(40)
		for _, b := range blocks[5:] {
			b.Time += rng.Int64N(2000) - 1000 // out of order, as Bitcoin allows
		}
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		r := newReference(v, blocks)
		some, none := 0, 0
		for range 300 {
			ranged := anyRange(rng, blocks)
			from, to, ok := between(blocks, ranged)
			within := func(h uint32) bool { return ok && uint32(from) <= h && h <= uint32(to) }
			term := r.anyTerm(rng)
			p := query.Page{Limit: 1 + rng.IntN(5), Descending: rng.IntN(2) == 0}
			var got, want []string
			var err error
			what := ""
			if term.index >= 0 {
				x, value := r.indexes[term.index].Name, r.term(term).Value
				what = fmt.Sprintf("history %s %s", x, value)
				for _, a := range r.history(r.where(term.index, term.value)) {
					if within(a.Height) {
						want = append(want, text(a))
					}
				}
				for {
					var a *query.HistoryAnswer
					if a, err = db.History(ctx, x, value, ranged, p); err != nil {
						break
					}
					if got = append(got, texts(a.Txs)...); a.Next == nil {
						break
					}
					p.After = *a.Next
				}
			} else {
				id := r.term(term).Value
				what = "events of " + id
				_, events, _ := r.asset(term.value)
				for _, a := range events {
					if within(a.Height) {
						want = append(want, text(a))
					}
				}
				for {
					var a *query.AssetEventsAnswer
					if a, err = db.AssetEvents(ctx, id, ranged, p); err != nil {
						break
					}
					if got = append(got, texts(a.Events)...); a.Next == nil {
						break
					}
					p.After = *a.Next
				}
			}
			if p.Descending {
				slices.Reverse(want)
			}
			switch {
			case !ok:
				none++
				if k, c := model.KindOf(err); k != model.Usage || c != "bad_range" && c != "empty_range" {
					t.Fatalf("%s, %v, which has no block: %v", what, ranged, err)
				}
			case err != nil || !slices.Equal(got, want):
				t.Fatalf("%s, %v, blocks %d to %d: %v\n%s\nexpected\n%s", what, ranged, from, to, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
			case len(want) > 0:
				some++
			}
		}
		if some == 0 || none == 0 {
			t.Errorf("%d ranges have blocks, %d have none", some, none)
		}
		consistent(t, db)
	})
}

// bitcoinTimes returns block times that Bitcoin's rules allow: each is after the median of the eleven before it and
// at most two hours ahead of the network time. Miners' clocks are inaccurate, blocks come in bursts, and some gaps last
// for days.
func bitcoinTimes(rng *rand.Rand, n int) []int64 {
	now, times := int64(1_300_000_000), make([]int64, n)
	for i := range times {
		switch rng.IntN(100) {
		case 0:
			now += rng.Int64N(4 * 24 * 3600)
		case 1:
		default:
			now += int64(rng.ExpFloat64() * 600)
		}
		before := slices.Clone(times[max(0, i-11):i])
		slices.Sort(before)
		earliest := int64(0)
		if len(before) > 0 {
			earliest = before[len(before)/2] + 1
		}
		t := now
		switch rng.IntN(12) {
		case 0:
			t = now + 7200
		case 1:
			t = earliest
		default:
			t += rng.Int64N(3600) - 1800
		}
		times[i] = max(t, earliest)
	}
	return times
}

// The first and the last block of a time range are exact although block times are not monotonic.
func TestTimesOutOfOrderAreFoundExactly(t *testing.T) {
	ctx := context.Background()
	n := testseed.Of(t, 740)
	v := modeltest.Variant{Name: "empty blocks", ByHand: true}
	for round := range uint64(amount(8, 2)) {
		rng := rand.New(rand.NewPCG(n, round))
		times := bitcoinTimes(rng, 1+rng.IntN(1500))
		var blocks []*model.Block
		for i, at := range times {
			b := &model.Block{Height: model.HeightPk(i), Time: at, Hash: model.Hash{1, byte(i), byte(i >> 8)}}
			if i > 0 {
				b.Parent = blocks[i-1].Hash
			}
			blocks = append(blocks, b)
		}
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 100)
		for range 500 {
			r := anyRange(rng, blocks)
			from, to, ok := between(blocks, r)
			gotFrom, gotTo, err := ends(ctx, db, r)
			if ok != (err == nil) || ok && (gotFrom != from || min(gotTo, db.Tip().Height) != to) {
				t.Fatalf("%v of %d blocks is %d to %d, %v; expected %d to %d, %t", r, len(blocks), gotFrom, gotTo, err, from, to, ok)
			}
		}
	}
}

func TestInvalidRangesAreRejected(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 750)).Blocks(20)
	db := open(t, memory.New(), v, 0)
	at := func(h model.HeightPk) *model.HeightPk { return &h }
	when := func(t int64) *int64 { return &t }
	if _, _, err := ends(ctx, db, query.Range{FromHeight: at(0)}); code(err) != "empty_range" || !strings.Contains(err.Error(), "no blocks yet") {
		t.Errorf("a range in an empty database: %v", err)
	}
	appendAll(t, db, blocks, 7)
	tip := blocks[19].Time
	for what, c := range map[string]struct {
		r    query.Range
		code string
		says string
	}{
		"heights the wrong way round": {query.Range{FromHeight: at(5), ToHeight: at(4)}, "bad_range", "from height 5, to height 4"},
		"times the wrong way round":   {query.Range{FromTime: when(5), ToTime: when(4)}, "bad_range", "1970-01-01T00:00:05Z"},
		"above the tip":               {query.Range{FromHeight: at(20)}, "empty_range", "tip is 19"},
		"after the tip":               {query.Range{FromTime: when(tip + 1)}, "empty_range", "tip is 19"},
		"before the first":            {query.Range{ToTime: when(blocks[0].Time - 1)}, "empty_range", "tip is 19"},
		"between two blocks":          {query.Range{FromTime: when(blocks[7].Time + 1), ToTime: when(blocks[8].Time - 1)}, "empty_range", "tip is 19"},
		"ends that do not meet":       {query.Range{FromTime: when(blocks[7].Time), ToHeight: at(6)}, "empty_range", "tip is 19"},
		"times of no calendar":        {query.Range{FromTime: when(1<<63 - 1)}, "empty_range", "tip is 19"},
	} {
		if _, _, err := ends(ctx, db, c.r); kind(err) != model.Usage || code(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, expected %s with %q", what, err, c.code, c.says)
		}
	}
	if from, to, err := ends(ctx, db, query.Range{FromTime: when(-1 << 63), ToTime: when(1<<63 - 1)}); err != nil || from != 0 || to != 19 {
		t.Errorf("all times: %d to %d, %v", from, to, err)
	}
}

// ends returns the heights of the first and the last block of a range.
func ends(ctx context.Context, db *core.DB, r query.Range) (from, to model.HeightPk, err error) {
	for _, end := range []struct {
		descending bool
		to         *model.HeightPk
	}{{false, &from}, {true, &to}} {
		a, err := db.Blocks(ctx, r, query.Page{Limit: 1, Descending: end.descending})
		if err != nil {
			return 0, 0, err
		}
		if len(a.Blocks) > 0 {
			*end.to = model.HeightPk(a.Blocks[0].Height)
		}
	}
	return from, to, nil
}
