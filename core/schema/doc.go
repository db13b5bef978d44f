// Package schema is the layout of a database: its families, the codec of every row, and the indexes that determine
// both.
//
// A [Layout] is the chain and the indexes of a database. It is immutable: adding or dropping an index replaces it.
// schema.go declares the families and describes their rows; docs/schema.md is generated from it. The codecs are in
// rows.go and rows_index.go; the rows of the family meta are in meta.go, catalog.go and change.go.
//
// Values are dictionary-encoded: the id of a value, its birth, is the pointer of its first occurrence. [Layout.Births]
// finds births by value, [TxPks] transactions by hash and [BlockAt] blocks by height. [Layout.ScanTxs] reads
// transactions with their outputs in chain order. [StateReader] reads the tip and the totals of a snapshot.
package schema
