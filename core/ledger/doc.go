// Package ledger maintains sums per value and per asset: balances, unspent outputs and histories of the values of an
// index, and the holders and the supply of assets.
//
// A write collects [Deltas] for each index with account features (deltas.go), and [AssetDeltas] (assets.go), from its
// blocks. An [Applier] sums them and writes each changed row once (apply.go, balances.go). The same code applies added
// blocks (sign 1) and removed blocks (sign -1).
package ledger
