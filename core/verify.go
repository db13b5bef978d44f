package core

import (
	"context"

	"birthmark/core/verify"
	"birthmark/model"
	"birthmark/storage"
)

// Verify compares a snapshot of the database with a source, as [verify.Run]. The source must have been opened with
// db.Indexes() and db.KeepsRaw().
func (db *DB) Verify(ctx context.Context, src model.Source, o verify.Options) (result *verify.Result, err error) {
	db.layoutMu.RLock()
	defer db.layoutMu.RUnlock()
	err = db.store.View(ctx, func(r storage.Reader) error {
		result, err = verify.Run(ctx, r, db.layout(), src, o)
		return err
	})
	return result, err
}
