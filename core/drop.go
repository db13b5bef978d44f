package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"birthmark/core/backfill"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// drop removes the remains of an index from the rows of outputs.
func (b *builder) drop(ctx context.Context) error {
	db, x := b.db, b.x
	for {
		to, more, err := b.clean(ctx)
		if err != nil {
			return fmt.Errorf("index %s: %w", x.Name, err)
		}
		if !more {
			break
		}
		tip := db.Tip().Height
		b.o.Progress(BuildProgress{Index: x.Name, Dropping: true, Height: min(to.Height(), tip), Target: tip})
	}
	err := db.withExclusive(ctx, func() error {
		db.changeMu.Lock()
		defer db.changeMu.Unlock()
		if _, err := b.change(); err != nil {
			return nil
		}
		if err := db.dropFamilies(ctx, b.x); err != nil { // whatever an earlier, failed call left
			return err
		}
		c, gone := db.layout().Copy(b.x)
		c.All = slices.DeleteFunc(c.All, func(x *schema.Index) bool { return x == gone })
		c.Arrange()
		return db.swapLayout(ctx, c, c.HalfDropped(), nil)
	})
	if err == nil {
		b.o.Log.Info("index dropped", "index", x.Name)
		b.o.Progress(BuildProgress{Index: x.Name, Dropping: true, Height: db.Tip().Height, Target: db.Tip().Height, Done: true})
	}
	return err
}

// clean removes a dropped index from the rows of some outputs, up to to, and reports whether there are more.
func (b *builder) clean(ctx context.Context) (to model.UtxoPk, more bool, err error) {
	db := b.db
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	if _, err := b.change(); err != nil {
		return 0, false, nil
	}
	next := *db.indexChange
	end := schema.PkAfter(db.Tip())
	err = db.store.Update(ctx, func(r storage.Reader, batch storage.Batch) (err error) {
		next.CleanedTo, more, err = backfill.Clean(db.layout(), r, batch, next.CleanedTo, end, b.o.Weight)
		if err != nil {
			return err
		}
		batch.Put(schema.FamilyMeta, schema.MetaChange, next.AppendTo(nil))
		return nil
	})
	if err != nil {
		return 0, false, errors.Join(err, db.reloadIndexChange(ctx))
	}
	db.indexChange = &next
	return next.CleanedTo, more, nil
}
