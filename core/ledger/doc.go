// Package ledger maintains sums per value and per asset: balances, unspent outputs and histories of the values of an
// index, and the holders and the supply of assets.
//
// A write collects [Deltas] for each index with account features, and [AssetDeltas], from its blocks. An [Applier] sums
// them and writes each changed row once. The same code applies added blocks (sign 1) and removed blocks (sign -1).
package ledger
