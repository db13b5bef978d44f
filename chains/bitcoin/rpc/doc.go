// Package rpc reads the chain and the mempool of a Bitcoin node over HTTP: Bitcoin Core, btcd and compatible nodes.
//
// A [Client] returns hashes and raw serialized blocks, and decodes neither. It has two protocols. JSON-RPC (jsonrpc.go,
// rpcnode.go) is available in every node: batches in version 2.0 of getblockchaininfo, getbestblockhash, getblockhash
// and getblock HASH 0, which returns the same bytes from every node. Core's REST (rest.go) is preferred if the node
// answers it, since it sends blocks as bytes and not as hex in JSON; it uses
//
//	/rest/chaininfo.json
//	/rest/blockhashbyheight/HEIGHT.json
//	/rest/headers/COUNT/HASH.bin
//	/rest/block/HASH.bin
//
// and no credentials. The session has the protocol. After a temporary failure a new session is made and the node's
// block 0 is checked again: a node that is reachable again may be a different node.
//
// Beside blocks, the client has the calls about unconfirmed transactions (mempool.go, websocket.go), submitting
// (submit.go) and fees (fees.go), which always use JSON-RPC. A call, or a form of one, that a node lacks is not
// repeated in the session, and logged once (features.go).
//
// Responses are read as they arrive and never held completely: a batch of blocks element by element up to the limit,
// everything else within a bound. A first sync reads a terabyte of hex, and btcd's rpcclient, which is not used, holds a
// whole answer before it parses it. Each block is verified to have the requested hash; nothing else in it is checked.
//
// Temporary errors are marked by [blocksource.Temporary]. Others are of kind [model.BadSource] with one of the codes
// unauthorized, forbidden, wrong_network, pruned, method_missing, not_a_node, bad_certificate, bad_answer, node_error
// and unreachable. None contains a password, a cookie or the path of the URL.
//
// Package nodehttp sends requests and classifies failures of HTTP; its caveat about proxies applies. Another caveat:
// signets share their block 0, and only nodes since Bitcoin Core 28 return their challenges.
package rpc
