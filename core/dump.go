package core

import (
	"context"
	"slices"
	"strings"

	"birthmark/storage"
)

// Dump hands every row of every family to row: families by name, keys in order. The slices are row's until it returns.
// Databases of equal dumps are equal.
func (db *DB) Dump(ctx context.Context, row func(family string, key, value []byte) error) error {
	ds := db.declarations()
	slices.SortFunc(ds, func(a, b storage.Declaration) int { return strings.Compare(a.Name, b.Name) })
	return db.store.View(ctx, func(r storage.Reader) error {
		for _, d := range ds {
			for kv, err := range r.Scan(d.Family, nil, nil, false) {
				if err != nil {
					return err
				}
				if err := row(d.Name, kv.Key, kv.Value); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}
