// Package schema is the layout of a database: its families, the codec of every row, and the indexes that determine
// both.
//
// A [Layout] is the chain and the indexes of a database. It is immutable: adding or dropping an index replaces it.
// The files rows_*.go declare the families, and contain the row type and the codec of each one next to its declaration;
// the rows of the family meta are in meta.go, catalog.go and change.go. docs/schema.md is generated from the declarations
// (markdown.go), and testdata/rows.golden shows one encoded row per family.
//
// Values are dictionary-encoded: the id of a value, its birth, is the pointer of its first occurrence. [Layout.Births]
// finds births by value, [TxPks] transactions by hash and [BlockAt] blocks by height. [Layout.ScanTxs] reads
// transactions with their outputs in chain order. [StateReader] reads the tip and the totals of a snapshot.
package schema
