package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// refTerm is a value of an index, or an asset if index is negative.
type refTerm struct {
	index int
	value string
}

func (r *reference) term(t refTerm) query.Term {
	if t.index < 0 {
		return query.Term{Index: query.AssetTerm, Value: r.chain.FormatAsset([]byte(t.value))}
	}
	x := r.indexes[t.index]
	return query.Term{Index: x.Name, Value: x.Format([]byte(t.value))}
}

func (t refTerm) in(o *refOutput) bool {
	if t.index < 0 {
		return slices.ContainsFunc(o.Assets, func(a model.Asset) bool { return string(a.ID) == t.value && a.Amount > 0 })
	}
	return slices.ContainsFunc(o.Keys, func(k model.Key) bool { return k.Index == t.index && string(k.Value) == t.value })
}

// refFind is a find query.
type refFind struct {
	base     refTerm
	and, or  []refTerm
	unspent  bool
	from, to uint32
	bounded  bool
}

func (r *reference) terms(f *refFind) query.Terms {
	t := query.Terms{Unspent: f.unspent}
	for _, o := range f.or {
		t.Or = append(t.Or, r.term(o))
	}
	for _, a := range f.and {
		t.And = append(t.And, r.term(a))
	}
	if f.bounded {
		from, to := model.HeightPk(f.from), model.HeightPk(f.to)
		t.Range = query.Range{FromHeight: &from, ToHeight: &to}
	}
	return t
}

func (r *reference) find(f *refFind) (found []*refOutput) {
	for _, o := range r.outputs() {
		in := func(t refTerm) bool { return t.in(o) }
		if (in(f.base) || slices.ContainsFunc(f.or, in)) && !slices.ContainsFunc(f.and, func(t refTerm) bool { return !in(t) }) &&
			!(f.unspent && o.spentBy != nil) && !(f.bounded && (o.tx.height < f.from || o.tx.height > f.to)) {
			found = append(found, o)
		}
	}
	return found
}

// anyTerm returns a random value that occurs; frequent values are more likely.
func (r *reference) anyTerm(rng *rand.Rand) refTerm {
	if assets := r.assetOrder(); len(assets) > 0 && rng.IntN(4) == 0 {
		return refTerm{-1, assets[rng.IntN(len(assets))]}
	}
	for {
		outputs := r.outputs()
		if o := outputs[rng.IntN(len(outputs))]; len(o.Keys) > 0 {
			k := o.Keys[rng.IntN(len(o.Keys))]
			return refTerm{k.Index, string(k.Value)}
		}
	}
}

// anyTermOf returns a random value of an output that contains t, so that the intersection is not empty.
func (r *reference) anyTermOf(rng *rand.Rand, t refTerm) refTerm {
	found := r.find(&refFind{base: t})
	o := found[rng.IntN(len(found))]
	n := rng.IntN(len(o.Keys) + len(o.Assets))
	if n < len(o.Keys) {
		return refTerm{o.Keys[n].Index, string(o.Keys[n].Value)}
	}
	if a := o.Assets[n-len(o.Keys)]; a.Amount > 0 {
		return refTerm{-1, string(a.ID)}
	}
	return t
}

func (r *reference) anyFind(rng *rand.Rand) *refFind {
	f := &refFind{base: r.anyTerm(rng), unspent: rng.IntN(3) == 0}
	for range rng.IntN(4) {
		f.or = append(f.or, r.anyTerm(rng))
	}
	for range rng.IntN(3) {
		f.and = append(f.and, r.anyTermOf(rng, append(f.or, f.base)[rng.IntN(len(f.or)+1)]))
	}
	if rng.IntN(2) == 0 {
		blocks := r.blocks
		a, b := rng.IntN(len(blocks)), rng.IntN(len(blocks))
		f.bounded, f.from, f.to = true, uint32(blocks[min(a, b)].Height), uint32(blocks[max(a, b)].Height)
	}
	return f
}

// ask returns the outputs of all pages of a find query. With short, pages may have fewer entries than the limit.
func (r *reference) ask(t *testing.T, db *core.DB, f *refFind, p query.Page, short bool) (got []string) {
	t.Helper()
	base, terms := r.term(f.base), r.terms(f)
	for n := 0; ; n++ {
		a, err := db.Find(context.Background(), base.Index, base.Value, terms, p)
		if err != nil {
			t.Fatalf("%+v, %+v: %v", base, terms, err)
		}
		if a.Index != base.Index || a.Value != base.Value || !slices.Equal(a.And, terms.And) || !slices.Equal(a.Or, terms.Or) {
			t.Fatalf("query %+v, %+v: the answer is %s", base, terms, text(a))
		}
		if len(a.Outputs) > p.Limit || !short && !f.unspent && a.Next != nil && len(a.Outputs) < p.Limit {
			t.Fatalf("%+v, %+v: a page of %d, the limit is %d", base, terms, len(a.Outputs), p.Limit)
		}
		got = append(got, texts(a.Outputs)...)
		if a.Next == nil {
			return got
		}
		if n == 10_000 || p.After == *a.Next {
			t.Fatalf("%+v, %+v: page %d has an invalid cursor", base, terms, n)
		}
		p.After = *a.Next
	}
}

func (r *reference) answers(found []*refOutput, descending bool) (want []string) {
	for _, o := range found {
		want = append(want, text(r.output(o, true)))
	}
	if descending {
		slices.Reverse(want)
	}
	return want
}

// For any combination of values, Find returns the same outputs as the reference, without duplicates, in both orders
// and any page size.
func TestFindCombinesValues(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 700)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(60)
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		r := newReference(v, blocks)
		several := 0
		for range 400 {
			f := r.anyFind(rng)
			found := r.find(f)
			if len(found) > 1 && len(f.and) > 0 {
				several++
			}
			descending := rng.IntN(2) == 0
			want := r.answers(found, descending)
			if got := r.ask(t, db, f, query.Page{Limit: 1 + rng.IntN(30), Descending: descending}, false); !slices.Equal(got, want) {
				t.Fatalf("%+v, descending %t: %d outputs, expected %d\n%.2000s\n\n%.2000s", f, descending, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if several == 0 {
			t.Error("no values have several common outputs")
		}
	})
}

// The cost of one page is bounded, however many outputs it skips. A page that ends early has a cursor, and no output
// is lost.
func TestFindResumesAfterAPageOfBoundedCost(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 710)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(60)
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		r := newReference(v, blocks)
		for range 200 {
			f := r.anyFind(rng)
			budget := 20*(1+len(f.and)+len(f.or)) + rng.IntN(100)
			descending := rng.IntN(2) == 0
			got := r.ask(t, db, f, query.Page{Limit: 1 + rng.IntN(100), Descending: descending, Budget: budget}, true)
			if want := r.answers(r.find(f), descending); !slices.Equal(got, want) {
				t.Fatalf("%+v, descending %t: %d outputs, expected %d", f, descending, len(got), len(want))
			}
		}
	})
}

// The intersection of a rare value with a value of every output costs as much as the rare value.
func TestFindSkipsFrequentValues(t *testing.T) {
	v := modeltest.Variant{Name: "one value everywhere", ByHand: true}
	everywhere, rare := []byte{1}, []byte{2}
	var blocks []*model.Block
	for h := range 50 {
		b := &model.Block{Height: model.HeightPk(h), Time: 7, Hash: hash(byte(h + 1))}
		if h > 0 {
			b.Parent = blocks[h-1].Hash
		}
		tx := model.Tx{Hash: hash(byte(h + 100)), Outputs: make([]model.Output, 2000)}
		for i := range tx.Outputs {
			tx.Outputs[i].Keys = []model.Key{{Index: 0, Value: everywhere}}
			if i == 1000 {
				tx.Outputs[i].Keys = append(tx.Outputs[i].Keys, model.Key{Index: 1, Value: rare})
			}
		}
		b.Txs = []model.Tx{tx}
		blocks = append(blocks, b)
	}
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 10)
	r := newReference(v, blocks)
	both := &refFind{base: refTerm{0, string(everywhere)}, and: []refTerm{{1, string(rare)}}}
	for _, descending := range []bool{false, true} {
		base := r.term(both.base)
		a, err := db.Find(context.Background(), base.Index, base.Value, r.terms(both), query.Page{Limit: 100, Descending: descending, Budget: 50 * 80})
		if err != nil || len(a.Outputs) != 50 || a.Next != nil {
			t.Errorf("descending %t: %d outputs of 50 within the work of 4,000 rows of 100,000, next %v, %v", descending, len(a.Outputs), a.Next, err)
		}
	}
}

// A value that never occurred is distinguished from values without common outputs. As an Or term it adds nothing.
func TestTermsWithoutOccurrences(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variants()[1]
	blocks := v.NewGenerator(testseed.Of(t, 720)).Blocks(40)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 7)
	r := newReference(v, blocks)
	tags := r.values(1)
	tag, other := r.term(refTerm{1, tags[0]}), r.term(refTerm{1, tags[1]})
	asset := r.term(refTerm{-1, r.assetOrder()[0]})
	unknown, unknownAsset := query.Term{Index: "address", Value: "affff"}, query.Term{Index: "asset", Value: "ffff"}

	a, err := db.Find(ctx, tag.Index, tag.Value, query.Terms{And: []query.Term{other}}, query.Page{})
	if err != nil || len(a.Outputs) != 0 || a.Next != nil {
		t.Errorf("two tags without common outputs: %s, %v", text(a), err)
	}
	want, _ := db.Find(ctx, tag.Index, tag.Value, query.Terms{}, query.Page{})
	a, err = db.Find(ctx, tag.Index, tag.Value, query.Terms{Or: []query.Term{unknown, unknownAsset}}, query.Page{})
	if err != nil || text(a.Outputs) != text(want.Outputs) || !slices.Equal(a.Or, []query.Term{unknown, unknownAsset}) {
		t.Errorf("an Or term without occurrences: %s, %v", text(a), err)
	}
	a, err = db.Find(ctx, unknown.Index, unknown.Value, query.Terms{Or: []query.Term{tag}}, query.Page{})
	if err != nil || text(a.Outputs) != text(want.Outputs) || a.FirstSeen != nil {
		t.Errorf("a value without occurrences, or another one: %s, %v", text(a), err)
	}
	a, err = db.Find(ctx, tag.Index, tag.Value, query.Terms{And: []query.Term{unknown}, Or: []query.Term{other}}, query.Page{})
	if err != nil || len(a.Outputs) != 0 || a.Next != nil || !slices.Equal(a.And, []query.Term{unknown}) {
		t.Errorf("an And term without occurrences: %s, %v", text(a), err)
	}
	fingerprint := r.traits.Fingerprint.Format(r.traits.Fingerprint.Of([]byte(r.assetOrder()[0]), nil))
	a, err = db.Find(ctx, query.AssetTerm, fingerprint, query.Terms{}, query.Page{})
	if err != nil || a.Value != asset.Value || len(a.Outputs) == 0 {
		t.Errorf("an asset by its fingerprint: %s, %v", text(a), err)
	}
	for what, c := range map[string]struct {
		base  query.Term
		terms query.Terms
		kind  model.ErrorKind
		code  string
		names string
	}{
		"the asset":                  {unknownAsset, query.Terms{}, model.NotFound, "unknown_asset", unknownAsset.Value},
		"an asset of all":            {tag, query.Terms{And: []query.Term{unknownAsset}}, model.NotFound, "unknown_asset", unknownAsset.Value},
		"an alternative of no index": {tag, query.Terms{Or: []query.Term{{Index: "colour", Value: "x"}}}, model.Usage, "unknown_index", "colour"},
		"an alternative misspelt":    {tag, query.Terms{Or: []query.Term{{Index: "tag", Value: "x"}}}, model.Usage, "bad_value", "tag: expected t"},
		"one of no index":            {tag, query.Terms{And: []query.Term{{Index: "colour", Value: "x"}}}, model.Usage, "unknown_index", "colour"},
		"too many": {tag, query.Terms{And: slices.Repeat([]query.Term{tag}, 60), Or: slices.Repeat([]query.Term{tag}, 41)},
			model.Usage, "too_many_terms", "101"},
	} {
		_, err := db.Find(ctx, c.base.Index, c.base.Value, c.terms, query.Page{})
		if kind(err) != c.kind || code(err) != c.code || !strings.Contains(fmt.Sprint(err), c.names) {
			t.Errorf("%s: %v, expected %s naming %s", what, err, c.code, c.names)
		}
	}
}

// Scans that restart and end early leave no goroutines on any store.
func TestFindEndsItsGoroutines(t *testing.T) {
	v := modeltest.Variants()[1]
	for name, store := range stores() {
		t.Run(name, func(t *testing.T) {
			n := testseed.Of(t, 790)
			rng := rand.New(rand.NewPCG(n, 0))
			blocks := v.NewGenerator(n).Blocks(60)
			db := open(t, store(t), v, 0)
			appendAll(t, db, blocks, 7)
			r := newReference(v, blocks)
			before := runtime.NumGoroutine()
			for range 150 {
				f := r.anyFind(rng)
				budget := 0
				if rng.IntN(2) == 0 {
					budget = 20*(1+len(f.and)+len(f.or)) + rng.IntN(100)
				}
				descending := rng.IntN(2) == 0
				got := r.ask(t, db, f, query.Page{Limit: 1 + rng.IntN(30), Descending: descending, Budget: budget}, true)
				if want := r.answers(r.find(f), descending); !slices.Equal(got, want) {
					t.Fatalf("%+v, descending %t: %d outputs, expected %d", f, descending, len(got), len(want))
				}
				what, _ := r.anyFollowing(rng)
				for range changes.Follow(t.Context(), db.Queries, nil, what) {
					if rng.IntN(20) == 0 {
						break
					}
				}
			}
			if after := runtime.NumGoroutine(); after > before {
				t.Errorf("%d goroutines, %d before", after, before)
			}
		})
	}
}

// A page of find makes a constant number of allocations, and about 8 per output. A coroutine per list would exceed the
// first limit, an allocation per row that is read the second. Two are the holder of the values, which can be a wallet.
func TestAllocationsOfFind(t *testing.T) {
	v := modeltest.Variant{Name: "values of one and of many outputs", ByHand: true}
	tx := model.Tx{Hash: hash(2), Outputs: make([]model.Output, 40)}
	for i := range tx.Outputs {
		value := byte(min(i, 1)) // the first output has a unique value
		tx.Outputs[i].Keys = []model.Key{{Index: 0, Value: []byte{value}}, {Index: 1, Value: []byte{value}}}
	}
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, []*model.Block{{Time: 7, Hash: hash(1), Txs: []model.Tx{tx}}}, 1)
	x := v.Chain("one").Indexes()[0]
	for _, unspent := range []bool{false, true} {
		for _, c := range []struct {
			value          byte
			outputs, limit int
		}{{0, 1, 108}, {1, 25, 305}} {
			value := x.Format([]byte{c.value})
			allocs := testing.AllocsPerRun(100, func() {
				a, err := db.Find(t.Context(), x.Name, value, query.Terms{Unspent: unspent}, query.Page{Limit: 25})
				if err != nil || len(a.Outputs) != c.outputs {
					t.Fatalf("%d outputs, expected %d, %v", len(a.Outputs), c.outputs, err)
				}
			})
			if int(allocs) > c.limit {
				t.Errorf("%d outputs, unspent %t: %v allocations, expected at most %d", c.outputs, unspent, allocs, c.limit)
			}
		}
	}
}
