package core

import (
	"context"
	"slices"
	"strings"

	"birthmark/core/schema"
	"birthmark/storage"
)

// Dump hands every row of every family that the chain determines to row: families by name, keys in order. The slices
// are row's until it returns. Databases of equal dumps hold the same chain and answer alike, but for [DB.Forks]: what
// a database went through on its way is not part of what it is.
func (db *DB) Dump(ctx context.Context, row func(family string, key, value []byte) error) error {
	db.asking.RLock()
	defer db.asking.RUnlock()
	ds := db.dumped()
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

// Dumped are the names of the families that [DB.Dump] hands over, in its order.
func (db *DB) Dumped() []string {
	var names []string
	for _, d := range db.dumped() {
		names = append(names, d.Name)
	}
	return names
}

func (db *DB) dumped() []storage.Declaration {
	ds := slices.DeleteFunc(db.catalogue().Declarations(), func(d storage.Declaration) bool { return !schema.Determined(d.Family) })
	slices.SortFunc(ds, func(a, b storage.Declaration) int { return strings.Compare(a.Name, b.Name) })
	return ds
}
