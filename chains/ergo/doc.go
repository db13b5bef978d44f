// Package ergo indexes Ergo from a node's REST API and from files of full blocks. [New] returns the chain of one
// network.
//
// A decoder (decode.go) turns full blocks into model blocks. It reads the JSON once and in place (json.go,
// jsonheader.go, jsontx.go, jsonbox.go), recomputes the ids of boxes, transactions and header and the roots in the
// header with package sigma, and copies what the model needs (build.go). index.go has the built-in indexes, address.go
// the addresses, by the rules of the reference implementation. The genesis is built in (genesis.go): three boxes, the
// outputs of a transaction of zeros, at height 0.
//
// Custom indexes are expressions over the fields in fields.go. userindex.go evaluates them while boxes are built, and
// view.go makes the fields that they use, each by its own function. Without a custom index this costs nothing.
//
// Inputs name boxes by their ids, so the index box_id is always on. Tokens are minted under the id of the first box
// that a transaction spends; the mint includes the issuer's description (EIP-4, eip4.go). No field records burned
// tokens: the core computes them from inputs and outputs.
//
// chain.go opens sources. Package rest queries a node (restnode.go), package jsonstream splits files into blocks
// (filesource.go).
//
// Proofs of work and of spending, contracts, difficulty and state proofs (adProofs) are not checked, because a node has
// checked them.
package ergo
