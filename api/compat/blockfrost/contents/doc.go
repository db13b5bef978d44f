// Package contents reads the parts of a transaction that no row has: those of its body that redeemers refer to, metadata,
// also of assets (CIP-25, CIP-68), kinds of certificates, and native scripts. It also names the leaders of blocks.
package contents
