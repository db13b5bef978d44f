package core

import (
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// KeepsRaw reports whether the database stores raw transactions ([Options.Raw]). Sources for Sync and Verify must then
// be opened with [model.SourceOptions.Raw].
func (db *DB) KeepsRaw() bool { return db.layout().Raw }

// HasRawFiles reports whether the database stores the places of raw transactions ([Options.RawFiles]). Sources for Sync
// should then be opened with [model.SourceOptions.Places].
func (db *DB) HasRawFiles() bool { return db.layout().RawFiles }

// SetRawAccess sets where queries read raw transactions that the database does not store. Files is set by the chain.
func (db *DB) SetRawAccess(a pointers.RawAccess) {
	if c, ok := db.Chain().(model.RawFiles); ok {
		a.Files = c.RawFiles()
	}
	db.raws.Store(&a)
}

// checkRawFiles returns an error if the layout has places of raw transactions that the chain cannot read.
func (db *DB) checkRawFiles(l *schema.Layout) error {
	if _, ok := db.Chain().(model.RawFiles); l.RawPlaces.Active|l.RawPlaces.Building != 0 && !ok {
		return model.Errorf(model.Usage, "bad_option", "%s cannot read raw transactions from files", db.Chain().Name())
	}
	return nil
}
