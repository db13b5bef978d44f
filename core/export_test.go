package core

import (
	"context"
	"math/rand/v2"

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

// PageWorkOf lets one page of Find cost so many rows, until restore is called.
func PageWorkOf(rows int) (restore func()) {
	before := findWork
	findWork = rows
	return func() { findWork = before }
}

// Between are the first and the last block of a range.
func (db *DB) Between(ctx context.Context, r Range) (from, to model.HeightPk, err error) {
	err = db.from(ctx, func(q *query) error {
		s, err := q.span(r)
		from, to = s.first.Height(), s.last.Height()
		return err
	})
	return from, to, err
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
func (db *DB) FillCaches() (bytes int64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, t := range db.cache.tables() {
		for t.used < t.most*fullest/16-1 {
			t.insert(rng.Uint64()|1, rng.Uint64()&t.mask(), uint64(model.HeightPk(1).First()), 0)
		}
		bytes += tableBytes(t)
	}
	return bytes
}

// SweepCaches removes what lies above a block by reading whole tables.
func (db *DB) SweepCaches(above model.Point) { db.cache.forgetFrom(schema.PkAfter(above)) }
