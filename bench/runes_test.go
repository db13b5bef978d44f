package bench

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// Databases with runes do not depend on batches and memory, a rollback restores the earlier database, and the check finds
// no inconsistency: supplies are premine plus mints minus burns, and the sum of the holdings.
func TestRunesLaws(t *testing.T) {
	chain, err := Chain{Txs: 6000, TxsPerBlock: 250, Seed: testseed.Of(t, 9), Runes: true, Indexes: []string{"address"}}.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var blocks []*model.Block
	for b, err := range NewGenerator(chain).Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	open := func(caches int64) *core.DB {
		adapter, err := bitcoinAdapter(unserializedRunes)
		if err != nil {
			t.Fatal(err)
		}
		store := memory.New()
		db, err := core.Open(t.Context(), store, core.Options{
			Chain: adapter, Indexes: chain.Indexes, CacheBytes: caches,
			Keep: map[string]model.IndexOptions{"address": {Balance: true, History: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return db
	}
	dump := func(db *core.DB) string {
		digest := sha256.New()
		err := db.DumpLines(t.Context(), func(family string, line []byte) error {
			fmt.Fprintf(digest, "%s %s\n", family, line)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(digest.Sum(nil))
	}
	appendAll := func(db *core.DB, blocks []*model.Block, n int) {
		for len(blocks) > 0 {
			n := min(n, len(blocks))
			if err := db.Append(t.Context(), blocks[:n]); err != nil {
				t.Fatal(err)
			}
			blocks = blocks[n:]
		}
	}
	db := open(1 << 20)
	appendAll(db, blocks, len(blocks))
	whole := dump(db)
	checked, err := db.Check(t.Context(), check.Options{})
	if err != nil || !checked.OK {
		t.Fatalf("%+v, %v", checked, err)
	}
	status, err := db.Status(t.Context())
	if err != nil || status.Totals.Assets < 1000 {
		t.Fatalf("%d asset entries, %v", status.Totals.Assets, err)
	}
	for _, n := range []int{1, 7} {
		other := open(0)
		appendAll(other, blocks[:len(blocks)/2], n)
		half := dump(other)
		appendAll(other, blocks[len(blocks)/2:], n)
		if dump(other) != whole {
			t.Errorf("batches of %d blocks: another database", n)
		}
		if err := other.Rollback(t.Context(), blocks[len(blocks)/2-1].Point()); err != nil {
			t.Fatal(err)
		}
		if dump(other) != half {
			t.Errorf("after the rollback: another database")
		}
		appendAll(other, blocks[len(blocks)/2:], len(blocks))
		if dump(other) != whole {
			t.Errorf("after the rollback and the same blocks: another database")
		}
	}
}
