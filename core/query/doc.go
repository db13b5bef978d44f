// Package query answers queries about a database: blocks, transactions, outputs, values, assets and changes.
//
// [Queries] read a [Database]. Each query reads one snapshot; all queries of a [View] read the same snapshot. Lists
// are paginated with cursors (cursor.go) and can be limited to a [Range]. [Queries.Find] combines the outputs of
// several values with the set operations of package setops. Package changes is the change feed. Package
// pointers reads rows by pointers and caches the texts of pointers across queries.
package query
