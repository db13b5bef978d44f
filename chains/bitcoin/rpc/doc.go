// Package rpc asks a Bitcoin node for its chain over HTTP: Bitcoin Core, btcd and what answers like them.
//
// A [Client] hands out hashes and raw serialized blocks, and decodes neither. Two ways lead to them. JSON-RPC
// (jsonrpc.go, rpcnode.go) is what every node has: calls go out as batches in the version 2.0, of getblockchaininfo,
// getbestblockhash, getblockhash and getblock HASH 0, which is the same bytes from every node. Core's REST (rest.go)
// is used instead where the node answers it, because it sends blocks as bytes and not as hex in JSON; of it are needed
//
//	/rest/chaininfo.json
//	/rest/blockhashbyheight/HEIGHT.json
//	/rest/headers/COUNT/HASH.bin
//	/rest/block/HASH.bin
//
// and no credentials. Which of the two it is stands in the session, which is made anew, with a look at the node's block
// 0, after whatever healed by waiting: a node that comes back may be another one.
//
// Answers are read as they come and never held whole: a batch of blocks element by element until the limit is reached,
// everything else within a bound. Each block is checked to be the one that was asked for; nothing else of it is.
//
// Errors say who has to act. What waiting can heal is marked by [blocksource.Temporary]. Every other one is of kind
// [model.BadSource] and one of the codes unauthorized, forbidden, wrong_network, pruned, method_missing, not_a_node,
// bad_certificate, bad_answer, node_error and unreachable. None has a password, a cookie or the path of the URL in it.
//
// Requests, and failures whatever is asked, are package nodehttp's, with its caveat of proxies. One more: signet's
// networks share their block 0 and are not told apart.
package rpc
