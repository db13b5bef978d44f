package core_test

import (
	"context"
	"errors"
	"testing"

	"birthmark/core"
	"birthmark/internal/seeded"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// All answers of a view are of one tip, also where blocks come between them; and who waits is told of every new tip.
func TestAViewHasOneTip(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(seeded.Of(t, 1)).Blocks(3)
	ctx := context.Background()
	db, err := core.Open(ctx, memory.New(), core.Options{Chain: v.Chain("one")})
	if err != nil {
		t.Fatal(err)
	}
	next := func(b *model.Block) {
		t.Helper()
		tip, moved := db.Moved()
		if tip != db.Tip() {
			t.Errorf("moved says the tip is %v, it is %v", tip, db.Tip())
		}
		if err := db.Append(ctx, []*model.Block{b}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-moved:
		default:
			t.Errorf("block %d came and nobody was told", b.Height)
		}
	}
	next(blocks[0])
	next(blocks[1])
	enough := errors.New("enough")
	err = db.View(ctx, func(view *core.View) error {
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
			t.Error("the view knows a block that came after it")
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
		t.Error("blocks went and nobody was told")
	}
	check(t, db)
}
