// Package ergotest is a node that tests and demos ask in place of an Ergo node: a [Node] serves the REST API below from
// blocks it was given, which may be real ones or generated.
//
//	GET  /info
//	GET  /blocks?offset=HEIGHT&limit=COUNT    ids of the best chain of headers
//	GET  /blocks/at/HEIGHT                    all ids at a height, that of the best chain first
//	GET  /blocks/lastHeaders/COUNT
//	GET  /blocks/ID                           also /header and /transactions
//	POST /blocks/headerIds                    full blocks in the order of the request, unknown ones left out
//	GET  /utxo/genesis
//
// Paths, answers, limits and errors are those of the reference node, as its openapi.yaml has them. As there, headers
// and blocks are apart: [Node.Announce] moves the chain of headers, [Node.Deliver] brings the blocks. [Node.Extend] and
// [Node.Switch] do both. Old chains stay, as stale ids at their heights. What goes wrong on the way of an answer is a
// [Fault].
//
// Caveat: blocks are checked for their links alone, and nothing is protected by the API key but, where one is set,
// everything: as by a proxy in front of a node.
package ergotest
