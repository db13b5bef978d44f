// Package wallet answers the questions that the wallet protocols of Bitcoin share: Electrum, Esplora and Blockbook.
//
// A [Chain] is a served chain with its node. Its [View] is one moment: the confirmed chain up to a tip, and the
// unconfirmed transactions beside it. A [Script] is everything about one output script in a view.
//
// The rules that all three protocols share are kept here: a script is identified by the SHA-256 of its bytes
// (index script_hash); the coinbase outputs of block 0 and provably unspendable outputs belong to no script, because
// they cannot be spent; a transaction that is both confirmed and in the mempool is confirmed.
package wallet
