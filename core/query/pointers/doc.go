// Package pointers reads one snapshot by pointers and stored values instead of texts: births, rows, occurrences, raw
// transactions and previous outputs. It formats the texts of pointers, which [Labels] caches across snapshots. Package
// query builds its answers on it, and protocols that format answers themselves use it through query.Query.
package pointers
