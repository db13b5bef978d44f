package core

import (
	"context"

	"birthmark/core/check"
	"birthmark/core/export"
	"birthmark/core/schema"
	"birthmark/core/verify"
	"birthmark/model"
	"birthmark/storage"
)

// Check checks a snapshot of the database for internal consistency, as [check.Run].
func (db *DB) Check(ctx context.Context, o check.Options) (result *check.Result, err error) {
	err = db.view(ctx, func(r storage.Reader, l *schema.Layout) error {
		result, err = check.Run(ctx, r, l, o)
		return err
	})
	return result, err
}

// Verify compares a snapshot of the database with a source, as [verify.Run]. The source must have been opened with
// db.Indexes() and db.KeepsRaw().
func (db *DB) Verify(ctx context.Context, src model.Source, o verify.Options) (result *verify.Result, err error) {
	err = db.view(ctx, func(r storage.Reader, l *schema.Layout) error {
		result, err = verify.Run(ctx, r, l, src, o)
		return err
	})
	return result, err
}

// Export writes the database as tables, as [export.Run].
func (db *DB) Export(ctx context.Context, folder export.Folder, o export.Options) (*export.Result, error) {
	return export.Run(ctx, snapshots{db}, folder, o)
}
