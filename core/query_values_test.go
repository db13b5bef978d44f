package core_test

import (
	"math/rand/v2"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// Every list equals the reference, with any page size and in both orders.
func TestListsMatchTheReference(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 760)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(25)
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		for _, l := range newReference(v, blocks).lists() {
			for _, descending := range []bool{false, true} {
				l.walk(t, db, query.Page{Limit: 1 + rng.IntN(20), Descending: descending}, l.in(descending))
			}
		}
		consistent(t, db)
	})
}

func TestValuesOfUnknownIndexesAreRejected(t *testing.T) {
	db := open(t, memory.New(), modeltest.Variants()[0], 0)
	if _, err := db.Values(t.Context(), "colour", query.Page{}); kind(err) != model.Usage || code(err) != "unknown_index" {
		t.Errorf("values of an unknown index: %v", err)
	}
	if a, err := db.Values(t.Context(), "tag", query.Page{}); err != nil || text(a) != `{"index":"tag","count":0,"values":[],"next":null}` {
		t.Errorf("values of a database without blocks: %s, %v", text(a), err)
	}
	if a, err := db.Assets(t.Context(), query.Page{}); err != nil || text(a) != `{"count":0,"assets":[],"next":null}` {
		t.Errorf("assets of a database without blocks: %s, %v", text(a), err)
	}
}
