// Package rest asks an Ergo node for its chain over its REST API.
//
// A [Client] hands out block ids and full blocks as the node's JSON, and decodes no block. Of the API are needed
//
//	GET  /info
//	GET  /blocks?offset=HEIGHT&limit=COUNT
//	POST /blocks/headerIds
//	GET  /blocks/ID
//	GET  /utxo/genesis
//
// none of which a node protects by its API key; one that is set is sent along all the same, for what stands in front of
// a node. An old node that has no POST /blocks/headerIds is asked for blocks one by one.
//
// Blocks are handed on while the answer is still coming: no more than one of them is held, and who has enough ends the
// answer. A node leaves out blocks it does not have without a word; [Client.Missing] finds out why.
//
// The network is looked at with every /info. Heights are those of full blocks: a node knows headers long before it has
// the blocks, and what it says of its best chain goes on above them.
//
// Errors say who has to act. What waiting can heal is marked by [blocksource.Temporary]. Every other one is of kind
// [model.BadSource] and one of the codes unauthorized, wrong_network, pruned, not_synced, not_a_node, redirected,
// bad_certificate, bad_answer, block_missing, busy and unreachable; or of kind [model.Refused], code wrong_chain, where a
// node has another block 1 than it had before. None has the API key in it.
//
// Requests, and failures whatever is asked, are package nodehttp's, with its caveat of proxies.
package rest
