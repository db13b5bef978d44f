package core

import (
	"birthmark/core/schema"
	"birthmark/model"
)

// RollbackInWritesOf makes rollbacks end a write after that many rows, until restore is called.
func RollbackInWritesOf(rows int) (restore func()) {
	before := rollbackRows
	rollbackRows = rows
	return func() { rollbackRows = before }
}

// CollideHeads lets heads of values and hashes have few bits, so that many are the same, until restore is called.
func CollideHeads(bits uint64) (restore func()) {
	schema.PrefixBits = bits
	return func() { schema.PrefixBits = ^uint64(0) }
}

// Answers reports whether a question that is asked now would be answered now.
func (db *DB) Answers() bool {
	if !db.asking.TryRLock() {
		return false
	}
	db.asking.RUnlock()
	return true
}

// FillCaches fills the tables with entries of the first block, to their bounds.
func (db *DB) FillCaches() (bytes int64) { return db.cache.Fill() }

// SweepCaches removes what lies above a block by reading whole tables.
func (db *DB) SweepCaches(above model.Point) { db.cache.DropFrom(schema.PkAfter(above)) }
