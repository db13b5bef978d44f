package core_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/core/backfill"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// withoutAssets removes assets and mints from blocks of [having].
func withoutAssets(blocks []*model.Block) {
	for _, b := range blocks {
		for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
			for i := range txs {
				txs[i].Mints = nil
				for j := range txs[i].Outputs {
					txs[i].Outputs[j].Assets = nil
				}
			}
		}
	}
}

// offering is a variant whose databases can get rules later.
func offering() modeltest.Variant {
	all := modeltest.Variants()
	v := all[slices.IndexFunc(all, func(v modeltest.Variant) bool { return v.Tokens })]
	v.Offers = true
	return v
}

// openPlain opens a database without rules.
func openPlain(t *testing.T, s storage.Store, seed uint64, names []string, keep map[string]model.IndexOptions) *changing {
	t.Helper()
	return openLate(t, s, seed, 0, names, keep)
}

// openLate opens a database without rules. With them, blocks can have assets from the height late on.
func openLate(t *testing.T, s storage.Store, seed uint64, late model.HeightPk, names []string, keep map[string]model.IndexOptions) *changing {
	t.Helper()
	v := offering()
	v.Late = late
	l := &changing{t: t, v: v, store: s, grown: []*modeltest.Generator{v.NewGenerator(seed)}, plain: true}
	l.reopen(names, keep)
	return l
}

// After any interruptions, a database to which rules were added has the same rows as one that was created with them. Blocks
// that have no assets by the rules are not read from the source.
func TestAddedRulesEqualRulesFromTheStart(t *testing.T) {
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			rounds := testrun.Amount(6, 2)
			if store != "memory" {
				rounds = 1
			}
			for round := range rounds {
				n := testseed.Of(t, 900+uint64(round))
				rng := rand.New(rand.NewPCG(n, 1))
				names := []string{"address", "tag", "label"}[:1+rng.IntN(3)]
				if round%2 == 0 {
					names = append(names, model.StatisticsIndex)
				}
				keep := map[string]model.IndexOptions{"address": everything4}
				if slices.Contains(names, "tag") && rng.IntN(2) == 0 {
					keep["tag"] = model.IndexOptions{Balance: true}
				}
				s := open(t)
				late := model.HeightPk(round % 2 * (1 + rng.IntN(40)))
				l := openLate(t, s, n, late, names, keep)
				l.grow(20+rng.IntN(20), 6)
				for range 2 {
					if err := l.db.AddIndex(t.Context(), "tokens", model.IndexOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				for range 14 {
					switch rng.IntN(5) {
					case 0:
						l.grow(1+rng.IntN(6), 1+rng.IntN(4))
					case 1:
						l.rollback(rng.IntN(12))
					case 2:
						l.reopen(nil, nil)
					default:
						l.build(1+rng.IntN(3), 1+rng.IntN(200))
					}
					consistent(t, l.db)
				}
				l.build(-1, 100)
				consistent(t, l.db)
				same(t, "added", dump(t, l.db), l.made(names, keep))
				for _, p := range l.opened {
					if late > 0 && schema.HeightAfter(p) < late {
						t.Errorf("a source began after %v, blocks have assets from height %d on", p, late)
					}
				}
				l.grow(10, 3)
				l.rollback(15)
				l.grow(20, 5)
				consistent(t, l.db)
				same(t, "added and continued", dump(t, l.db), l.made(names, keep))
				l.reopen(nil, nil)
				l.rollback(len(l.chain))
				l.grow(9, 2)
				consistent(t, l.db)
				same(t, "opened again", dump(t, l.db), l.made(names, keep))
			}
		})
	}
}

// Rules that are not complete can be dropped. The database then has the rows of one to which none were added, and they can
// be added again.
func TestRulesThatAreBeingAddedCanBeDropped(t *testing.T) {
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			n := testseed.Of(t, 930)
			rng := rand.New(rand.NewPCG(n, 1))
			names, keep := []string{"address", "tag", model.StatisticsIndex}, map[string]model.IndexOptions{"address": everything4}
			l := openPlain(t, open(t), n, names, keep)
			for range 3 {
				l.grow(30, 6)
				if err := l.db.AddIndex(t.Context(), "tokens", model.IndexOptions{}); err != nil {
					t.Fatal(err)
				}
				l.build(1+rng.IntN(20), 1) // a block per step
				l.rollback(rng.IntN(4))
				l.grow(3, 2)
				if !l.isAdding("tokens") {
					t.Fatal("the rules are complete: nothing tests the drop")
				}
				if err := l.db.DropIndex(t.Context(), "tokens"); err != nil {
					t.Fatal(err)
				}
				for range 4 {
					consistent(t, l.db)
					l.build(1+rng.IntN(3), 1+rng.IntN(100))
					l.rollback(rng.IntN(12))
					l.grow(1+rng.IntN(3), 2)
					if rng.IntN(2) == 0 {
						l.reopen(nil, nil)
					}
				}
				l.build(-1, 100)
				consistent(t, l.db)
				plain := &changing{t: t, v: l.v, store: memory.New(), plain: true}
				plain.reopen(names, keep)
				plain.append(l.chain, 7)
				same(t, "dropped", dump(t, l.db), dump(t, plain.db))
			}
			if err := l.db.AddIndex(t.Context(), "tokens", model.IndexOptions{}); err != nil {
				t.Fatal(err)
			}
			l.build(-1, 100)
			consistent(t, l.db)
			same(t, "added again", dump(t, l.db), l.made(names, keep))
		})
	}
}

// isAdding reports whether an index is being added.
func (l *changing) isAdding(name string) bool {
	l.t.Helper()
	states, err := l.db.IndexStatesWithRaw(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	return slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == name && len(x.Adding) > 0 })
}

// While rules are being added, the statistics of assets are unknown.
func TestStatisticsOfAssetsWhileRulesAreAdded(t *testing.T) {
	ctx := t.Context()
	l := openPlain(t, memory.New(), 3, []string{"address", model.StatisticsIndex}, nil)
	l.grow(20, 4)
	values := func(name, by string) (values []string) {
		t.Helper()
		a, err := l.db.Statistics(ctx, name, by, query.Range{}, query.Page{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range a.Values {
			if v.Value == nil {
				values = append(values, "unknown")
				continue
			}
			values = append(values, *v.Value)
		}
		return values
	}
	if err := l.db.AddIndex(ctx, "tokens", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	l.build(3, 50)
	for _, by := range []string{"block", "month"} {
		for _, name := range []string{"new_assets", "mints", "burns"} {
			if got := slices.Compact(values(name, by)); !slices.Equal(got, []string{"unknown"}) {
				t.Errorf("%s by %s: %q", name, by, got)
			}
		}
		if got := values("blocks", by); slices.Contains(got, "unknown") || len(got) == 0 {
			t.Errorf("blocks by %s: %q", by, got)
		}
	}
	l.build(-1, 50)
	if got := values("mints", "month"); slices.Contains(got, "unknown") || got[0] == "0" {
		t.Errorf("mints at the end: %q", got)
	}
}

// Rules that cannot be added are refused, with the reason.
func TestRulesThatCannotBeAdded(t *testing.T) {
	ctx := context.Background()
	l := openPlain(t, memory.New(), 3, []string{"tag"}, nil)
	l.grow(5, 2)
	if err := l.db.AddIndex(ctx, "tokens", model.IndexOptions{}); code(err) != "bad_option" {
		t.Errorf("without holders: %v", err)
	}
	l = openPlain(t, memory.New(), 3, []string{"address"}, nil)
	l.grow(5, 2)
	if err := l.db.AddIndex(ctx, "tokens", everything4); code(err) != "bad_option" {
		t.Errorf("with options: %v", err)
	}
	if err := l.db.AddIndex(ctx, "tokens", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.db.AddIndex(ctx, "tag", model.IndexOptions{}); code(err) != "busy" {
		t.Errorf("an index meanwhile: %v", err)
	}
	other := slices.Clone(l.chain)
	last := *other[len(other)-1]
	last.Txs = slices.Clone(last.Txs)
	last.Txs = last.Txs[:len(last.Txs)-1]
	other[len(other)-1] = &last
	err := l.db.Build(ctx, func(context.Context, *schema.Index, []model.Point) (model.Source, error) {
		return events(having(other)), nil
	}, backfill.Options{})
	if code(err) != "bad_block" {
		t.Errorf("a source with other transactions: %v", err)
	}
	l.build(-1, 100)
	if err := l.db.AddIndex(ctx, "tokens", model.IndexOptions{}); code(err) != "exists" {
		t.Errorf("added twice: %v", err)
	}
	if err := l.db.DropIndex(ctx, "tokens"); code(err) != "always_on" {
		t.Errorf("dropped: %v", err)
	}
	consistent(t, l.db)
	same(t, "added", dump(t, l.db), l.made([]string{"address"}, nil))
}
