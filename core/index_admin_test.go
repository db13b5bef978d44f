package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// having returns blocks with the values of some indexes of the test chain, as from a source that was opened with
// these indexes.
func having(blocks []*model.Block, names ...string) []*model.Block {
	some := make([]*model.Block, len(blocks))
	txs := func(all []model.Tx) []model.Tx {
		all = slices.Clone(all)
		for i := range all {
			all[i].Outputs = slices.Clone(all[i].Outputs)
			for j := range all[i].Outputs {
				var keys []model.Key
				for position, name := range names {
					for _, k := range all[i].Outputs[j].Keys {
						if modeltest.IndexNames[k.Index] == name {
							keys = append(keys, model.Key{Index: position, Value: k.Value})
						}
					}
				}
				all[i].Outputs[j].Keys = keys
			}
		}
		return all
	}
	for i, b := range blocks {
		c := *b
		c.Genesis, c.Txs = txs(b.Genesis), txs(b.Txs)
		some[i] = &c
	}
	return some
}

// changing is a database whose indexes change, and the chain that it should contain.
type changing struct {
	t     *testing.T
	v     modeltest.Variant
	store storage.Store
	db    *core.DB
	chain []*model.Block
	grown []*modeltest.Generator // grown[n] generates the blocks after the first n
	forks uint64

	// plain: until rules are added, the database has none. Blocks state no assets.
	plain bool

	opened []model.Point // after which sources began
}

func openChanging(t *testing.T, v modeltest.Variant, s storage.Store, seed uint64, names []string, keep map[string]model.IndexOptions) *changing {
	t.Helper()
	l := &changing{t: t, v: v, store: s, grown: []*modeltest.Generator{v.NewGenerator(seed)}}
	l.reopen(names, keep)
	return l
}

// reopen opens the database. The names can include those of raw transactions and of their places.
func (l *changing) reopen(names []string, keep map[string]model.IndexOptions) {
	l.t.Helper()
	isRaw := func(name string) bool { return name == schema.RawName || name == schema.RawFilesName }
	v := l.v
	if l.plain {
		id, _, err := core.Identify(context.Background(), l.store)
		if err != nil {
			l.t.Fatal(err)
		}
		v.Tokens = id.Assets != ""
	}
	db, err := core.Open(context.Background(), l.store, core.Options{
		Chain: v.Chain("one"), Indexes: slices.DeleteFunc(slices.Clone(names), isRaw), Keep: keep, CacheBytes: 1 << 20,
		Raw: slices.Contains(names, schema.RawName), RawFiles: slices.Contains(names, schema.RawFilesName),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.db = db
}

func (l *changing) append(blocks []*model.Block, batch int) {
	l.t.Helper()
	l.chain = append(slices.Clip(l.chain), blocks...)
	some := having(blocks, l.db.Indexes()...)
	if l.v.Offers {
		withoutAssets(some)
	}
	appendAll(l.t, l.db, some, batch)
}

func (l *changing) rollback(n int) {
	l.t.Helper()
	keep := max(1, len(l.chain)-n) // another genesis would be another chain
	l.chain, l.grown = l.chain[:keep:keep], l.grown[:keep+1]
	l.forks++
	l.grown[keep] = l.grown[keep].Fork(l.forks)
	rollback(l.t, l.db, point(l.chain, keep-1))
}

// grow appends n blocks.
func (l *changing) grow(n, batch int) {
	l.t.Helper()
	var blocks []*model.Block
	for range n {
		g := l.grown[len(l.grown)-1].Fork(0)
		blocks, l.grown = append(blocks, g.Next()), append(l.grown, g)
	}
	l.append(blocks, batch)
}

// open returns a source of the current chain.
func (l *changing) open(_ context.Context, x *schema.Index, known []model.Point) (model.Source, error) {
	l.opened = append(l.opened, append(known, model.Point{})[0])
	return events(having(l.chain, x.Name)), nil
}

// build continues the current backfill or removal and interrupts it after the given number of steps; negative: never.
func (l *changing) build(steps, weight int) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := l.db.Build(ctx, l.open, backfill.Options{Weight: weight, Progress: func(p backfill.Progress) {
		if steps--; steps == 0 && !p.Done {
			cancel()
		}
	}})
	if err != nil && !errors.Is(err, context.Canceled) {
		l.t.Fatal(err)
	}
}

// made returns the dump of a database that was created with the indexes.
func (l *changing) made(names []string, keep map[string]model.IndexOptions) dumped {
	l.t.Helper()
	other := openChanging(l.t, l.v, memory.New(), 0, names, keep)
	other.append(l.chain, 7)
	consistent(l.t, other.db)
	return dump(l.t, other.db)
}

var everything4 = model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true, Statistics: true}

// everyStore runs a test for every variant in memory, and on disk for one variant per kind of disk store.
func everyStore(t *testing.T, test func(t *testing.T, v modeltest.Variant, s storage.Store)) {
	disk := map[string]string{"like-cardano": "rocks", "like-ergo": "rocks in bulk"}
	variants(t, func(t *testing.T, v modeltest.Variant) {
		for _, name := range []string{"memory", disk[v.Name]} {
			if name != "" {
				t.Run(name, func(t *testing.T) { test(t, v, stores()[name](t)) })
			}
		}
	})
}

// firstIndexes returns the indexes that a variant requires, and the index of holders.
func firstIndexes(v modeltest.Variant) []string {
	if v.Boxes {
		return []string{"address", "box"}
	}
	return []string{"address"}
}

// After any interruptions, an index that was added to a running database has the same rows as in a database that was
// created with it.
func TestAnAddedIndexEqualsOneFromTheStart(t *testing.T) {
	for _, added := range []string{"tag", "label", modeltest.MakerIndex, model.StatisticsIndex, schema.RawName, schema.RawFilesName} {
		everyStore(t, func(t *testing.T, v modeltest.Variant, s storage.Store) {
			if v.Boxes && added == "tag" {
				return // in a database created with it, the index would have another number
			}
			if added == schema.RawName && !v.Raw {
				return // the blocks have no raw transactions
			}
			options := everything4
			if added != "tag" && added != "label" {
				options = model.IndexOptions{}
			}
			n := testseed.Of(t, 700)
			rng := rand.New(rand.NewPCG(n, 1))
			first := firstIndexes(v)
			l := openChanging(t, v, s, n, first, nil)
			l.grow(20, 6)
			if err := l.db.AddIndex(context.Background(), added, options); err != nil {
				t.Fatal(err)
			}
			if err := l.db.AddIndex(context.Background(), added, options); err != nil {
				t.Errorf("added again: %v", err)
			}
			for range 12 {
				switch rng.IntN(5) {
				case 0:
					l.grow(1+rng.IntN(6), 1+rng.IntN(4))
				case 1:
					l.rollback(rng.IntN(8))
				case 2:
					l.reopen(nil, nil)
				default:
					l.build(1+rng.IntN(3), 1+rng.IntN(200))
				}
				consistent(t, l.db)
				if c, err := l.db.Check(context.Background(), check.Options{Index: added}); err != nil || !c.OK {
					t.Errorf("check of %s alone: %v, %v", added, text(c), err)
				}
			}
			l.build(-1, 100)
			consistent(t, l.db)
			same(t, "added", dump(t, l.db), l.made(append(slices.Clone(first), added), map[string]model.IndexOptions{added: options}))
			l.grow(10, 3)
			l.rollback(15)
			l.grow(20, 5)
			consistent(t, l.db)
			same(t, "added and continued", dump(t, l.db), l.made(append(slices.Clone(first), added), map[string]model.IndexOptions{added: options}))
		})
	}
}

// The same holds for options that are added to an existing index. No source is needed.
func TestAddedOptionsMatchInitialOnes(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 710)
		names := append(firstIndexes(v), "tag", "label")
		l := openChanging(t, v, memory.New(), n, names, map[string]model.IndexOptions{"label": {History: true}})
		l.grow(30, 6)
		keep := map[string]model.IndexOptions{"address": everything4, "label": everything4}
		none := func(context.Context, *schema.Index, []model.Point) (model.Source, error) {
			return nil, errors.New("a source is opened")
		}
		for _, name := range []string{"label", "address"} {
			if err := l.db.AddIndex(context.Background(), name, keep[name]); err != nil {
				t.Fatal(err)
			}
			l.build(2, 50)
			l.rollback(25)
			consistent(t, l.db)
			l.grow(20, 4)
			l.reopen(nil, nil)
			consistent(t, l.db)
			if err := l.db.Build(context.Background(), none, backfill.Options{Weight: 77}); err != nil {
				t.Fatal(err)
			}
			consistent(t, l.db)
		}
		same(t, "options added", dump(t, l.db), l.made(names, keep))
	})
}

// Dropping an index removes everything except its number.
func TestADroppedIndexLeavesNoRows(t *testing.T) {
	everyStore(t, func(t *testing.T, v modeltest.Variant, s storage.Store) {
		n := testseed.Of(t, 720)
		first := firstIndexes(v)
		l := openChanging(t, v, s, n, append(slices.Clone(first), "tag", "label"), map[string]model.IndexOptions{"tag": everything4})
		l.grow(30, 6)
		if err := l.db.DropIndex(context.Background(), "tag"); err != nil {
			t.Fatal(err)
		}
		consistent(t, l.db)
		if _, err := l.db.Find(context.Background(), "tag", "t00", query.Terms{}, query.Page{}); code(err) != "unknown_index" {
			t.Errorf("query of a dropped index: %v", err)
		}
		l.build(2, 20)
		l.grow(5, 2)
		l.reopen(nil, nil)
		consistent(t, l.db)
		l.rollback(10)
		l.grow(5, 2)
		l.build(-1, 33)
		consistent(t, l.db)
		lacks := func(d dumped) (rows dumped) {
			for _, row := range d {
				if !strings.HasPrefix(row, "meta ") {
					rows = append(rows, row)
				}
			}
			return rows
		}
		made := openChanging(t, v, memory.New(), n, append(slices.Clone(first), "tag", "label"), nil)
		if err := made.db.DropIndex(context.Background(), "tag"); err != nil {
			t.Fatal(err)
		}
		made.build(-1, 10)
		made.append(l.chain, 7)
		same(t, "dropped", lacks(dump(t, l.db)), lacks(dump(t, made.db)))
		if err := l.db.AddIndex(context.Background(), "tag", model.IndexOptions{}); err != nil {
			t.Fatal(err)
		}
		l.build(-1, 33)
		consistent(t, l.db)
	})
}

// A database whose raw transactions were dropped equals one without them.
func TestDroppedRawTransactionsLeaveNoRows(t *testing.T) {
	for _, dropped := range []string{schema.RawName, schema.RawFilesName} {
		everyStore(t, func(t *testing.T, v modeltest.Variant, s storage.Store) {
			if dropped == schema.RawName && !v.Raw {
				return
			}
			l := openChanging(t, v, s, testseed.Of(t, 725), append(firstIndexes(v), dropped), nil)
			l.grow(30, 6)
			if err := l.db.DropIndex(t.Context(), schema.RawName); err != nil {
				t.Fatal(err)
			}
			consistent(t, l.db)
			l.grow(5, 2)
			l.reopen(nil, nil)
			l.rollback(10)
			consistent(t, l.db)
			l.build(-1, 33)
			l.grow(5, 2)
			consistent(t, l.db)
			same(t, "dropped", dump(t, l.db), l.made(firstIndexes(v), nil))
			if err := l.db.AddIndex(t.Context(), dropped, model.IndexOptions{}); err != nil {
				t.Fatal(err)
			}
			l.build(-1, 33)
			consistent(t, l.db)
			same(t, "added again", dump(t, l.db), l.made(append(firstIndexes(v), dropped), nil))
		})
	}
}

// A source whose transactions are not those of the database is rejected.
func TestRawTransactionsOfOtherBlocksAreRejected(t *testing.T) {
	v := modeltest.Variants()[0]
	n := testseed.Of(t, 726)
	for what, change := range map[string]func(b *model.Block){
		"no bytes":             func(b *model.Block) { b.Txs[len(b.Txs)-1].Raw = nil },
		"another hash":         func(b *model.Block) { b.Txs[len(b.Txs)-1].Hash[3]++ },
		"a transaction fewer":  func(b *model.Block) { b.Txs = b.Txs[:len(b.Txs)-1] },
		"a transaction more":   func(b *model.Block) { b.Txs = append(b.Txs, b.Txs[0]) },
		"two change positions": func(b *model.Block) { b.Txs[0], b.Txs[1] = b.Txs[1], b.Txs[0] },
	} {
		l := openChanging(t, v, memory.New(), n, []string{"address"}, nil)
		l.grow(20, 5)
		if err := l.db.AddIndex(t.Context(), schema.RawName, model.IndexOptions{}); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(l.chain, func(b *model.Block) bool { return len(b.Txs) > 1 })
		open := func(context.Context, *schema.Index, []model.Point) (model.Source, error) {
			blocks := having(l.chain)
			change(blocks[i])
			return events(blocks), nil
		}
		err := l.db.Build(t.Context(), open, backfill.Options{Weight: 10})
		if kind(err) != model.BadSource || code(err) != "bad_block" || !strings.Contains(err.Error(), fmt.Sprintf("block %d ", l.chain[i].Height)) {
			t.Errorf("%s: %v", what, err)
		}
		consistent(t, l.db)
		l.build(-1, 10)
		consistent(t, l.db)
		same(t, what, dump(t, l.db), l.made([]string{"address", schema.RawName}, nil))
	}
}

// A backfill during a sync: the sync is interrupted when the index becomes active, and resumes with it.
func TestBuildDuringSync(t *testing.T) {
	everyStore(t, func(t *testing.T, v modeltest.Variant, s storage.Store) {
		n := testseed.Of(t, 730)
		first := firstIndexes(v)
		l := openChanging(t, v, s, n, first, nil)
		blocks := v.NewGenerator(n).Blocks(160)
		l.chain = blocks
		appendAll(t, l.db, having(blocks[:30], first...), 9)
		if err := l.db.AddIndex(context.Background(), "label", everything4); err != nil {
			t.Fatal(err)
		}
		built := make(chan error, 1)
		go func() { built <- l.db.Build(context.Background(), l.open, backfill.Options{Weight: 40}) }()
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			for range 200 {
				a, err := l.db.Status(context.Background())
				if err != nil || a.Tip == nil {
					t.Errorf("status during the backfill: %v", err)
					return
				}
			}
		}()
		for ended := false; !ended; {
			ended = len(built) > 0 // checked before the sync, so that one more sync follows
			names := l.db.Indexes()
			err := core.Sync(context.Background(), l.db, events(having(blocks, names...)), core.SyncOptions{Indexes: names, BatchWeight: 100})
			if errors.Is(err, core.ErrIndexesChange) {
				ended = false
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := <-built; err != nil {
			t.Fatal(err)
		}
		<-asked
		consistent(t, l.db)
		same(t, "built beside", dump(t, l.db), l.made(append(slices.Clone(first), "label"), map[string]model.IndexOptions{"label": everything4}))
	})
}

// Impossible changes of indexes are rejected by name and change nothing.
func TestRejectedIndexChanges(t *testing.T) {
	v := modeltest.Variants()[2] // an Ergo-like chain with assets
	ctx := context.Background()
	l := openChanging(t, v, memory.New(), testseed.Of(t, 740), []string{"address", "box"}, nil)
	l.grow(15, 5)
	before := dump(t, l.db)
	for what, c := range map[string]struct {
		err  error
		code string
	}{
		"nothing of the chain":    {l.db.AddIndex(ctx, "colour", model.IndexOptions{}), "unknown_index"},
		"what is there":           {l.db.AddIndex(ctx, "address", model.IndexOptions{}), "exists"},
		"unspent of a one-to-one": {l.db.AddIndex(ctx, "box", model.IndexOptions{Unspent: true}), "bad_option"},
		"drop of nothing":         {l.db.DropIndex(ctx, "tag"), "unknown_index"},
		"drop of boxes":           {l.db.DropIndex(ctx, "box"), "always_on"},
		"drop of holders":         {l.db.DropIndex(ctx, "address"), "needed"},
		"drop of no raw":          {l.db.DropIndex(ctx, "raw"), "unknown_index"},
		"options of raw":          {l.db.AddIndex(ctx, "raw", model.IndexOptions{Balance: true}), "bad_option"},
	} {
		if kind(c.err) != model.Usage || code(c.err) != c.code {
			t.Errorf("%s: %v, expected %s", what, c.err, c.code)
		}
	}
	same(t, "refused", dump(t, l.db), before)
	if err := l.db.AddIndex(ctx, "tag", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	before = dump(t, l.db)
	if err := l.db.AddIndex(ctx, "label", model.IndexOptions{}); code(err) != "busy" {
		t.Errorf("a second addition: %v", err)
	}
	if _, err := l.db.Balance(ctx, "tag", "t00"); kind(err) != model.Refused || code(err) != "index_building" || !strings.Contains(fmt.Sprint(err), "of 15") {
		t.Errorf("query while the index is added: %v", err)
	}
	same(t, "refused", dump(t, l.db), before)
	if err := l.db.DropIndex(ctx, "tag"); err != nil {
		t.Errorf("drop of an index that is being added: %v", err)
	}
	l.build(-1, 10)
	consistent(t, l.db)
	_, err := core.Open(ctx, l.store, core.Options{Chain: v.Chain("one"), Indexes: []string{"address"}, Keep: map[string]model.IndexOptions{"address": {Balance: true}}})
	if code(err) != "index_mismatch" || !strings.Contains(fmt.Sprint(err), "birthmark index add address") {
		t.Errorf("options that the database does not have: %v", err)
	}
}

// unsure is a store whose updates are applied and return an error.
type unsure struct {
	storage.Store
	fails bool
}

func (s *unsure) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	err := s.Store.Update(ctx, fn)
	if s.fails && err == nil {
		err = errors.New("the disk says no")
	}
	return err
}

// If a change of the indexes was applied but returned an error, nothing is written with the old catalogue.
func TestAFailedIndexChangeStopsWrites(t *testing.T) {
	v := modeltest.Variants()[0]
	ctx := context.Background()
	for what, change := range map[string]func(l *changing) error{
		"add":  func(l *changing) error { return l.db.AddIndex(ctx, "label", everything4) },
		"drop": func(l *changing) error { return l.db.DropIndex(ctx, "tag") },
	} {
		s := &unsure{Store: memory.New()}
		l := openChanging(t, v, s, testseed.Of(t, 750), []string{"address", "tag"}, nil)
		l.grow(10, 5)
		s.fails = true
		if err := change(l); err == nil || !strings.Contains(err.Error(), "disk") {
			t.Errorf("%s: %v", what, err)
		}
		s.fails = false
		next := l.grown[len(l.grown)-1].Fork(0).Blocks(1)
		if err := l.db.Append(ctx, having(next, "address", "tag")); code(err) != "open_again" {
			t.Errorf("append after a failed %s: %v", what, err)
		}
		l.reopen(nil, nil)
		consistent(t, l.db)
		l.grow(5, 2)
		l.build(-1, 50)
		consistent(t, l.db)
	}
}

// updating is a store that calls written after each update.
type updating struct {
	storage.Store
	written func()
}

func (u *updating) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	err := u.Store.Update(ctx, fn)
	if u.written != nil {
		u.written()
	}
	return err
}

// No query reads rows between the write of a new catalogue and its activation.
func TestNoQueryRunsBetweenTwoLayouts(t *testing.T) {
	s := &updating{Store: memory.New()}
	l := openChanging(t, modeltest.Variants()[0], s, 1, modeltest.IndexNames[:1], nil)
	changes := 0
	s.written = func() {
		changes++
		if l.db.Answers() {
			t.Error("a query can run after a catalogue is written and before it is loaded")
		}
	}
	name := modeltest.IndexNames[0]
	if err := l.db.AddIndex(t.Context(), name, model.IndexOptions{Unspent: true}); err != nil {
		t.Fatal(err)
	}
	if changes == 0 {
		t.Error("nothing was written")
	}
	if !l.db.Answers() {
		t.Error("no query can run afterwards")
	}
}
