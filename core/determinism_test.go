package core_test

import (
	"context"
	"reflect"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

func TestDatabasesInMemory(t *testing.T) {
	coretest.Run(t, func(*testing.T) storage.Store { return memory.New() })
}

// Every input that spends an output has a row.
func TestEveryInputIsWritten(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 40)).Blocks(50)
		inputs, outputs, genesis := uint64(0), uint64(0), uint64(0)
		for _, b := range blocks {
			for _, tx := range b.Txs {
				inputs += uint64(len(tx.Inputs))
				outputs += uint64(len(tx.Outputs))
			}
			for _, tx := range b.Genesis {
				genesis += uint64(len(tx.Outputs))
			}
		}
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks, 11)
		consistent(t, db)
		a, err := db.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if a.Totals.Inputs != inputs || a.Totals.Outputs != outputs || a.Totals.GenesisOutputs != genesis || a.Totals.Blocks != 50 {
			t.Errorf("totals %+v, the chain has %d inputs, %d outputs, %d at genesis", a.Totals, inputs, outputs, genesis)
		}
	})
}

// The order of the indexes in the settings does not change the rows, and leaving out an index does not change the
// rows of the others.
func TestTheOrderOfIndexesChangesNothing(t *testing.T) {
	v := modeltest.Variants()[0]
	ctx := context.Background()
	dumpOf := func(names ...string) dumped {
		db, err := core.Open(ctx, memory.New(), core.Options{Chain: v.Chain("one"), Indexes: names})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, db, v.NewGenerator(testseed.Of(t, 50)).Blocks(20), 5)
		consistent(t, db)
		return dump(t, db)
	}
	same(t, "indexes in another order", dumpOf("label", "box", "tag", "address"), dumpOf("address", "tag", "box", "label"))

	s := memory.New()
	db := open(t, s, v, 0)
	blocks := v.NewGenerator(testseed.Of(t, 50)).Blocks(20)
	appendAll(t, db, blocks[:10], 5)
	db, err := core.Open(ctx, s, core.Options{Chain: v.Chain("one"), Indexes: []string{"tag"}})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, db, blocks[10:], 5)
	same(t, "an index that is no longer named", dump(t, db), fresh(t, v, blocks))
	consistent(t, db)
}

func TestADatabaseOfAnotherKindIsRejected(t *testing.T) {
	v := modeltest.Variants()[0]
	ctx := context.Background()
	s := memory.New()
	db, err := core.Open(ctx, s, core.Options{Chain: v.Chain("one"), Indexes: []string{"address"}})
	if err != nil {
		t.Fatal(err)
	}
	consistent(t, db)
	for _, c := range []struct {
		o    core.Options
		code string
	}{
		{core.Options{Chain: v.Chain("two")}, "wrong_network"},
		{core.Options{Chain: v.Chain("one"), Indexes: []string{"address", "tag"}}, "index_mismatch"},
		{core.Options{Chain: v.Chain("one"), Indexes: []string{"nothing"}}, "unknown_index"},
	} {
		_, err := core.Open(ctx, s, c.o)
		if _, code := model.KindOf(err); err == nil || code != c.code {
			t.Errorf("opened with %s %v: %v, expected %s", c.o.Chain.Network(), c.o.Indexes, err, c.code)
		}
	}
	if _, err := core.Open(ctx, memory.New(), core.Options{Chain: v.Chain("one"), ReadOnly: true}); kind(err) != model.Refused {
		t.Errorf("an empty store opened to be read: %v", err)
	}
	if id, ok, err := core.Identify(ctx, s); err != nil || !ok || !reflect.DeepEqual(id, schema.Identity{Chain: "testchain", Network: "one", Format: schema.FormatVersion}) {
		t.Errorf("identified as %+v, %t, %v", id, ok, err)
	}
}
