package core_test

import (
	"context"
	"errors"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// All answers of a view have one tip, even if blocks are appended between them. Waiting clients are notified of every
// new tip.
func TestAViewHasOneTip(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 1)).Blocks(3)
	ctx := context.Background()
	db, err := core.Open(ctx, memory.New(), core.Options{Chain: v.Chain("one")})
	if err != nil {
		t.Fatal(err)
	}
	next := func(b *model.Block) {
		t.Helper()
		tip, moved := db.Moved()
		if tip != db.Tip() {
			t.Errorf("Moved returns the tip %v, expected %v", tip, db.Tip())
		}
		if err := db.Append(ctx, []*model.Block{b}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-moved:
		default:
			t.Errorf("no notification of block %d", b.Height)
		}
	}
	next(blocks[0])
	next(blocks[1])
	enough := errors.New("enough")
	err = db.View(ctx, func(view *query.View) error {
		before, err := view.Status(ctx)
		if err != nil {
			return err
		}
		next(blocks[2])
		after, err := view.Status(ctx)
		if err != nil {
			return err
		}
		agree(t, "tip of the view after a block", after.Tip, err, before.Tip)
		agree(t, "totals of the view after a block", after.Totals, err, before.Totals)
		tip, err := view.Block(ctx, "tip")
		if err != nil || tip.Height != uint32(view.Tip.Height) || tip.Height != uint32(blocks[1].Height) {
			t.Errorf("the view has tip %v, its block is %v: %v", view.Tip, tip, err)
		}
		if _, err := view.Block(ctx, db.Chain().FormatHash(blocks[2].Hash)); err == nil {
			t.Error("the view has a block that was appended after it")
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Errorf("the view's error is %v", err)
	}
	_, moved := db.Moved()
	if err := db.Rollback(ctx, blocks[0].Point()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-moved:
	default:
		t.Error("no notification of a rollback")
	}
	consistent(t, db)
}

// A query that reads more rows than the limit fails. Other queries have the same answers as without a limit.
func TestAViewBoundsTheRowsOfAQuery(t *testing.T) {
	v := modeltest.Variants()[0] // stores no balances
	db := open(t, memory.New(), v, 1<<16)
	for _, b := range v.NewGenerator(testseed.Of(t, 290)).Blocks(60) {
		if err := db.Append(t.Context(), []*model.Block{b}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, few, many := t.Context(), 0, 0
	err := db.View(ctx, func(view *query.View) error {
		values, err := view.Values(ctx, "address", query.Page{Limit: 1000})
		if err != nil {
			return err
		}
		for _, value := range values.Values {
			view.AtMost(0)
			whole, err := view.Balance(ctx, "address", value.Value)
			if err != nil {
				return err
			}
			newest := query.Page{Limit: 1, Descending: true}
			history, err := view.History(ctx, "address", value.Value, query.Range{}, newest)
			if err != nil {
				return err
			}
			const most = 5
			view.AtMost(most)
			bounded, err := view.Balance(ctx, "address", value.Value)
			_, err2 := view.History(ctx, "address", value.Value, query.Range{}, newest)
			if whole.OutputCount > most {
				many++
				if !errors.Is(err, query.ErrTooManyRows) || !errors.Is(err2, query.ErrTooManyRows) {
					t.Errorf("%s has %d outputs: %v, %v", value.Value, whole.OutputCount, err, err2)
				}
				continue
			}
			few++
			agree(t, value.Value, bounded, err, whole)
			agree(t, value.Value, history, err2, history)
		}
		return nil
	})
	if err != nil || few == 0 || many == 0 {
		t.Errorf("%d values within the limit, %d beyond it, %v", few, many, err)
	}
}
