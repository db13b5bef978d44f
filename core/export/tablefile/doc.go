// Package tablefile writes tables as files: Parquet, CSV and NDJSON. It knows nothing of chains.
//
// A [Table] names the fields. Rows arrive as a [Batch] of columns, so that nothing is allocated per row. Texts and ids
// that repeat are entries of a [Dictionary], which the caller fills, and a batch has their positions: the writer neither
// hashes nor compares them, and fields of one dictionary share their encoded pages. A group is the batches between two
// calls of [Writer.EndGroup]: a row group of Parquet. Each group has new dictionaries.
//
// Equal batches make equal files: bytes depend neither on time nor on the machine.
package tablefile
