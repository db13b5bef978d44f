package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// drop removes what is left of an index in the rows of outputs.
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
	err := db.alone(ctx, func() error {
		db.building.Lock()
		defer db.building.Unlock()
		if _, err := b.work(); err != nil {
			return nil
		}
		if err := db.dropFamilies(ctx, b.x); err != nil { // as far as that failed before
			return err
		}
		c, gone := db.catalogue().copy(b.x)
		c.all = slices.DeleteFunc(c.all, func(x *index) bool { return x == gone })
		c.arrange()
		return db.change(ctx, c, c.halfDropped(), nil)
	})
	if err == nil {
		b.o.Log.Info("index dropped", "index", x.Name)
		b.o.Progress(BuildProgress{Index: x.Name, Dropping: true, Height: db.Tip().Height, Target: db.Tip().Height, Done: true})
	}
	return err
}

// clean removes a dropped index from the rows of some outputs, those before to, and reports whether there are more.
func (b *builder) clean(ctx context.Context) (to model.UtxoPk, more bool, err error) {
	db := b.db
	db.building.Lock()
	defer db.building.Unlock()
	if _, err := b.work(); err != nil {
		return 0, false, nil
	}
	next := *db.work
	end := behind(db.Tip())
	err = db.store.Update(ctx, func(r storage.Reader, batch storage.Batch) error {
		rows := 0
		for kv, err := range r.Scan(familyUtxo, next.clean.AppendTo(nil), end.AppendTo(nil), false) {
			if err != nil {
				return err
			}
			pk, err := model.ParseUtxoPk(kv.Key)
			if err != nil {
				return err
			}
			row, dropped, err := db.catalogue().parseUtxoRowWith(pk, kv.Value)
			if err != nil {
				return fmt.Errorf("output %v: %w", pk, err)
			}
			if dropped > 0 {
				batch.Put(familyUtxo, kv.Key, appendUtxoRow(nil, pk, &row))
			}
			if next.clean = pk + 1; rows >= b.o.Weight {
				more = true
				break
			}
			rows++
		}
		if !more {
			next.clean = end
		}
		batch.Put(familyMeta, metaWork, next.appendTo(nil))
		return nil
	})
	if err != nil {
		return 0, false, errors.Join(err, db.recallWork(ctx))
	}
	db.work = &next
	return next.clean, more, nil
}
