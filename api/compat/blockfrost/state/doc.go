// Package state has the state of the ledger at the tip of a node in the JSON of Blockfrost, protocol parameters and
// accounts, and the constants of networks.
package state
