package core_test

import (
	"context"
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/coretest"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// multiplied returns blocks whose last but two spends assets and gives each of them to each of its outputs, and the
// position of that block.
func multiplied(assets, outputs int) (blocks []*model.Block, at int) {
	var tip *model.Block
	n := byte(0)
	next := func(txs ...model.Tx) {
		n++
		tip = after(tip, n, txs...)
		blocks = append(blocks, tip)
	}
	names := 0
	tx := func(in []model.Input, outputs int, message any) model.Tx {
		names++
		t := model.Tx{Inputs: in, Message: message}
		copy(t.Hash[:], fmt.Sprintf("transaction %d", names))
		for i := range outputs {
			t.Outputs = append(t.Outputs, model.Output{Value: 1, Keys: []model.Key{{Index: 0, Value: []byte{1 + byte(i%7)}}}})
		}
		return t
	}
	coinbase := tx(nil, assets, nil)
	next(coinbase)
	next()
	next()
	var made []model.Tx
	var spent []model.Input
	for i := range assets {
		t := tx([]model.Input{{Tx: coinbase.Hash, Index: uint32(i)}}, 1, &modeltest.TokenWish{
			Create: fmt.Sprint("asset", i), Cap: 9, Until: 1000, To: []int{0},
		})
		made, spent = append(made, t), append(spent, model.Input{Tx: t.Hash})
	}
	next(made...)
	next()
	to := make([]int, outputs)
	for i := range to {
		to[i] = i
	}
	all := tx(spent, outputs, &modeltest.TokenWish{To: to, Each: true})
	next(all)
	at = len(blocks) - 1
	next(tx([]model.Input{{Tx: all.Hash, Index: 3}, {Tx: all.Hash, Index: 9}}, 2, &modeltest.TokenWish{To: []int{1}}))
	next()
	return blocks, at
}

// A block whose assets need more memory than there is ends the sync with block_too_large. All blocks before it are
// written, and with more memory the sync continues.
func TestABlockWithTooManyAssetsEndsTheSync(t *testing.T) {
	v := modeltest.Variant{Name: "tokens", Coinbase: true, ByHand: true, Tokens: true, Fingerprints: true, Described: true, Kept: true}
	const assets, outputs = 40, 50
	blocks, at := multiplied(assets, outputs)
	rng := testseed.Rand(t)
	dumpOf := func(n int) coretest.Dumped {
		db := coretest.Open(t, memory.New(), v, 0)
		for _, b := range blocks[:n] {
			coretest.AppendAll(t, db, []*model.Block{b}, 1)
		}
		coretest.Consistent(t, db)
		return coretest.Dump(t, db)
	}
	before, all := dumpOf(at), dumpOf(len(blocks))
	for range 8 {
		open := func(s storage.Store, most int64) *core.DB {
			db, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one"), Keep: v.Keep(), CacheBytes: rng.Int64N(1 << 20),
				Room: func(bytes int64) error {
					if bytes > most {
						return model.Errorf(model.Machine, "block_too_large", "it needs %d bytes of %d", bytes, most)
					}
					return nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		s := memory.New()
		o := core.SyncOptions{BatchWeight: 1 + rng.IntN(3*assets*outputs)}
		db := open(s, 800*(assets*outputs-1))
		for range 2 {
			err := core.Sync(t.Context(), db, events(blocks), o)
			if _, code := model.KindOf(err); code != "block_too_large" {
				t.Fatalf("error %v, expected block_too_large", err)
			}
			coretest.Same(t, "the blocks before", coretest.Dump(t, db), before)
		}
		err := db.Append(t.Context(), blocks[at:at+1])
		if _, code := model.KindOf(err); code != "block_too_large" {
			t.Fatalf("error %v, expected block_too_large", err)
		}
		coretest.Consistent(t, db)
		db = open(s, 800*assets*outputs)
		if err := core.Sync(t.Context(), db, events(blocks), o); err != nil {
			t.Fatal(err)
		}
		coretest.Same(t, "all blocks", coretest.Dump(t, db), all)
		coretest.Consistent(t, db)
		coretest.Rollback(t, db, blocks[at-1].Point())
		coretest.Same(t, "rolled back", coretest.Dump(t, db), before)
	}
}

// Blocks with many assets are divided into several batches, and the rows are the same.
func TestBatchesWithManyAssetsAreDivided(t *testing.T) {
	v := modeltest.Variant{Name: "tokens", Coinbase: true, ByHand: true, Tokens: true, Fingerprints: true, Described: true, Kept: true}
	blocks, _ := multiplied(12, 30)
	whole := coretest.Open(t, memory.New(), v, 1<<20)
	coretest.AppendAll(t, whole, blocks, len(blocks))
	want := coretest.Dump(t, whole)
	for _, entries := range []int64{400, 360, 100, 12, 1} {
		store := &counted{Store: memory.New()}
		db := coretest.Open(t, store, v, 1<<20)
		store.updates = 0
		if err := core.Sync(t.Context(), db, events(blocks), core.SyncOptions{BatchBytes: 100 * entries}); err != nil {
			t.Fatal(err)
		}
		coretest.Same(t, fmt.Sprintf("with %d entries per batch", entries), coretest.Dump(t, db), want)
		coretest.Consistent(t, db)
		if least := map[int64]int{100: 3, 12: 3, 1: 4}[entries]; store.updates < least {
			t.Errorf("%d entries per batch: %d batches, expected at least %d", entries, store.updates, least)
		}
	}
}

// counted counts the updates of a store.
type counted struct {
	storage.Store
	updates int
}

func (s *counted) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	s.updates++
	return s.Store.Update(ctx, fn)
}

// Assets that are added to a database are counted, too: many are divided into several steps, and a block that has no room
// ends the backfill after all blocks before it.
func TestAddedAssetsAreCounted(t *testing.T) {
	v := modeltest.Variant{Name: "tokens", Coinbase: true, ByHand: true, Fingerprints: true, Described: true, Kept: true, Offers: true}
	const assets, outputs = 12, 30
	blocks, at := multiplied(assets, outputs)
	with := v
	with.Tokens = true
	all := coretest.Open(t, memory.New(), with, 0)
	coretest.AppendAll(t, all, blocks, 1)
	s := memory.New()
	open := func(most int64) *core.DB {
		db, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Room: func(bytes int64) error {
			if bytes > most {
				return model.Errorf(model.Machine, "block_too_large", "it needs %d bytes", bytes)
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	source := func(context.Context, *schema.Index, []model.Point) (model.Source, error) { return events(blocks), nil }
	db := open(800 * (assets*outputs - 1))
	coretest.AppendAll(t, db, blocks, 3)
	if err := db.AddIndex(t.Context(), "tokens", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	steps := []model.HeightPk{}
	o := backfill.Options{Weight: 150, Progress: func(p backfill.Progress) { steps = append(steps, p.Height) }}
	err := db.Build(t.Context(), source, o)
	if _, code := model.KindOf(err); code != "block_too_large" || len(steps) < 1 || steps[len(steps)-1] != blocks[at-1].Height {
		t.Fatalf("steps to %v, error %v, expected block_too_large after block %d", steps, err, blocks[at-1].Height)
	}
	coretest.Consistent(t, db)
	db = open(800 * assets * outputs)
	if err := db.Build(t.Context(), source, o); err != nil {
		t.Fatal(err)
	}
	coretest.Consistent(t, db)
	coretest.Same(t, "added", coretest.Dump(t, db), coretest.Dump(t, all))
}
