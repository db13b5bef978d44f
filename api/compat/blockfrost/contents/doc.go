// Package contents reads the parts of transactions that rows do not contain: redeemers with their targets in the body,
// metadata (also of assets: CIP-25, CIP-68), certificates, and native scripts. It also names the leaders of blocks.
package contents
