package core

import (
	"context"
	"slices"
	"strings"

	"birthmark/core/schema"
	"birthmark/storage"
)

// Dump calls row for every row of every family that the chain determines, ordered by family name and key. The slices
// are valid until row returns. Databases with equal dumps hold the same chain and give the same answers, except for
// [DB.Forks].
func (db *DB) Dump(ctx context.Context, row func(family string, key, value []byte) error) error {
	return db.view(ctx, func(r storage.Reader, l *schema.Layout) error {
		for _, d := range dumped(l) {
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

// Dumped returns the names of the families that [DB.Dump] writes, in its order.
func (db *DB) Dumped() []string {
	var names []string
	for _, d := range dumped(db.layout()) {
		names = append(names, d.Name)
	}
	return names
}

func dumped(l *schema.Layout) []storage.Declaration {
	ds := slices.DeleteFunc(l.Declarations(), func(d storage.Declaration) bool { return !schema.Determined(d.Family) })
	slices.SortFunc(ds, func(a, b storage.Declaration) int { return strings.Compare(a.Name, b.Name) })
	return ds
}
