package core

import (
	"context"
	"encoding/binary"

	"birthmark/core/schema"
	"birthmark/core/upgrade"
	"birthmark/model"
	"birthmark/storage"
)

// Identify reads the identity of a database; ok is false if the store is empty.
func Identify(ctx context.Context, s storage.Store) (id schema.Identity, ok bool, err error) {
	if err := s.Declare(schema.Schema[schema.FamilyMeta].Declaration); err != nil {
		return id, false, err
	}
	err = s.View(ctx, func(r storage.Reader) error {
		id, ok, err = schema.ReadIdentity(r)
		return err
	})
	return id, ok, err
}

// Forget removes the identity of a database without blocks, so that [Open] creates it with other options. done is false
// if the database has blocks, lists orphaned ones, or is a replica.
func Forget(ctx context.Context, s storage.Store) (done bool, err error) {
	orphans := schema.Schema[schema.FamilyOrphanBlock].Declaration
	if err := s.Declare(schema.Schema[schema.FamilyMeta].Declaration, orphans, schema.SegmentFamily); err != nil {
		return false, err
	}
	err = s.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTip})
		if err != nil || rows[0] != nil {
			return err
		}
		if primary, err := schema.ReadPrimary(r); err != nil || primary != "" {
			return err
		}
		for _, err := range r.Scan(schema.FamilyOrphanBlock, nil, nil, false) {
			return err
		}
		for row, err := range r.Scan(schema.FamilyMeta, nil, nil, false) {
			if err != nil {
				return err
			}
			b.Delete(schema.FamilyMeta, append([]byte{}, row.Key...))
		}
		done = true
		return nil
	})
	return done, err
}

// openMeta reads the meta rows of an existing database into db, or creates a new database.
func (db *DB) openMeta(ctx context.Context, o Options) error {
	c := o.Chain
	id, known, err := Identify(ctx, db.store)
	if err != nil {
		return err
	}
	if !known {
		if o.ReadOnly {
			return model.Errorf(model.Refused, "no_database", "the database is empty: nothing was synced into it yet")
		}
		cat, err := schema.NewLayout(c, o.Indexes, o.Keep, o.Raw, o.RawFiles)
		if err != nil {
			return err
		}
		if tokens := c.Traits().Tokens; tokens != nil && (cat.Holders() == nil || cat.Holders().Name != tokens.Holders) {
			return model.Errorf(model.Usage, "bad_option", "assets %s need the index %s", tokens.Name, tokens.Holders)
		}
		if o.RawFiles && o.Raw {
			return model.Errorf(model.Usage, "bad_option", "raw transactions are either stored or read from files, not both")
		}
		if err := db.checkRawFiles(cat); err != nil {
			return err
		}
		db.currentLayout.Store(cat)
	} else {
		switch {
		case id.Format != schema.FormatVersion:
			return model.Errorf(model.Refused, "wrong_format", "the database has format %d, this program reads and writes format %d: %s", id.Format, schema.FormatVersion, otherFormat(id.Format))
		case id.Chain != c.Name():
			return model.Errorf(model.Refused, "wrong_chain", "the database contains %s, not %s", id.Chain, c.Name())
		case id.Assets != tokensOf(c):
			return model.Errorf(model.Refused, "wrong_assets", "the database has %s, not %s%s", assetsText(id.Assets),
				assetsText(tokensOf(c)), addAssets(id.Assets, tokensOf(c)))
		case id.Network != c.Network():
			return model.Errorf(model.Refused, "wrong_network", "the database contains %s %s, not %s", id.Chain, id.Network, c.Network())
		}
		err := db.store.View(ctx, func(r storage.Reader) error {
			cat, err := schema.ReadLayout(r, c)
			db.currentLayout.Store(cat)
			return err
		})
		if err != nil {
			return err
		}
		if err := db.layout().Require(o.Indexes, o.Keep); err != nil {
			return err
		}
		if o.Raw && db.layout().RawTxs.Dropped() {
			return model.Errorf(model.Refused, "no_raw", "the database has no raw transactions: add them with birthmark index add raw, or leave raw out")
		}
		if o.RawFiles && db.layout().RawPlaces.Dropped() {
			return model.Errorf(model.Refused, "no_raw", "the database does not have the places of raw transactions in a node's files: "+
				"add them with birthmark index add raw, or leave raw out")
		}
	}
	if err := db.store.Declare(db.layout().Declarations()...); err != nil {
		return err
	}
	if !known {
		if err := db.create(ctx, c); err != nil {
			return err
		}
	}
	return db.reloadState(ctx)
}

// reloadState reads the tip, the totals and the index change from the store.
func (db *DB) reloadState(ctx context.Context) error {
	return db.store.View(ctx, func(r storage.Reader) error {
		s, err := db.states.Read(r, db.layout())
		if err != nil {
			return err
		}
		db.changeMu.Lock()
		db.indexChange = s.Change.Clone()
		db.changeMu.Unlock()
		db.mu.Lock()
		defer db.mu.Unlock()
		db.head, db.totals = s.Tip, s.Totals
		db.setTip(s.Tip)
		return nil
	})
}

// create writes the meta rows of a database without blocks.
func (db *DB) create(ctx context.Context, c model.Chain) error {
	return db.store.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilyMeta, schema.MetaFormat, binary.AppendUvarint(nil, schema.FormatVersion))
		b.Put(schema.FamilyMeta, schema.MetaChain, []byte(c.Name()))
		b.Put(schema.FamilyMeta, schema.MetaNetwork, []byte(c.Network()))
		db.layout().PutRaws(b)
		if reviser, ok := c.(model.Reviser); ok {
			b.Put(schema.FamilyMeta, schema.MetaRevision, binary.AppendUvarint(nil, reviser.Revision()))
		}
		b.Put(schema.FamilyMeta, schema.MetaIndexes, db.layout().AppendTo(nil))
		t := schema.Totals{Rows: map[storage.Family]uint64{}}
		for _, d := range db.layout().Declarations() {
			if d.Family != schema.FamilyMeta && schema.Determined(d.Family) {
				t.Rows[d.Family] = 0
			}
		}
		b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil))
		for _, x := range db.layout().Indexes {
			if x.Active.Has(schema.FeatureBalance) {
				b.Put(x.Family(schema.IndexRichest), schema.RichestState, schema.AppendRichestState(nil, &schema.RichestList{}))
			}
		}
		return nil
	})
}

// tokensOf returns the name of the rules that derive assets; empty if there are none.
func tokensOf(c model.Chain) string {
	if t := c.Traits().Tokens; t != nil {
		return t.Name
	}
	return ""
}

func assetsText(name string) string {
	if name == "" {
		return "no derived assets"
	}
	return "the assets " + name
}

// addAssets returns how to add assets to a database that has none.
func addAssets(has, want string) string {
	if has != "" || want == "" {
		return ": assets cannot be dropped or replaced"
	}
	return ": add them with birthmark index add " + want
}

// otherFormat returns what to do with a database of another format.
func otherFormat(format int) string {
	if format >= upgrade.Oldest && format < schema.FormatVersion {
		return "run birthmark upgrade once"
	}
	return "use the program that wrote it"
}
