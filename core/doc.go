// Package core is the database: it opens a store, appends and rolls back blocks as its only writer, and follows a
// source.
//
// [DB.Append] passes a batch of blocks through package ingest, which assigns pointers, resolves inputs and values from
// the caches (package cache) and the store, and emits rows together with the sums of package ledger. The rows and the
// new tip are one write. docs/performance.md describes each stage. [DB.Rollback] needs no undo log: every pointer
// begins with the height, so the rows of a block are ranges of keys.
//
// [Sync] drives both from a [model.Source]. It reads, resolves and writes concurrently, and records the blocks that a
// reorganization orphans. [DB.AddIndex], [DB.DropIndex] and [DB.Build] change the indexes of a running database
// (package backfill). Package query answers queries, packages check and verify examine a database, and package schema
// is the layout.
package core
