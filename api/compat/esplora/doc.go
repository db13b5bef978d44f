// Package esplora serves the REST API of Blockstream's electrs (Esplora), with additions of mempool.space's fork, so
// that wallets and libraries that use it work unchanged: BDK, LDK, mempool.js.
//
// Paths, objects, key order, error texts and cache lifetimes equal those of electrs. Amounts are satoshi. A list has no
// limit of its own unless the API has pages.
//
// Tapyrus is served in the form of esplora-tapyrus: see colors.go.
package esplora
