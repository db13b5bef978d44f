package core

import (
	"context"
	"encoding/binary"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// ensureRevision returns outdated_values if the database contains a value of an earlier revision of the chain, see
// [model.Reviser], because blocks on top of it would be indexed differently. If it contains none, the current revision is
// stored, so that later calls read one row. A rollback below the first such value removes all of them. The lock write is
// held.
func (db *DB) ensureRevision(ctx context.Context) error {
	reviser, ok := db.Chain().(model.Reviser)
	if !ok || db.revised {
		return nil
	}
	current := reviser.Revision()
	err := db.store.View(ctx, func(r storage.Reader) error {
		rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaRevision})
		if err != nil {
			return err
		}
		stored, _ := binary.Uvarint(rows[0])
		if db.revised = stored == current; db.revised {
			return nil
		}
		if stored > current {
			return model.Errorf(model.Refused, "newer_values", "the database contains values of revision %d of %s, this program writes revision %d: "+
				"use the newer program that wrote it", stored, db.Chain().Name(), current)
		}
		for _, x := range db.layout().Indexes {
			for row, err := range r.Scan(x.Family(schema.IndexValue), nil, nil, false) {
				if err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if !reviser.Outdated(x.Name, row.Value) {
					continue
				}
				return outdated(x, row)
			}
		}
		return nil
	})
	if err != nil || db.revised {
		return err
	}
	err = db.store.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilyMeta, schema.MetaRevision, binary.AppendUvarint(nil, current))
		return nil
	})
	db.revised = err == nil
	return err
}

// outdated returns the error of a value of an earlier revision, the first of its index.
func outdated(x *schema.Index, row storage.KV) error {
	birth, err := model.ParseBirthPk(row.Key, x.Kind.HasOrdinal())
	if err != nil {
		return err
	}
	height := birth.Utxo.Height()
	if height == 0 {
		return model.Errorf(model.Refused, "outdated_values",
			"values of index %s were written by an earlier release, which read them differently: sync into a new database", x.Name)
	}
	return model.Errorf(model.Refused, "outdated_values", "values of index %s were written by an earlier release, which read them differently, "+
		"the first in block %d: run birthmark rollback --to-height %d, then sync again", x.Name, height, height-1)
}
