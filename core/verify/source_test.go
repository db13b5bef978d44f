package verify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	gosync "sync"
	"testing"

	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// shelf is a source with random access to its blocks.
type shelf struct {
	model.Source
	mu     gosync.Mutex
	blocks []*model.Block
	asked  []model.HeightPk
	before func(h model.HeightPk) error // called before a block is returned
}

func shelve(blocks []*model.Block) *shelf { return &shelf{blocks: blocks} }

func (s *shelf) Tip(context.Context) (model.Point, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.blocks) == 0 {
		return model.Point{}, nil
	}
	return s.blocks[len(s.blocks)-1].Point(), nil
}

func (s *shelf) BlockAt(_ context.Context, h model.HeightPk) (*model.Block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		if err := s.before(h); err != nil {
			return nil, err
		}
	}
	s.asked = append(s.asked, h)
	for _, b := range s.blocks {
		if b.Height == h {
			return b, nil
		}
	}
	return nil, model.Errorf(model.NotFound, "unknown_block", "no block at height %d", h)
}

// lineage is a source that finds blocks by their parent.
type lineage struct {
	model.Source
	shelf *shelf
}

func (l lineage) Tip(ctx context.Context) (model.Point, error) { return l.shelf.Tip(ctx) }

func (l lineage) Child(ctx context.Context, after model.Point) (*model.Block, error) {
	l.shelf.mu.Lock()
	next := after.Height + 1
	known := slices.ContainsFunc(l.shelf.blocks, func(b *model.Block) bool { return b.Point() == after })
	if after.IsOrigin() && len(l.shelf.blocks) > 0 {
		next, known = l.shelf.blocks[0].Height, true
	}
	l.shelf.mu.Unlock()
	if !known {
		return nil, model.Errorf(model.NotFound, "unknown_block", "no block %v", after)
	}
	return l.shelf.BlockAt(ctx, next)
}

// ways are the kinds of block access of a source.
var ways = []struct {
	name string
	of   func(*shelf) model.Source
}{
	{"by height", func(s *shelf) model.Source { return s }},
	{"by the block before", func(s *shelf) model.Source { return lineage{s.Source, s} }},
}

func bothWays(t *testing.T, test func(t *testing.T, way func(*shelf) model.Source)) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) { test(t, w.of) })
	}
}

func TestBlocksAreTheSameByHeightAndByParent(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 670)).Blocks(30)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks, 7)
		for _, sample := range []int{0, 1, 9, everything} {
			want, got := compare(t, db, shelve(blocks), sample), compare(t, db, ways[1].of(shelve(blocks)), sample)
			if !want.OK || text(got) != text(want) {
				t.Errorf("a sample of %d by parent: %s, by height: %s", sample, text(got), text(want))
			}
		}
	})
}

// A row that does not lead to the next block is reported as damage of the database. All other blocks are compared.
func TestBrokenLinksAreReported(t *testing.T) {
	n := testseed.Of(t, 680)
	rng := rand.New(rand.NewPCG(n, 0))
	for _, v := range modeltest.Variants() {
		s := &coretest.Declared{Store: memory.New()}
		db := open(t, s, v, 1<<20)
		blocks := v.NewGenerator(n).Blocks(25)
		appendAll(t, db, blocks, 5)
		family := s.Declarations[slices.IndexFunc(s.Declarations, func(d storage.Declaration) bool { return d.Name == "block_by_height_pk" })].Family
		rows := coretest.RowsOf(t, s, family)
		for range testrun.Amount(15, 3) {
			broken := map[uint32]bool{}
			var healed []storage.KV
			for range 1 + rng.IntN(3) {
				from := rng.IntN(20)
				for i := from; i < min(from+1+rng.IntN(4), 24); i++ { // the row of the tip decides whether the chains differ
					height := uint32(blocks[i].Height)
					if broken[height] {
						continue
					}
					broken[height] = true
					healed = append(healed, rows[i])
					coretest.Update(t, s, func(b storage.Batch) {
						switch rng.IntN(3) {
						case 0:
							b.Delete(family, rows[i].Key)
						case 1:
							b.Put(family, rows[i].Key, rows[i].Value[:rng.IntN(40)])
						default: // the row of another block
							b.Put(family, rows[i].Key, rows[(i+1+rng.IntN(23))%24].Value)
						}
					})
				}
			}
			a := compare(t, db, ways[1].of(shelve(blocks)), everything)
			named := map[uint32]bool{}
			for _, d := range a.Differences {
				named[d.Height] = true
				if !broken[d.Height] {
					t.Errorf("%s: rows %v are damaged, the answer has %s", v.Name, broken, text(d))
				}
			}
			if len(named) != len(broken) || a.Blocks != 25 || a.PartsAt != nil {
				t.Errorf("%s: rows %v are broken: %s", v.Name, broken, text(a))
			}
			// A sample that contains the block after a damaged row reports the row too.
			only := compare(t, db, ways[1].of(shelve(blocks)), 8)
			for _, d := range only.Differences {
				if !broken[d.Height] {
					t.Errorf("%s: rows %v are damaged, the answer has %s", v.Name, broken, text(d))
				}
			}
			if only.Blocks != 10 {
				t.Errorf("%s: rows %v are broken, %d blocks were compared", v.Name, broken, only.Blocks)
			}
			coretest.Update(t, s, func(b storage.Batch) {
				for _, r := range healed {
					b.Put(family, r.Key, r.Value)
				}
			})
		}
	}
}

// If many consecutive rows are missing, the blocks after them cannot be compared, and verify reports that.
func TestAMissingRowIsNotASourceError(t *testing.T) {
	v := modeltest.Variants()[2]
	s := &coretest.Declared{Store: memory.New()}
	db := open(t, s, v, 1<<20)
	blocks := v.NewGenerator(testseed.Of(t, 690)).Blocks(150)
	appendAll(t, db, blocks, 30)
	family := s.Declarations[slices.IndexFunc(s.Declarations, func(d storage.Declaration) bool { return d.Name == "block_by_height_pk" })].Family
	rows := coretest.RowsOf(t, s, family)
	coretest.Update(t, s, func(b storage.Batch) {
		for _, r := range rows[20:140] {
			b.Delete(family, r.Key)
		}
	})
	a := compare(t, db, ways[1].of(shelve(blocks)), everything)
	if a.OK || a.Blocks != 130 || len(a.Differences) != 100 || a.More != 21 || a.Differences[0].Height != uint32(blocks[20].Height) ||
		!strings.Contains(a.Differences[0].Database, "no block at height") {
		t.Errorf("%d blocks, %d differences, %d more, the first %s", a.Blocks, len(a.Differences), a.More, text(a.Differences[0]))
	}
	coretest.Update(t, s, func(b storage.Batch) {
		for _, r := range rows[140:149] {
			b.Delete(family, r.Key)
		}
	})
	small := compare(t, db, ways[1].of(shelve(blocks)), 0)
	want := fmt.Sprintf(`[{"height":%d,"what":"block on top of one of the 100 blocks below","source":"block %[1]d","database":"none of them is on the source's chain"}]`, blocks[149].Height)
	if small.Blocks != 1 || text(small.Differences) != want {
		t.Errorf("%s, expected %s", text(small), want)
	}
}
