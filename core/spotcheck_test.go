package core_test

import (
	"context"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// Open rejects a store that lost all rows of a family, or the newest of them. Check can open it.
func TestOpenRejectsADatabaseWithLostRows(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		ctx := context.Background()
		s := &declared{Store: memory.New()}
		db := open(t, s, v, 0)
		appendAll(t, db, v.NewGenerator(testseed.Of(t, 90)).Blocks(60), 20)
		tried := 0
		for _, d := range s.Declarations {
			rows := rowsOf(t, s, d.Family)
			deletes := strings.HasSuffix(d.Name, "_unspent") || strings.HasSuffix(d.Name, "_held_assets") || d.Name == "asset_holdings"
			unknown := strings.HasPrefix(d.Name, "raw_place") || strings.HasPrefix(d.Name, "raw_sizes") || // rows of these families may be missing
				strings.HasSuffix(d.Name, "_richest")
			if d.Name == "meta" || len(rows) == 0 || deletes || unknown {
				continue
			}
			for what, lost := range map[string][]storage.KV{"all rows": rows, "the last half": rows[len(rows)/2:]} {
				if what == "the last half" && !newestAreRead(d.Name) {
					continue
				}
				tried++
				update(t, s, func(b storage.Batch) {
					for _, row := range lost {
						b.Delete(d.Family, row.Key)
					}
				})
				_, err := core.Open(ctx, s, core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, RawFiles: v.Placed})
				if kind, code := core.Classify(err); kind != model.Refused || code != "damaged" {
					t.Errorf("without %s of %s: %v", what, d.Name, err)
				}
				damaged, err := core.Open(ctx, s, core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, RawFiles: v.Placed, Damaged: true})
				if err != nil {
					t.Fatalf("without %s of %s: %v", what, d.Name, err)
				}
				if a, err := damaged.Check(ctx, check.Options{}); err != nil || a.OK {
					t.Errorf("check without %s of %s: %v", what, d.Name, err)
				}
				update(t, s, func(b storage.Batch) {
					for _, row := range lost {
						b.Put(d.Family, row.Key, row.Value)
					}
				})
			}
		}
		if tried < 10 {
			t.Errorf("only %d losses were tested", tried)
		}
		consistent(t, open(t, s, v, 0))
	})
}

// newestAreRead reports whether a family has rows for every block, so that Open detects the loss of the newest half.
func newestAreRead(family string) bool {
	switch family {
	case "block_by_height_pk", "height_pk_by_block_hash", "tx_hash_by_tx_pk", "tx_pk_by_tx_hash", "raw_by_tx_pk":
		return true
	}
	return false
}
