package core

import (
	"context"
	"encoding/binary"
	"log/slog"
	"testing"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
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
	first := db.layout().FirstPk(1)
	for i := range uint64(bytes / entry) {
		binary.LittleEndian.PutUint64(key[:], i)
		fp := db.cache.Fingerprints.Value(0, key[:])
		db.cache.PutOutput(fp, uint64(first), 0)
		db.cache.PutBirth(fp, model.BirthPk{Utxo: model.UtxoPk(first)})
	}
}

// SweepCaches removes the cache entries above a block by scanning whole tables.
func (db *DB) SweepCaches(above model.Point) { db.cache.DropFrom(db.layout().PkAfter(above)) }

// SetRichestPart sets the number of balances that a step of building a rich list reads.
func SetRichestPart(n int) { richestPart = n }

// CompleteRichest builds the rich lists that are missing or too short.
func (db *DB) CompleteRichest(ctx context.Context) error {
	return db.completeRichest(ctx, slog.New(slog.DiscardHandler), func(bool) {})
}

// EndRichest removes the state of all rich lists, as a write in bulk does.
func (db *DB) EndRichest(ctx context.Context) error {
	return db.store.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		for _, x := range db.layout().Indexes {
			if x.Active.Has(schema.FeatureBalance) {
				b.Put(x.Family(schema.IndexRichest), schema.RichestState, schema.AppendRichestState(nil, nil))
			}
		}
		return nil
	})
}

// RichestCounts returns the number of values in each exact rich list.
func (db *DB) RichestCounts(t testing.TB) (counts []uint64) {
	t.Helper()
	err := db.store.View(t.Context(), func(r storage.Reader) error {
		for _, x := range db.layout().Indexes {
			if !x.Active.Has(schema.FeatureBalance) {
				continue
			}
			list, err := x.ReadRichest(r)
			if err != nil {
				return err
			}
			if list != nil {
				counts = append(counts, list.Count)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}
