package core

import (
	"birthmark/core/schema"
	"birthmark/model"
)

// SetRollbackRows sets the maximum number of rows per write of a rollback, until restore is called.
func SetRollbackRows(rows int) (restore func()) {
	before := rollbackRows
	rollbackRows = rows
	return func() { rollbackRows = before }
}

// CollidePrefixes restricts the prefixes of values and hashes to the given bits, so that many collide, until restore is
// called.
func CollidePrefixes(bits uint64) (restore func()) {
	schema.PrefixBits = bits
	return func() { schema.PrefixBits = ^uint64(0) }
}

// Answers reports whether a query would run now without waiting.
func (db *DB) Answers() bool {
	if !db.layoutMu.TryRLock() {
		return false
	}
	db.layoutMu.RUnlock()
	return true
}

// FillCaches fills the caches to capacity with entries of the first block.
func (db *DB) FillCaches() (bytes int64) { return db.cache.Fill() }

// SweepCaches removes the cache entries above a block by scanning whole tables.
func (db *DB) SweepCaches(above model.Point) { db.cache.DropFrom(schema.PkAfter(above)) }
