// Package schema is the layout of a database: its families, the codec of every row, and what determines both.
//
// A [Layout] is the chain and the indexes of a database. It is immutable: adding or dropping an index replaces it. schema.go
// declares the families and describes their rows, docs/schema.md is printed from it. The codecs are in rows.go and
// rows_accounts.go; the rows of the family meta are in meta.go, catalog.go and index_change.go.
//
// A value is interned: its id, the birth, is the pointer of its first occurrence. [Layout.Births] finds births by value,
// [TxPks] transactions by hash, [BlockAt] blocks by height, and [Layout.ScanTxs] reads transactions with their outputs in
// the order of the chain. [StateReader] reads the tip and the totals of a snapshot.
package schema
