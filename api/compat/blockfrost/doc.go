// Package blockfrost serves the HTTP API of Blockfrost for Cardano, so that programs that use it work unchanged:
// blockfrost-js, blockfrost-go, Lucid Evolution and Mesh.
//
// The table in endpoints.go has every endpoint of Blockfrost's OpenAPI document, and the types of answers are in the
// files types_*.go. Answers come from the indexes of the preset blockfrost and from raw transactions. An endpoint that
// needs more, such as the state of the ledger, answers 501 with the reason: no value is made up.
//
// Pages have numbers. The package stores where each page ended, so that the next one does not read the entries
// before it (pages.go).
package blockfrost
