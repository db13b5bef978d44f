package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// consumer is a client of the change feed: it applies changes block by block.
type consumer struct {
	t       testing.TB
	outputs []*query.OutputAnswer
	spends  []*changes.SpendAnswer
	pending []changes.Change
	at      model.Point
}

func (c *consumer) take(e changes.Change) {
	switch {
	case e.Rollback != nil:
		c.pending, c.at = nil, *e.Rollback
		gone := func(height uint32) bool { return e.Rollback.IsOrigin() || height > uint32(e.Rollback.Height) }
		c.outputs = slices.DeleteFunc(c.outputs, func(o *query.OutputAnswer) bool { return gone(o.Height) })
		c.spends = slices.DeleteFunc(c.spends, func(s *changes.SpendAnswer) bool { return gone(s.SpentBy.Height) })
	case e.Block != nil:
		if e.Block.Height <= c.at.Height && !c.at.IsOrigin() {
			c.t.Fatalf("block %d follows block %d", e.Block.Height, c.at.Height)
		}
		if d := e.Block.Height - c.at.Height; d > changes.BlockEvery {
			c.t.Fatalf("%d blocks without an event before block %d", d, e.Block.Height)
		}
		for _, p := range c.pending {
			switch {
			case p.Output != nil:
				c.outputs = append(c.outputs, p.Output)
			case p.Spend != nil:
				known := func(o *query.OutputAnswer) bool {
					return o.Tx == p.Spend.Tx && o.Index == p.Spend.Index && o.Height == p.Spend.Height
				}
				if !slices.ContainsFunc(c.outputs, known) {
					c.t.Fatalf("%s is spent, but was never reported", text(p.Spend))
				}
				c.spends = append(c.spends, p.Spend)
			}
		}
		c.pending, c.at = nil, *e.Block
	default:
		c.pending = append(c.pending, e)
	}
}

// has checks that the consumer has exactly the matching outputs of the blocks up to its current one.
func (c *consumer) has(r *reference, what changes.Filter, in func(o *refOutput) bool) {
	c.t.Helper()
	at := func(height uint32) bool { return !c.at.IsOrigin() && height <= uint32(c.at.Height) }
	var outputs, spends, gotSpends []string
	for _, o := range r.outputs() {
		if !in(o) || !at(o.tx.height) {
			continue
		}
		a := r.output(o, false)
		a.Confirmations, a.BlockTime = 0, 0 // the event has the values at its block
		outputs = append(outputs, text(a))
		if what.Spends && o.spentBy != nil && at(o.spentBy.height) {
			spends = append(spends, text(changes.SpendAnswer{Tx: r.hash(o.tx), Index: o.index, Height: o.tx.height,
				SpentBy: query.SpentByAnswer{Tx: r.hash(o.spentBy), Input: o.input, Height: o.spentBy.height}}))
		}
	}
	for _, s := range c.spends {
		gotSpends = append(gotSpends, text(s))
	}
	slices.Sort(spends)
	slices.Sort(gotSpends)
	if got := texts(c.outputs); !slices.Equal(got, outputs) {
		c.t.Fatalf("%+v at block %d: %d outputs, expected %d\n%.1500s\n\n%.1500s", what, c.at.Height, len(got), len(outputs), strings.Join(got, "\n"), strings.Join(outputs, "\n"))
	}
	if !slices.Equal(gotSpends, spends) {
		c.t.Fatalf("%+v at block %d: %d spends, expected %d\n%.1500s\n\n%.1500s", what, c.at.Height, len(gotSpends), len(spends), strings.Join(gotSpends, "\n"), strings.Join(spends, "\n"))
	}
}

// anyFollowing returns a random filter: values, assets, indexes, all assets, a watch list, or several of them.
func (r *reference) anyFollowing(rng *rand.Rand) (changes.Filter, func(o *refOutput) bool) {
	what := changes.Filter{Spends: rng.IntN(2) == 0}
	var ins []func(o *refOutput) bool
	one := func() query.Term {
		t := r.anyTerm(rng)
		switch {
		case rng.IntN(2) == 0:
			ins = append(ins, t.in)
			return r.term(t)
		case t.index < 0:
			ins = append(ins, func(o *refOutput) bool {
				return slices.ContainsFunc(o.Assets, func(a model.Asset) bool { return a.Amount > 0 })
			})
			return query.Term{Index: query.AssetTerm}
		}
		ins = append(ins, func(o *refOutput) bool {
			return slices.ContainsFunc(o.Keys, func(k model.Key) bool { return k.Index == t.index })
		})
		return query.Term{Index: r.indexes[t.index].Name}
	}
	what.Term = one()
	if rng.IntN(2) == 0 {
		for range rng.IntN(5) {
			what.Or = append(what.Or, one())
		}
	}
	if rng.IntN(3) == 0 {
		ins = append(ins, r.withList(rng, &what))
	}
	if what.List != nil && rng.IntN(2) == 0 { // the watch list alone
		what.Term, what.Or, ins = query.Term{}, nil, ins[len(ins)-1:]
	}
	return what, func(o *refOutput) bool {
		return slices.ContainsFunc(ins, func(in func(o *refOutput) bool) bool { return in(o) })
	}
}

// A consumer that applies changes up to the last block has the outputs of that block's chain, after any sequence of
// reorganizations and kills. It can resume from any block that it received since the last rollback.
func TestChangeFeedEndsWithTheSameState(t *testing.T) {
	ctx := context.Background()
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 770)
		killed, parted, deep, back := 0, 0, 0, 0
		for round := range uint64(amount(4, 2)) {
			rng := rand.New(rand.NewPCG(n, round))
			db := open(t, memory.New(), v, 0)
			generators := []*modeltest.Generator{v.NewGenerator(n + round)}
			var chain []*model.Block
			made := uint64(0)
			grow := func(n int) {
				var blocks []*model.Block
				for range n {
					made++
					g := generators[len(generators)-1].Fork(made)
					blocks, generators = append(blocks, g.Next()), append(generators, g)
				}
				appendAll(t, db, blocks, 5)
				chain = append(chain, blocks...)
			}
			grow(4 + rng.IntN(20))
			what, in := newReference(v, chain).anyFollowing(rng)
			c := &consumer{t: t}
			var known []model.Point
			var branch []*model.Block // the last abandoned branch
			var branchOff []*modeltest.Generator
			for range 30 {
				switch rng.IntN(5) {
				case 4: // the chain returns to that branch
					if branch != nil && chain[0] == branch[0] {
						keep := 0
						for keep < len(chain) && keep < len(branch) && chain[keep] == branch[keep] {
							keep++
						}
						rollback(t, db, point(chain, keep-1))
						appendAll(t, db, branch[keep:], 5)
						chain, generators, branch, branchOff = branch, branchOff, chain, generators
						back++
					}
				case 0:
					branch, branchOff = chain, generators
					keep := rng.IntN(len(chain) + 1)
					if rng.IntN(2) == 0 {
						keep = max(0, len(chain)-1-rng.IntN(3))
					}
					rollback(t, db, point(chain, keep-1))
					chain, generators = chain[:keep:keep], generators[:keep+1:keep+1]
					if rng.IntN(5) > 0 {
						grow(1 + rng.IntN(12))
					}
				case 1:
					grow(1 + rng.IntN(6))
				}
				if len(chain) == 0 {
					grow(1)
				}
				r := newReference(v, chain)
				kill := -1
				if rng.IntN(2) == 0 {
					kill = rng.IntN(40)
				}
				first := true
				for e, err := range changes.Follow(ctx, db.Queries, known, what) {
					if err != nil {
						t.Fatal(err)
					}
					if first != (e.Rollback != nil) {
						t.Fatalf("unexpected event %s, first %t", text(e), first)
					}
					if first && len(known) > 0 && *e.Rollback != known[0] {
						parted++
						if e.Rollback.Height+10 < known[0].Height {
							deep++
						}
					}
					first = false
					if e.Rollback != nil {
						if known, err = changes.Locator(ctx, db.Queries, *e.Rollback); err != nil {
							t.Fatal(err)
						}
					}
					c.take(e)
					if e.Block != nil {
						if rng.IntN(3) == 0 {
							c.has(r, what, in)
						}
						if rng.IntN(3) > 0 { // a killed consumer may not have stored the position
							if known, err = changes.Locator(ctx, db.Queries, *e.Block); err != nil {
								t.Fatal(err)
							}
						}
					}
					if kill == 0 {
						killed++
						break
					}
					kill--
				}
				if kill < 0 && c.at != db.Tip() {
					t.Fatalf("reported up to block %d, the tip is %d", c.at.Height, db.Tip().Height)
				}
			}
			whole := &consumer{t: t}
			for e, err := range changes.Follow(ctx, db.Queries, nil, what) {
				if err != nil {
					t.Fatal(err)
				}
				whole.take(e)
			}
			whole.has(newReference(v, chain), what, in)
			for e, err := range changes.Follow(ctx, db.Queries, known, what) {
				if err != nil {
					t.Fatal(err)
				}
				c.take(e)
			}
			if !slices.Equal(texts(c.outputs), texts(whole.outputs)) || len(c.spends) != len(whole.spends) {
				t.Fatalf("%+v: %d outputs and %d spends, without interruption %d and %d", what, len(c.outputs), len(c.spends), len(whole.outputs), len(whole.spends))
			}
			consistent(t, db)
		}
		if killed == 0 || parted == 0 || deep == 0 || back == 0 {
			t.Errorf("%d kills, %d reorganizations, %d of them deep, %d returns to an orphaned branch", killed, parted, deep, back)
		}
	})
}

// A consumer that reads a few blocks at a time and resumes in the middle of a block ends with the same state. If that
// block is rolled back, the consumer receives a rollback.
func TestChangeFeedResumesInTheMiddleOfABlock(t *testing.T) {
	ctx := context.Background()
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 775)
		middle, gone := 0, 0
		for round := range uint64(amount(6, 2)) {
			rng := rand.New(rand.NewPCG(n, round))
			db := open(t, memory.New(), v, 0)
			generators := []*modeltest.Generator{v.NewGenerator(n + round)}
			var chain []*model.Block
			grow := func(n int) {
				for range n {
					g := generators[len(generators)-1].Fork(rng.Uint64N(1 << 20))
					chain, generators = append(chain, g.Next()), append(generators, g)
					appendAll(t, db, chain[len(chain)-1:], 1)
				}
			}
			grow(4 + rng.IntN(20))
			what, in := newReference(v, chain).anyFollowing(rng)
			what.EveryBlock = rng.IntN(2) == 0
			c := &consumer{t: t}
			var known []model.Point
			for range 100 {
				if rng.IntN(5) == 0 { // switch to other blocks, from the origin or near the tip
					keep := 0
					if rng.IntN(2) == 0 {
						keep = max(0, len(chain)-1-rng.IntN(4))
					}
					rollback(t, db, point(chain, keep-1))
					chain, generators = chain[:keep:keep], generators[:keep+1:keep+1]
					grow(1 + rng.IntN(9))
				}
				what.MaxBlocks = rng.IntN(4)
				left, blocks := rng.IntN(1+rng.IntN(30)), 0
				before := what.Resume
				begun := false
				for e, err := range changes.Follow(ctx, db.Queries, known, what) {
					if err != nil {
						t.Fatal(err)
					}
					if !begun {
						begun = true
						if e.Rollback == nil {
							middle++
							if before == nil {
								t.Fatalf("%s comes first", text(e))
							}
						} else if before != nil {
							gone++
						}
					}
					c.take(e)
					what.Resume = nil
					switch {
					case e.Rollback != nil:
						known, err = changes.Locator(ctx, db.Queries, *e.Rollback)
					case e.Block != nil:
						blocks++
						known, err = changes.Locator(ctx, db.Queries, *e.Block)
					default:
						what.Resume = &e.Position
					}
					if err != nil {
						t.Fatal(err)
					}
					if left--; left < 0 {
						break
					}
				}
				if most := max(what.MaxBlocks, 1); what.MaxBlocks > 0 && blocks > most {
					t.Fatalf("%d blocks have events, expected at most %d", blocks, most)
				}
				if rng.IntN(4) == 0 {
					c.has(newReference(v, chain), what, in)
				}
			}
			what.MaxBlocks = 0
			for e, err := range changes.Follow(ctx, db.Queries, known, what) {
				if err != nil {
					t.Fatal(err)
				}
				c.take(e)
			}
			if c.at != db.Tip() {
				t.Fatalf("at %v, the tip is %v", c.at, db.Tip())
			}
			c.has(newReference(v, chain), what, in)
		}
		if middle == 0 || gone == 0 {
			t.Errorf("%d resumptions in the middle of a block, in %d of them the block was orphaned", middle, gone)
		}
	})
}

// A consumer that follows blocks only receives every block.
func TestChangeFeedReportsEveryBlock(t *testing.T) {
	v := modeltest.Variants()[2]
	blocks := v.NewGenerator(testseed.Of(t, 785)).Blocks(20)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 7)
	next := 0
	for e, err := range changes.Follow(t.Context(), db.Queries, nil, changes.Filter{EveryBlock: true, MaxBlocks: 15}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Block != nil:
			b := blocks[next]
			want := query.BlockSummaryAnswer{Height: uint32(b.Height), Hash: e.Hash, Time: b.Time, Size: b.Size, TxCount: len(b.Txs)}
			if *e.Block != b.Point() || e.Summary != want {
				t.Errorf("reported %+v, expected %+v", e.Summary, want)
			}
			next++
		case e.Rollback == nil || next > 0:
			t.Errorf("reported %s", text(e))
		}
	}
	if next != 15 {
		t.Errorf("reported %d blocks", next)
	}
	for _, err := range changes.Follow(t.Context(), db.Queries, nil, changes.Filter{}) {
		if code(err) != "unknown_index" {
			t.Errorf("a filter without terms: %v", err)
		}
	}
	for _, err := range changes.Follow(t.Context(), db.Queries, nil, changes.Filter{Term: query.Term{Index: "address"}, Or: make([]query.Term, 100)}) {
		if code(err) != "too_many_terms" {
			t.Errorf("a filter with too many terms: %v", err)
		}
	}
}

// A consumer without known points can start at a height or a time.
func TestChangeFeedStartsAtTheGivenPosition(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variants()[2]
	blocks := v.NewGenerator(testseed.Of(t, 780)).Blocks(20)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 7)
	from := model.HeightPk(8)
	for what, r := range map[string]*query.Range{
		"height":         {FromHeight: &from},
		"time":           {FromTime: &blocks[7].Time},
		"the first":      {FromHeight: &blocks[0].Height},
		"the whole":      {},
		"nothing at all": nil,
	} {
		begin, outputs := model.Point{}, 0
		if what == "height" || what == "time" {
			begin = blocks[6].Point() // the chain starts at height 1
		}
		for e, err := range changes.Follow(ctx, db.Queries, nil, changes.Filter{Term: query.Term{Index: "address"}, Start: r}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Rollback != nil && *e.Rollback != begin {
				t.Errorf("%s: begins after %+v, expected %+v", what, *e.Rollback, begin)
			}
			if e.Output != nil {
				outputs++
				if e.Output.Height <= uint32(begin.Height) && !begin.IsOrigin() {
					t.Errorf("%s: an event of an output of block %d", what, e.Output.Height)
				}
			}
		}
		if outputs == 0 {
			t.Errorf("%s: no event of an output", what)
		}
	}
	// A block with just enough confirmations is a valid start; the block after it is not.
	for height, want := range map[model.HeightPk]string{db.Tip().Height - 2: "", db.Tip().Height - 1: "empty_range"} {
		next := height + 1
		filter := changes.Filter{EveryBlock: true, Confirmations: 3, Start: &query.Range{FromHeight: &next}}
		for _, err := range changes.Follow(ctx, db.Queries, nil, filter) {
			if (err != nil || want != "") && code(err) != want {
				t.Errorf("a start after block %d at tip %d with 3 confirmations: %v", height, db.Tip().Height, err)
			}
			break
		}
	}
	above := model.HeightPk(99)
	for what, c := range map[string]struct {
		f    changes.Filter
		code string
	}{
		"no index":           {changes.Filter{Term: query.Term{Index: "colour"}}, "unknown_index"},
		"no value":           {changes.Filter{Term: query.Term{Index: "address", Value: "x"}}, "bad_value"},
		"no asset":           {changes.Filter{Term: query.Term{Index: "asset", Value: "x"}}, "bad_value"},
		"a start in no time": {changes.Filter{Term: query.Term{Index: "address"}, Start: &query.Range{FromHeight: &above}}, "empty_range"},
	} {
		reported := 0
		for _, err := range changes.Follow(ctx, db.Queries, nil, c.f) {
			if reported++; kind(err) != model.Usage || code(err) != c.code {
				t.Errorf("%s: %v, expected %s", what, err, c.code)
			}
		}
		if reported != 1 {
			t.Errorf("%s: %d events", what, reported)
		}
	}
	for e, err := range changes.Follow(ctx, db.Queries, nil, changes.Filter{Term: query.Term{Index: "address", Value: "affff"}, Spends: true}) {
		if err != nil || e.Output != nil || e.Spend != nil {
			t.Errorf("a value that does not occur yet: %s, %v", text(e), err)
		}
	}
}

// During a long run of blocks without changes, the feed sends blocks regularly, so that the known points stay near
// the tip.
func TestChangeFeedReportsEmptyBlocks(t *testing.T) {
	v := modeltest.Variant{Name: "empty blocks", ByHand: true}
	var blocks []*model.Block
	for i := range 3456 {
		b := &model.Block{Height: model.HeightPk(i), Hash: model.Hash{1, byte(i), byte(i >> 8)}}
		if i > 0 {
			b.Parent = blocks[i-1].Hash
		}
		blocks = append(blocks, b)
	}
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 500)
	var reported []string
	for e, err := range changes.Follow(t.Context(), db.Queries, nil, changes.Filter{Term: query.Term{Index: "address"}, Spends: true}) {
		if err != nil {
			t.Fatal(err)
		}
		reported = append(reported, text(e))
	}
	want := []string{`{"type":"rollback","to":null}`}
	for _, h := range []int{999, 1999, 2999, 3455} {
		want = append(want, fmt.Sprintf(`{"type":"block","height":%d,"hash":%q}`, h, blocks[h].Hash))
	}
	if !slices.Equal(reported, want) {
		t.Errorf("reported %s", reported)
	}
	known, err := changes.Locator(t.Context(), db.Queries, blocks[3000].Point())
	if err != nil || known[0] != blocks[3000].Point() || known[20] != blocks[2980].Point() || len(known) > 35 {
		t.Errorf("%d points, %v", len(known), err)
	}
}
