// Package kupo serves the HTTP API of Kupo 2.12 for Cardano, so that programs that use it work unchanged: Lucid
// Evolution, Mesh, and scripts.
//
// Kupo indexes the outputs that match patterns of its settings; here every pattern is answered from the indexes of the
// database, as if the pattern * had been set from the first block on. Requests that change patterns or delete matches
// therefore have no effect. Outputs that existed before the first block are not listed, because Kupo does not see them.
//
// The endpoints are in endpoints.go and their answers in types.go. A pattern and the filters of a request become an
// intersection of index scans within a range of the chain (matches.go). Matches are read in batches, so that a list of
// any length needs little memory. Datums, scripts and redeemers are read from raw transactions.
package kupo
