// Package rest reads the chain of an Ergo node over its REST API.
//
// A [Client] returns block ids, and full blocks as the node's JSON; it does not decode blocks. It uses
//
//	GET  /info
//	GET  /blocks?offset=HEIGHT&limit=COUNT
//	POST /blocks/headerIds
//	GET  /blocks/ID
//	GET  /utxo/genesis
//
// A node does not protect these by its API key; a configured key is sent anyway, for proxies in front of the node.
// Blocks of an old node without POST /blocks/headerIds are requested one by one.
//
// Blocks are passed on while the response arrives: at most one of them is in memory, and a caller that needs no more
// can end the response. A node silently omits blocks that it does not have; [Client.Missing] finds the reason.
//
// The network is checked with every /info. Heights are heights of full blocks: a node has headers long before the
// blocks, and its best chain continues above them.
//
// Temporary errors are marked by [blocksource.Temporary]. Others are of kind [model.BadSource] with one of the codes
// unauthorized, wrong_network, pruned, not_synced, not_a_node, redirected, bad_certificate, bad_answer, block_missing,
// busy and unreachable; or of kind [model.Refused], code wrong_chain, if a node has another block 1 than before. No
// error contains the API key.
//
// Package nodehttp sends requests and classifies failures of HTTP; its caveat about proxies applies.
package rest
