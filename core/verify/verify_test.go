package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/schema"
	"birthmark/core/verify"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// The same seed selects the same sample, which contains the first and the last block. One more block changes little.
func TestTheSampleDependsOnTheSeed(t *testing.T) {
	v := modeltest.Variants()[3]
	blocks := v.NewGenerator(testseed.Of(t, 610)).Blocks(202)
	db := open(t, memory.New(), v, 1<<20)
	appendAll(t, db, blocks[:201], 50)
	sampled := func(seed uint64, n int) []model.HeightPk {
		t.Helper()
		s := shelve(blocks)
		a, err := db.Verify(context.Background(), s, verify.Options{Sample: n, Seed: seed})
		if err != nil || !a.OK || a.Seed != seed {
			t.Fatalf("%s, %v", text(a), err)
		}
		heights := slices.Sorted(slices.Values(s.asked[1:])) // without the block that the tip is compared with
		if int(a.Blocks) != len(heights) || len(slices.Compact(slices.Clone(heights))) != len(heights) {
			t.Fatalf("%d blocks: %v", a.Blocks, heights)
		}
		if heights[0] != v.First || heights[len(heights)-1] != db.Tip().Height {
			t.Fatalf("from %d to %d", heights[0], heights[len(heights)-1])
		}
		return heights
	}
	one, again, other := sampled(1, 30), sampled(1, 30), sampled(2, 30)
	if len(one) != 32 || !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("seed 1: %v, again: %v, seed 2: %v", one, again, other)
	}
	for n, want := range map[int]int{-5: 2, 0: 2, 1: 3, 198: 200, 199: 201, 200: 201, everything: 201} {
		if got := sampled(7, n); len(got) != want {
			t.Errorf("a sample of %d is %d blocks, expected %d", n, len(got), want)
		}
	}
	appendAll(t, db, blocks[201:], 1)
	kept := 0
	for _, h := range sampled(1, 30) {
		if slices.Contains(one, h) {
			kept++
		}
	}
	if kept < 30 {
		t.Errorf("%d of 32 blocks are the same after one block more", kept)
	}
	small := open(t, memory.New(), v, 0)
	for n := 1; n <= 3; n++ {
		appendAll(t, small, blocks[n-1:n], 1)
		for _, sample := range []int{0, 1, 5} {
			if a := compare(t, small, shelve(blocks[:n]), sample); int(a.Blocks) != min(n, 2+sample) || !a.OK {
				t.Errorf("a sample of %d of %d blocks: %s", sample, n, text(a))
			}
		}
	}
}

// A source with fewer or more blocks is not a difference. A source on another branch differs from the first different
// block on.
func TestVerifyFindsTheForkPoint(t *testing.T) {
	bothWays(t, func(t *testing.T, way func(*shelf) model.Source) {
		v := modeltest.Variants()[3]
		n := testseed.Of(t, 620)
		trunk := v.NewGenerator(n)
		shared := trunk.Blocks(20)
		ours, theirs := slices.Concat(shared, trunk.Fork(1).Blocks(13)), slices.Concat(shared, trunk.Fork(2).Blocks(9))
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, ours, 7)
		rng := rand.New(rand.NewPCG(n, 0))
		for range 10 {
			at := 1 + rng.IntN(19)
			a := compare(t, db, way(shelve(ours[:at])), everything)
			if !a.OK || int(a.Ahead) != len(ours)-at || a.Behind != 0 || int(a.Blocks) != at {
				t.Errorf("a source with %d blocks: %s", at, text(a))
			}
		}
		rollback(t, db, ours[24].Point())
		if a := compare(t, db, way(shelve(ours)), everything); !a.OK || a.Behind != 8 || a.Ahead != 0 || a.Blocks != 25 {
			t.Errorf("a source with more blocks: %s", text(a))
		}
		parts := func(a *verify.Result, at *model.Block, had int) {
			t.Helper()
			if a.OK || a.PartsAt == nil || *a.PartsAt != uint32(at.Height) || len(a.Differences) != 1 || a.Differences[0].Height != *a.PartsAt ||
				a.Differences[0].Source != at.Hash.String() || int(a.Blocks) != had {
				t.Errorf("%s", text(a))
			}
		}
		parts(compare(t, db, way(shelve(theirs)), everything), theirs[20], 20)
		parts(compare(t, db, way(shelve(theirs[:21])), everything), theirs[20], 20)
		other := v.NewGenerator(n + 1).Blocks(30)
		parts(compare(t, db, way(shelve(other)), everything), other[0], 0)
		one := open(t, memory.New(), v, 0)
		appendAll(t, one, ours[:1], 1)
		parts(compare(t, one, way(shelve(other)), everything), other[0], 0)
		for at := range 25 { // at any height
			mixed := slices.Concat(ours[:at], other[at:])
			parts(compare(t, db, way(shelve(mixed)), 0), mixed[at], min(at, 2))
		}
	})
}

// counter is a source that counts its unspent outputs.
type counter struct {
	*shelf
	is  model.UnspentTotals
	err error
}

func (c *counter) Unspent(context.Context) (model.UnspentTotals, error) { return c.is, c.err }

func TestVerifyComparesUnspentTotals(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 630)).Blocks(30)
	db := open(t, memory.New(), v, 1<<20)
	appendAll(t, db, blocks, 7)
	status, err := db.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	is := model.UnspentTotals{At: blocks[29].Point(), Outputs: status.Totals.Unspent}
	if _, err := fmt.Sscan(status.Totals.UnspentValue, &is.Value); err != nil {
		t.Fatal(err)
	}
	change := func(outputs, value int64) model.UnspentTotals {
		c := is
		c.Outputs, c.Value = c.Outputs+uint64(outputs), c.Value+uint64(value)
		return c
	}
	for _, c := range []struct {
		is    model.UnspentTotals
		more  verify.Count
		wrong int
	}{
		{is, verify.Count{Outputs: 0, Value: "0"}, 0},
		{change(-3, -70), verify.Count{Outputs: 3, Value: "70"}, 0},
		{change(1, 0), verify.Count{Outputs: -1, Value: "0"}, 1},
		{change(0, 5), verify.Count{Outputs: 0, Value: "-5"}, 1},
		{change(2, 5), verify.Count{Outputs: -2, Value: "-5"}, 2},
	} {
		a := compare(t, db, &counter{shelf: shelve(blocks), is: c.is}, 0)
		if a.Unspent == nil || !a.Unspent.Compared || *a.Unspent.More != c.more || len(a.Differences) != c.wrong ||
			a.Unspent.Database.Value != status.Totals.UnspentValue || a.Unspent.Source.Outputs != int64(c.is.Outputs) {
			t.Errorf("%+v: %s", c.is, text(a))
		}
	}
	broken := errors.New("broken")
	moved := is
	moved.At = blocks[28].Point()
	for _, c := range []struct {
		s      *counter
		reason string
	}{
		{&counter{shelf: shelve(blocks), err: model.Errorf(model.NotFound, "not_offered", "it does not count")}, "it does not count"},
		{&counter{shelf: shelve(blocks), is: moved}, "counted at block 28"},
		{&counter{shelf: shelve(blocks[:20]), err: broken}, "the source has another tip than the database"},
	} {
		a := compare(t, db, c.s, 0)
		if a.Unspent == nil || a.Unspent.Compared || !strings.Contains(a.Unspent.Reason, c.reason) || a.Unspent.Source != nil || !a.OK {
			t.Errorf("%s: %s", c.reason, text(a))
		}
	}
	if _, err := db.Verify(context.Background(), &counter{shelf: shelve(blocks), err: broken}, verify.Options{}); !errors.Is(err, broken) {
		t.Errorf("a count that fails: %v", err)
	}
}

func TestVerifyReportsWhatItCannotCompare(t *testing.T) {
	bothWays(t, func(t *testing.T, way func(*shelf) model.Source) {
		v := modeltest.Variants()[3]
		blocks := v.NewGenerator(testseed.Of(t, 640)).Blocks(30)
		db := open(t, memory.New(), v, 0)
		ctx := context.Background()
		fails := func(what string, db *core.DB, s model.Source, kind model.ErrorKind, want string) {
			t.Helper()
			a, err := db.Verify(ctx, s, verify.Options{Sample: everything})
			if k, c := model.KindOf(err); err == nil || a != nil || k != kind || c != want {
				t.Errorf("%s: %s, %v (%s)", what, text(a), err, c)
			}
		}
		fails("an empty database", db, way(shelve(blocks)), model.NotFound, "unknown_block")
		appendAll(t, db, blocks, 7)
		fails("a source without single blocks", db, struct{ model.Source }{shelve(blocks)}, model.Usage, "bad_source")
		fails("an empty source", db, way(shelve(nil)), model.BadSource, "source_empty")
		late := shelve(blocks)
		late.before = func(h model.HeightPk) error {
			if h == 20 {
				return model.Errorf(model.BadSource, "broken", "the cable was cut")
			}
			return nil
		}
		fails("a source that breaks", db, way(late), model.BadSource, "broken")
		forked := shelve(blocks)
		forked.before = func(h model.HeightPk) error {
			if h == 15 {
				forked.blocks = slices.Concat(blocks[:10], v.NewGenerator(testseed.Of(t, 640) + 1).Blocks(30)[10:])
			}
			return nil
		}
		fails("a source that goes another way meanwhile", db, way(forked), model.BadSource, "source_moved")
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		stopping := shelve(blocks)
		stopping.before = func(model.HeightPk) error { cancel(); return nil }
		if _, err := db.Verify(ctx, way(stopping), verify.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// Writes during a comparison do not affect it.
func TestVerifyReadsOneSnapshot(t *testing.T) {
	for name, store := range map[string]func(testing.TB) storage.Store{"memory": func(testing.TB) storage.Store { return memory.New() }} {
		t.Run(name, func(t *testing.T) {
			v := modeltest.Variants()[0]
			trunk := v.NewGenerator(testseed.Of(t, 650))
			blocks := trunk.Blocks(20)
			other := trunk.Fork(1).Blocks(3)
			db := open(t, store(t), v, 1<<20)
			appendAll(t, db, blocks, 7)
			meanwhile := func(done, _ uint64) {
				switch done {
				case 5:
					appendAll(t, db, other, 1)
				case 10:
					rollback(t, db, blocks[12].Point())
				}
			}
			a, err := db.Verify(context.Background(), shelve(blocks), verify.Options{Sample: everything, Progress: meanwhile})
			if err != nil || !a.OK || a.Blocks != 20 || db.Tip() != blocks[12].Point() {
				t.Errorf("%s, %v", text(a), err)
			}
		})
	}
}

func TestVerifyAgreesWithTheSource(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		trunk := v.NewGenerator(testseed.Of(t, 600))
		blocks := trunk.Blocks(40)
		gone := trunk.Fork(1).Blocks(5)
		blocks = append(blocks, trunk.Fork(2).Blocks(6)...)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks[:40], 9)
		appendAll(t, db, gone, 2)
		rollback(t, db, blocks[39].Point())
		appendAll(t, db, blocks[40:], 6)
		var done, total uint64
		a, err := db.Verify(context.Background(), shelve(blocks), verify.Options{Sample: everything, Progress: func(d, t uint64) { done, total = d, t }})
		if err != nil || !a.OK {
			t.Fatalf("%s, %v", text(a), err)
		}
		status, err := db.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		genesis := 0
		for _, b := range blocks {
			genesis += len(b.Genesis)
		}
		if is := status.Totals; a.Blocks != is.Blocks || a.Txs != is.Txs+uint64(genesis) || a.Inputs != is.Inputs || a.Outputs != is.Outputs+is.GenesisOutputs {
			t.Errorf("compared %s, the database has %s", text(a), text(is))
		}
		if done != 46 || total != 46 {
			t.Errorf("the last progress is %d of %d", done, total)
		}
		tip := blocks[45]
		if want := (verify.Point{Height: uint32(tip.Height), Hash: tip.Hash.String()}); a.Tip != want || a.SourceTip != want || a.Behind+a.Ahead != 0 || a.PartsAt != nil || a.Unspent != nil {
			t.Errorf("%s", text(a))
		}
	})
}

// For a damaged row of any family, verify reports the difference from the source and continues with the rest.
func TestVerifyFindsDamage(t *testing.T) {
	says := map[string]string{ // expected text, by damaged family
		"block_by_height_pk":        "block|tip|chains|transactions",
		"height_pk_by_block_hash":   "block by hash",
		"tx_hash_by_tx_pk":          "transaction|fee",
		"tx_pk_by_tx_hash":          "transaction by hash",
		"utxo_by_utxo_pk":           "output",
		"spent_utxo_pk_by_input_pk": "input",
		"spent_input_pk_by_utxo_pk": "spender",
		"assets_by_utxo_pk":         "asset",
		"asset_id_by_birth_pk":      "asset",
		"birth_pk_by_asset_id":      "found by asset",
		"asset_relations":           "found by asset",
		"asset_supply_by_tx_pk":     "mint or burn",
		"raw_by_tx_pk":              "bytes of the transaction",

		"birth_pk_by_asset_fingerprint": "found by fingerprint",
		"asset_info_by_birth_pk":        "info of the asset",
	}
	// A single block does not determine sums over blocks. Check verifies these.
	aggregates := []string{"asset_holdings", "asset_totals_by_birth_pk", "statistics_by_height_pk", "statistics_by_day"}
	for _, x := range modeltest.IndexNames {
		aggregates = append(aggregates, x+"_balance_by_birth_pk", x+"_held_assets", x+"_unspent", x+"_history",
			x+"_statistics_by_height_pk", x+"_statistics_by_day")
		says[x+"_by_birth_pk"], says["birth_pk_by_"+x], says[x+"_relations"] = x, "found by "+x, "found by "+x
		says[x+"_texts"] = "found by prefix of " + x
	}
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 660)
		rng := rand.New(rand.NewPCG(n, 0))
		s := &coretest.Declared{Store: memory.New()}
		db := open(t, s, v, 1<<20)
		blocks := v.NewGenerator(n).Blocks(15)
		appendAll(t, db, blocks, 5)
		want := coretest.Dump(t, db)
		for _, d := range s.Declarations {
			if !schema.Determined(d.Family) || d.Name == "meta" || slices.Contains(aggregates, d.Name) {
				continue // the row does not belong to a block, or the chain does not determine it
			}
			named, known := says[d.Name]
			if !known {
				t.Fatalf("the test lacks the family %s", d.Name)
			}
			rows := coretest.RowsOf(t, s, d.Family)
			for _, how := range []string{"delete", "change", "cut"} {
				if len(rows) > 0 && len(rows[0].Value) == 0 && how != "delete" {
					continue // a relation has a key and no value
				}
				for range min(testrun.Amount(2, 1), len(rows)) {
					row := rows[rng.IntN(len(rows))]
					coretest.Update(t, s, func(b storage.Batch) { coretest.Damages[how](b, d.Family, row, rng) })
					a := compare(t, db, ways[rng.IntN(len(ways))].of(shelve(blocks)), everything)
					found := slices.ContainsFunc(a.Differences, func(d verify.Difference) bool {
						return regexp.MustCompile(named).MatchString(d.What + ": " + d.Database)
					})
					if a.OK || !found {
						t.Errorf("%s of row %x -> %.80x of %s: %.500s", how, row.Key, row.Value, d.Name, text(a.Differences))
					}
					coretest.Update(t, s, func(b storage.Batch) {
						b.Delete(d.Family, row.Key)
						b.Put(d.Family, row.Key, row.Value)
					})
				}
			}
		}
		coretest.Same(t, "healed", coretest.Dump(t, db), want)
		if a := compare(t, db, shelve(blocks), everything); !a.OK {
			t.Errorf("after the repair: %s", text(a))
		}
	})
}
