// Package ergo reads Ergo: a node's REST, and files of full blocks as it gives them. [New] makes the chain of one
// network.
//
// Full blocks become model blocks in a decoder (decode.go): it steps once over the JSON as it stands (json.go,
// jsonheader.go, jsontx.go, jsonbox.go), recomputes the ids of boxes, transactions and header and the roots that the
// header commits to with the package sigma, and keeps nothing of the JSON (build.go). index.go says which values a box
// has, address.go how people write who can spend it, by the rules of the reference implementation. What exists before
// the first block is built in (genesis.go): three boxes, the outputs of a transaction of zeros, at height 0.
//
// Indexes that users define are expressions over the fields in fields.go. own.go has them evaluated while boxes are built,
// and view.go makes what they name, each field by its own function. Without such an index that costs nothing.
//
// Inputs name boxes by their ids, so the index box_id is always on. Tokens are minted under the id of the first box
// that a transaction spends; what its issuer wrote of one (EIP-4) goes with the mint (eip4.go). That tokens were burned
// no field says: the core finds it by what goes in and does not come out.
//
// source.go opens what a URI names. A node (restnode.go) is asked by the package rest, files (filesource.go) are cut
// into blocks by the package jsonstream.
//
// What is not checked, because a node did: proofs of work and of spending, contracts, difficulty, and the proofs of the
// state (adProofs).
package ergo

import ()
