// Package check checks a database for internal consistency: the invariants between its families.
//
// [Run] reads one snapshot in passes. A pass scans a family and looks up the rows of other families that must exist
// in batches (scan.go). Numbers that are stored redundantly, such as balances, holdings and totals, are compared by
// randomised sums (sums.go). The memory is independent of the size of the database but for four bytes per block.
package check
