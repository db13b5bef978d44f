// Package export writes a database as tables for analysts: blocks, transactions, outputs, inputs, assets and
// asset_events.
//
// The files table_*.go declare the tables: one file has the columns of a table next to the function that fills them. A
// part is the files of all tables for consecutive blocks. [plan] divides the chain into parts as a function of the tip and
// the options alone, so that a repeated export writes the same files as a new one. The manifest lists the parts that are
// complete, each with the hash of its last block: [Run] writes the parts that it lacks, and those of reorganized blocks.
//
// A part is read from one snapshot. One goroutine scans each family in chain order and parses its rows into columns
// (scan.go). The rows of a few thousand transactions are joined (part.go): an input with the output that it spends by a
// table of recent outputs, and the rest by sorted reads; a birth with its text by a cache, which the scan of new values
// fills. One goroutine encodes and writes each table.
package export
