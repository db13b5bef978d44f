// Package mempool reads the unconfirmed transactions of a Bitcoin node and submits transactions to it.
//
// A [Pool] has the list of ids and the transactions by JSON-RPC, from any node. Changes are events: Bitcoin Core
// publishes them over ZMQ (topic sequence, and rawtx with the bytes if it has the same address), btcd over WebSocket
// (new transactions and blocks, without removals). A node without either is only listed.
//
// If many transactions are requested at once, as at the start, the node saves its mempool to mempool.dat, and the
// transactions are read from that file, if it is on this machine. The rest is requested in batches.
//
// Each missing feature of a node is logged once: see package rpc, whose errors also apply here.
package mempool
