// Package ergonode serves the HTTP API of Ergo's node 6.0 with its extra index, so that programs that use such a node
// work unchanged: /blockchain/…, and the endpoints beside it that clients request for blocks, unspent boxes,
// unconfirmed transactions and submitting.
//
// Everything that the chain determines is answered from the indexes (blockchain.go, blocks.go, utxo.go), unconfirmed
// transactions from the mempool that the server follows (mempool.go). Requests about the state of the node itself are
// passed on to it, if the settings have one (node.go). Wallet, mining, scans and peers do not exist.
//
// As in the node's extra index, the boxes before block 1 do not exist in /blockchain: numbers of boxes begin with the
// first box of block 1, and inputs that spend a genesis box are left out.
package ergonode
