// Package core is the database: it opens a store, has one writer, appends and rolls back blocks, and follows a source.
//
// [DB.Append] takes a batch of blocks through package ingest: pointers are assigned, inputs and values are resolved from the caches
// (package cache) and the store, and rows are emitted together with the sums of package ledger. The rows and the new tip are one
// write. docs/performance.md follows a batch through all of it. [DB.Rollback] needs no log: every pointer begins with the
// height, so the rows of a block are ranges of keys.
//
// [Sync] drives both from a [model.Source]; it reads, resolves and writes at the same time, and records the blocks that a
// reorganization removes. [DB.AddIndex], [DB.DropIndex] and [DB.Build] change the indexes of a running database (package
// backfill). Queries are those of package query, check and verify are packages of their own, and package schema is the layout.
package core
