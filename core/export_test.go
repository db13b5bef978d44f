package core

import (
	"birthmark/core/schema"
	"birthmark/model"
	"encoding/binary"
)

// SetRollbackRows sets the minimum number of rows per write of a rollback.
func (db *DB) SetRollbackRows(rows int) { db.rollbackRows = rows }

// CollidePrefixes truncates the prefixes of values and hashes to the given bits, so that many collide. It returns a
// function that restores them.
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

// FillCaches fills the caches of the given size with entries of the first block.
func (db *DB) FillCaches(bytes int64) {
	const entry = 24
	var key [8]byte
	first := model.HeightPk(1).First()
	for i := range uint64(bytes / entry) {
		binary.LittleEndian.PutUint64(key[:], i)
		fp := db.cache.Fingerprints.Value(0, key[:])
		db.cache.PutOutput(fp, uint64(first), 0)
		db.cache.PutBirth(fp, model.BirthPk{Utxo: model.UtxoPk(first)})
	}
}

// SweepCaches removes the cache entries above a block by scanning whole tables.
func (db *DB) SweepCaches(above model.Point) { db.cache.DropFrom(schema.PkAfter(above)) }
