package core

import (
	"context"

	"birthmark/core/check"
	"birthmark/storage"
)

// Check checks a snapshot of the database for internal consistency, as [check.Run].
func (db *DB) Check(ctx context.Context, o check.Options) (result *check.Result, err error) {
	db.layoutMu.RLock()
	defer db.layoutMu.RUnlock()
	err = db.store.View(ctx, func(r storage.Reader) error {
		result, err = check.Run(ctx, r, db.layout(), o)
		return err
	})
	return result, err
}
