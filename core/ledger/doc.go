// Package ledger keeps sums per value and per asset: balances, unspent outputs and histories of the values of an index, the
// holders of assets, and their supply.
//
// A write collects [Deltas] for each index that keeps accounts, and [AssetDeltas], while it reads its blocks. An [Applier] adds
// them up and writes each changed row once. The same code applies blocks that are added (sign 1) and blocks that are removed
// (sign -1).
package ledger
