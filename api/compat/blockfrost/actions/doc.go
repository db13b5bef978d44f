// Package actions answers the endpoints of Blockfrost's API that list what transactions do: certificates of accounts and
// pools, withdrawals, votes and proposals. The index subject finds the transactions, and their bodies have the rest.
package actions
