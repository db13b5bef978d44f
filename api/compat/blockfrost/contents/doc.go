// Package contents reads what a transaction has beyond its rows: the parts of its body that redeemers refer to, metadata of
// assets (CIP-25, CIP-68), and native scripts.
package contents
