package core_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"birthmark/core/ledger"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// ranking is a database with balances whose rich lists are compared with all of its balances.
type ranking struct {
	*changing
	kept, absent int // answers from the list, and from all balances
}

func openRanking(t *testing.T, v modeltest.Variant, s storage.Store, seed uint64) *ranking {
	names := append(firstIndexes(v), "tag")
	keep := map[string]model.IndexOptions{"address": {Balance: true}, "tag": {Balance: true, History: true}}
	return &ranking{changing: openChanging(t, v, s, seed, names, keep)}
}

func satoshis(t *testing.T, a query.RichestValueAnswer) uint64 {
	n, err := strconv.ParseUint(a.Balance, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// compare compares the rich lists of every index with balances.
func (r *ranking) compare() {
	r.t.Helper()
	for _, name := range []string{"address", "tag"} {
		var all []query.RichestValueAnswer
		for page := (query.Page{Limit: 100}); ; {
			values, err := r.db.Values(r.t.Context(), name, page)
			if err != nil {
				r.t.Fatal(err)
			}
			for _, value := range values.Values {
				b, err := r.db.Balance(r.t.Context(), name, value.Value)
				if err != nil {
					r.t.Fatal(err)
				}
				if *b.UnspentCount > 0 {
					all = append(all, query.RichestValueAnswer{Value: value.Value, Balance: b.Balance, UnspentCount: b.UnspentCount})
				}
			}
			if values.Next == nil {
				break
			}
			page.After = *values.Next
		}
		slices.SortStableFunc(all, func(a, b query.RichestValueAnswer) int { return cmp.Compare(satoshis(r.t, b), satoshis(r.t, a)) })
		for _, limit := range []int{1, 3, 5, 1000} {
			got, err := richest.Of(r.t.Context(), r.db.Queries, name, "", limit)
			want := &query.RichestAnswer{Index: name, Values: append([]query.RichestValueAnswer{}, all[:min(limit, len(all))]...)}
			agree(r.t, "richest "+name, got, err, want)
			kept, err := richest.Kept(r.t.Context(), r.db.Queries, name, limit)
			if err != nil {
				r.t.Fatal(err)
			}
			if kept {
				r.kept++
			} else {
				r.absent++
			}
		}
	}
	consistent(r.t, r.db)
}

func (r *ranking) complete() {
	r.t.Helper()
	if err := r.db.CompleteRichest(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// Rich lists are exact after every block, every rollback and every build, in every store. The check of the database
// compares all rows of the lists with the balances.
func TestRichListsAreExact(t *testing.T) {
	everyStore(t, func(t *testing.T, v modeltest.Variant, s storage.Store) {
		seed := testseed.Of(t, 3300)
		rng := rand.New(rand.NewPCG(seed, 0))
		r := openRanking(t, v, s, seed)
		r.grow(3, 1)
		for range testrun.Amount(40, 15) {
			switch n := 1 + rng.IntN(3); rng.IntN(6) {
			case 0, 1, 2:
				r.grow(n, 1+rng.IntN(2))
			case 3:
				r.rollback(n)
			case 4:
				r.complete()
			case 5:
				r.reopen(nil, nil)
			}
			r.compare()
		}
		r.complete()
		r.compare()
		if r.kept == 0 {
			t.Error("no answer is from a kept list")
		}
	})
}

// A list that is built while blocks are added and removed is exact. So is one whose build was interrupted before.
func TestRichListsAreBuiltBesideWrites(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		seed := testseed.Of(t, 3310)
		rng := rand.New(rand.NewPCG(seed, 0))
		s := &seeing{Store: memory.New()}
		r := openRanking(t, v, s, seed)
		r.grow(20, 5)
		built := 0
		for range testrun.Amount(12, 5) {
			if err := r.db.EndRichest(t.Context()); err != nil {
				t.Fatal(err)
			}
			interrupted := rng.IntN(3) == 0
			ctx, cancel := context.WithCancel(t.Context())
			var writing atomic.Bool
			s.before = func() {
				if writing.Swap(true) {
					return // writes read, too, and the scan reads several ranges at a time
				}
				defer writing.Store(false)
				if rng.IntN(2) == 0 {
					return
				}
				switch {
				case interrupted && rng.IntN(4) == 0:
					cancel()
				case rng.IntN(3) == 0:
					r.rollback(1 + rng.IntN(2))
				default:
					r.grow(1, 1)
				}
			}
			err := r.db.CompleteRichest(ctx)
			s.before = nil
			if err != nil && ctx.Err() == nil {
				t.Fatal(err)
			}
			cancel()
			if err == nil {
				built++
			}
			before := r.kept
			r.compare()
			if err == nil && r.kept == before {
				t.Error("no list was built")
			}
		}
		if built == 0 {
			r.complete()
			r.compare()
		}
	})
}

// A list has the sizes of ledger.Richest: it is cut when it grows beyond the largest, and built again below the least.
func TestRichListsAreBounded(t *testing.T) {
	v := modeltest.Variants()[0]
	r := openRanking(t, v, memory.New(), testseed.Of(t, 3320))
	cut, short := false, false
	for range 60 {
		r.grow(1, 1)
		for _, n := range r.db.RichestCounts(t) {
			if n > uint64(ledger.Richest.Most)+500 {
				t.Fatalf("a list has %d values", n)
			}
			cut = cut || n > 0 && n <= uint64(ledger.Richest.Most)
		}
	}
	for range 57 {
		r.rollback(1)
		for _, n := range r.db.RichestCounts(t) {
			short = short || n < uint64(ledger.Richest.Least)
		}
	}
	r.complete()
	r.compare()
	if !cut || !short {
		t.Errorf("lists were cut: %t, became too short: %t", cut, short)
	}
}
