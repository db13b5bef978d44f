// Package ergotest is an Ergo test node for tests and demos: a [Node] serves the REST API below from blocks that it was
// given, real or generated.
//
//	GET  /info
//	GET  /blocks?offset=HEIGHT&limit=COUNT    ids of the best chain of headers
//	GET  /blocks/at/HEIGHT                    all ids at a height, that of the best chain first
//	GET  /blocks/lastHeaders/COUNT
//	GET  /blocks/ID                           also /header and /transactions
//	POST /blocks/headerIds                    full blocks in the order of the request, unknown ones left out
//	GET  /utxo/genesis
//	GET  /transactions/unconfirmed            also /transactionIds and /byTransactionId/ID
//	GET  /transactions/getFee                 also /waitTime and /poolHistogram
//	POST /transactions                        also /bytes, /check and /checkBytes
//
// Paths, answers, limits and errors are those of the reference node and its openapi.yaml. Headers and blocks are
// separate there too: [Node.Announce] moves the chain of headers, [Node.Deliver] adds the blocks. [Node.Extend] and
// [Node.Switch] do both. Old chains stay as stale ids at their heights. A [Fault] makes responses fail.
//
// Unconfirmed transactions are those of [Node.SetPool], and those of [Node.Expect] that a client submitted. A block
// removes the ones that it has or conflicts with.
//
// Caveats: only the links of blocks are verified, and an API key, if set, protects every path, as a proxy in front of a
// node would.
package ergotest
