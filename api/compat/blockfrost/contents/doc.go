// Package contents reads the parts of a transaction that no row has: those of its body that redeemers refer to, metadata
// of assets (CIP-25, CIP-68), and native scripts.
package contents
