package core_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// revised is a chain that no longer appends tail to addresses.
type revised struct {
	model.Chain
	revision uint64
}

var tail = []byte("tail")

func (c revised) Revision() uint64 { return c.revision }

func (c revised) Outdated(index string, value []byte) bool {
	return index == "address" && bytes.HasSuffix(value, tail)
}

// A database with values of an earlier release refuses new blocks and names the rollback after which it equals a database
// that this release created. A database without such values is upgraded by its next write.
func TestValuesOfAnEarlierReleaseAreRolledBack(t *testing.T) {
	v := modeltest.Variants()[0]
	seed := testseed.Of(t, 81)
	const count, first = 30, 17
	blocks := v.NewGenerator(seed).Blocks(count)
	var address int
	for i, x := range v.Chain("one").Indexes() {
		if x.Name == "address" {
			address = i
		}
	}
	earlier := v.NewGenerator(seed).Blocks(count)
	for _, b := range earlier[first:] {
		for i := range b.Txs {
			b.Txs[i].Outputs = slices.Clone(b.Txs[i].Outputs) // repeated coinbases share theirs
			for j := range b.Txs[i].Outputs {
				o := &b.Txs[i].Outputs[j]
				o.Keys = slices.Clone(o.Keys)
				for k, key := range o.Keys {
					if key.Index == address && len(key.Value)+len(tail) <= model.MaxValueSize {
						o.Keys[k].Value = append(bytes.Clone(key.Value), tail...)
					}
				}
			}
		}
	}
	opened := func(store *memory.Store, chain model.Chain) *core.DB {
		db, err := core.Open(t.Context(), store, core.Options{Chain: chain, Keep: v.Keep(), Raw: v.Raw})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	now := revised{v.Chain("one"), 3}
	fresh := opened(memory.New(), now)
	appendAll(t, fresh, blocks, 7)
	want := dump(t, fresh)

	for name, n := range map[string]int{"none": first, "some": count} {
		store := memory.New()
		appendAll(t, opened(store, v.Chain("one")), earlier[:n], 7)
		db := opened(store, now)
		if n > first {
			lowest := blocks[first].Height
			remedy := fmt.Sprintf("the first in block %d: run birthmark rollback --to-height %d", lowest, lowest-1)
			if err := db.Append(t.Context(), earlier[n-1:]); kind(err) != model.Refused || !strings.Contains(err.Error(), remedy) {
				t.Errorf("%s: %v, expected %q", name, err, remedy)
			}
			consistent(t, db)
			rollback(t, db, blocks[first-1].Point())
		}
		appendAll(t, db, blocks[first:], 7)
		same(t, name, dump(t, db), want)
		consistent(t, db)
		err := opened(store, revised{v.Chain("one"), 2}).Append(t.Context(), blocks[:1])
		if kind(err) != model.Refused || !strings.Contains(err.Error(), "values of revision 3") {
			t.Errorf("%s: an earlier program: %v", name, err)
		}
	}
}
