package core

import (
	"context"

	"birthmark/core/ingest"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// KeepsRaw reports whether the database stores raw transactions ([Options.Raw]). Sources for Sync and Verify must then
// be opened with [model.SourceOptions.Raw].
func (db *DB) KeepsRaw() bool { return db.layout().Raw }

// HasRawFiles reports whether the database stores the places of raw transactions ([Options.RawFiles]). Sources for Sync
// should then be opened with [model.SourceOptions.Places].
func (db *DB) HasRawFiles() bool { return db.layout().RawFiles }

// SetRawAccess sets where queries read raw transactions that the database does not store. Files is set by the chain.
func (db *DB) SetRawAccess(a pointers.RawAccess) {
	if c, ok := db.chain.(model.RawFiles); ok {
		a.Files = c.RawFiles()
	}
	db.raws.Store(&a)
}

// checkRawFiles returns an error if the layout has places of raw transactions that the chain cannot read.
func (db *DB) checkRawFiles(l *schema.Layout) error {
	if _, ok := db.chain.(model.RawFiles); l.RawFiles && !ok {
		return model.Errorf(model.Usage, "bad_option", "%s cannot read raw transactions from files", db.chain.Name())
	}
	return nil
}

// AddRawFiles makes the database store the places of raw transactions from now on. It does nothing if it does already.
// Errors: Refused (exists) if the database stores the transactions themselves; busy while an index is added or dropped.
func (db *DB) AddRawFiles(ctx context.Context) error {
	return db.withExclusive(ctx, func() error {
		db.changeMu.Lock()
		defer db.changeMu.Unlock()
		old := db.layout()
		if old.Raw {
			return model.Errorf(model.Refused, "exists", "the database stores raw transactions: it needs no places in files")
		}
		if old.RawFiles {
			return nil
		}
		if err := db.requireIdle(); err != nil {
			return err
		}
		l, _ := old.Copy(nil)
		l.RawFiles = true
		if err := db.checkRawFiles(l); err != nil {
			return err
		}
		if err := db.store.Declare(l.Declarations()...); err != nil {
			return err
		}
		return db.swapLayout(ctx, l, nil, nil)
	})
}

// PlaceTo returns the last block of the first blocks whose places are known without a gap; the origin if there is none.
func (db *DB) PlaceTo(ctx context.Context) (last model.Point, err error) {
	any := false
	err = db.view(ctx, func(r storage.Reader, l *schema.Layout) error {
		if !l.RawFiles {
			return nil
		}
		next, found, err := firstBlock(r)
		if !found || err != nil {
			return err
		}
		for kv, err := range r.Scan(schema.FamilyPlace, nil, nil, false) {
			if err != nil {
				return err
			}
			h, err := model.ParseHeightPk(kv.Key)
			if err != nil {
				return err
			}
			if h != next {
				break
			}
			last.Height, next = h, next+1
			any = true
		}
		if any {
			last, err = schema.PointAt(r, last.Height)
		}
		return err
	})
	return last, err
}

// Places returns the number of blocks whose place is known. It reads a row per block.
func (db *DB) Places(ctx context.Context) (n uint64, err error) {
	err = db.view(ctx, func(r storage.Reader, _ *schema.Layout) error {
		for _, err := range r.Scan(schema.FamilyPlace, nil, nil, false) {
			if n++; err == nil && n%4096 == 0 {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// firstBlock returns the height of the first block, if there is one.
func firstBlock(r storage.Reader) (h model.HeightPk, found bool, err error) {
	for kv, err := range r.Scan(schema.FamilyBlock, nil, nil, false) {
		if err != nil {
			return 0, false, err
		}
		h, err = model.ParseHeightPk(kv.Key)
		return h, true, err
	}
	return 0, false, nil
}

// AddPlaces stores the places of blocks of the chain. Blocks that the database does not have, and those without a
// place, are ignored. The error is BadSource (bad_block) if a place cannot be right. added is the number of places
// stored.
func (db *DB) AddPlaces(ctx context.Context, blocks []*model.Block) (added int, err error) {
	err = db.store.Update(ctx, func(r storage.Reader, w storage.Batch) error {
		for _, b := range blocks {
			row, found, err := schema.FindBlock(r, b.Height)
			if err != nil {
				return err
			}
			if !found || row.Hash != b.Hash || b.Place == nil {
				continue
			}
			if err := schema.CheckPlace(b.Place, &row); err != nil {
				return model.Errorf(model.BadSource, "bad_block", "block %d %s: its place: %w", b.Height, db.chain.FormatHash(b.Hash), err)
			}
			ingest.PutPlace(w, b.Height, b.Place)
			added++
		}
		return nil
	})
	return added, err
}
