// Package boxes is the common part of the APIs of Ergo's node and explorer: boxes and transactions with every field of
// their JSON, the dense numbers of both, windows of lists, balances, tokens, and the unconfirmed transactions.
//
// A [Chain] answers for one served chain; a [View] is one moment of it. Everything comes from the indexes and from raw
// transactions. Transactions and blocks are parsed once and cached by their ids, so that a reorganization never makes a
// cached one wrong.
//
// Both servers number all boxes and all transactions in the order of the chain. The database has no such numbers: a
// table in memory has the number of boxes and transactions before each block (numbers.go), and a block that is read has
// the number of boxes before each of its transactions (block.go).
package boxes
