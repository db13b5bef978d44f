package core_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core/backfill"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/core/verify"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// TestIndexOfBlocks tests that an index of blocks finds the blocks with each value, that check and verify find a damaged
// row, and that it leaves no row when it is dropped. TestAnAddedIndexEqualsOneFromTheStart has its backfill and undo.
func TestIndexOfBlocks(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 760)
		rng := rand.New(rand.NewPCG(n, 0))
		names := append(firstIndexes(v), modeltest.MakerIndex)
		s := &declared{Store: memory.New()}
		l := openChanging(t, v, s, n, names, nil)
		l.grow(60, 7)
		l.rollback(20)
		l.grow(30, 4)
		consistent(t, l.db)
		maker := v.Chain("one").(model.BlockIndexer).BlockIndexes()[0]
		of := func(value byte, from, to model.HeightPk) (heights []model.HeightPk) {
			for _, b := range l.chain {
				if made, err := maker.OfHeader(b.Header); err != nil {
					t.Fatal(err)
				} else if string(made) == string([]byte{value}) && from <= b.Height && b.Height < to {
					heights = append(heights, b.Height)
				}
			}
			return heights
		}
		if slices.Contains(l.db.Indexes(), modeltest.MakerIndex) {
			t.Errorf("an index of blocks is one of outputs: %v", l.db.Indexes())
		}
		if _, err := l.db.Find(t.Context(), modeltest.MakerIndex, "00", query.Terms{}, query.Page{}); code(err) != "unknown_index" {
			t.Errorf("outputs of an index of blocks: %v", err)
		}
		err := l.db.View(t.Context(), func(view *query.View) error {
			return view.From(t.Context(), func(q *query.Query) error {
				x := q.PerBlock(modeltest.MakerIndex)
				for range 40 {
					value, from := byte(rng.IntN(6)), model.HeightPk(rng.IntN(80))
					to, descending := from+model.HeightPk(rng.IntN(80)), rng.IntN(2) == 0
					var got []model.HeightPk
					for h, err := range x.BlocksWith(q.R, []byte{value}, from, to, descending) {
						if err != nil {
							return err
						}
						got = append(got, h)
					}
					want := of(value, from, to)
					if descending {
						slices.Reverse(want)
					}
					if !slices.Equal(got, want) {
						t.Errorf("blocks of %d from %d to %d: %v, expected %v", value, from, to, got, want)
					}
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}

		i := slices.IndexFunc(s.Declarations, func(d storage.Declaration) bool { return d.Name == modeltest.MakerIndex+"_blocks" })
		family := s.Declarations[i].Family
		rows := rowsOf(t, s, family)
		row := rows[rng.IntN(len(rows))]
		other := schema.AppendBlocksKey(nil, []byte{9}, l.chain[3].Height)
		for name, damage := range map[string]func(b storage.Batch){
			"missing row": func(b storage.Batch) { b.Delete(family, row.Key) },
			"other row":   func(b storage.Batch) { b.Put(family, other, nil) },
			"other value": func(b storage.Batch) { b.Put(family, row.Key, []byte{1}) },
		} {
			update(t, s, damage)
			for _, only := range []string{"", modeltest.MakerIndex} {
				if a, err := l.db.Check(t.Context(), check.Options{Index: only}); err != nil || a.OK {
					t.Errorf("check of %q finds no %s: %v", only, name, err)
				}
			}
			a, err := l.db.Verify(t.Context(), shelf{blocks: having(l.chain, l.db.Indexes()...)}, verify.Options{Sample: 1 << 20})
			if err != nil || a.OK != (name == "other row") {
				t.Errorf("verify with a %s: %v", name, text(a))
			}
			update(t, s, func(b storage.Batch) {
				b.Delete(family, other)
				b.Put(family, row.Key, nil)
			})
		}
		consistent(t, l.db)

		if err := l.db.DropIndex(t.Context(), modeltest.MakerIndex); err != nil {
			t.Fatal(err)
		}
		consistent(t, l.db)
		l.build(-1, 5)
		consistent(t, l.db)
		for _, row := range dump(t, l.db) {
			if strings.HasPrefix(row, modeltest.MakerIndex) {
				t.Errorf("the dropped index has the row %s", row)
			}
		}
		if err := l.db.AddIndex(t.Context(), modeltest.MakerIndex, model.IndexOptions{}); err != nil {
			t.Fatal(err)
		}
		none := func(context.Context, *schema.Index, []model.Point) (model.Source, error) {
			return nil, errors.New("a source is opened")
		}
		if err := l.db.Build(t.Context(), none, backfill.Options{Weight: 9}); err != nil {
			t.Fatal(err)
		}
		consistent(t, l.db)
		if again := rowsOf(t, s, family+schema.FamiliesPerIndex); len(again) != len(rows) {
			t.Errorf("%d rows after the index was added again, %d before", len(again), len(rows))
		}
		if err := l.db.AddIndex(t.Context(), modeltest.MakerIndex, model.IndexOptions{Unspent: true}); code(err) != "bad_option" {
			t.Errorf("an option of an index of blocks: %v", err)
		}
	})
}
