// Package bitcoin reads Bitcoin: nodes, peers, block files, and single blocks in the forms people have them in. [New]
// makes the chain of one network; uri.go says which source a URI names.
//
// Blocks become model blocks in a decoder of the package's own (decode.go): it walks the serialized bytes twice,
// checks their form and their merkle root, and allocates by block. btcd's wire package is the oracle of its tests.
// Scripts are told apart by their bytes with the rules of Core's Solver (script.go), addresses are stored without
// checksum and network (address.go), and index.go says which values an output has.
//
// Indexes of users' own are expressions over the fields of fields.go, which package indexexpr computes: own.go fills what
// they read and nothing else, witness.go and inscription.go take apart what stands in witnesses and scripts.
//
// A folder of block files (folder.go, blockfile.go) holds blocks in the order they arrived, with stale branches and
// padding. The source looks at all headers first: proof of work against the header's own target, links to genesis,
// and work decides on the best chain (headers.go). Then the blocks of that chain are read and decoded on several
// goroutines and yielded in order (source.go, read.go).
//
// A node is asked over JSON-RPC or REST by package rpc, peers by package p2p. Both hand out hashes and raw blocks; node.go
// decodes those, and package blocksource makes the stream of them that goes along when the chain forks.
//
// What is not checked, because a node did and the model has no use for it: scripts, signatures, witnesses, difficulty
// adjustment, times (p2p checks the last two and that witnesses are the committed ones). Checked besides: that one transaction, the first, is a coinbase, and that no output has more than
// all the money there is.
//
// The package bitcointest makes valid chains for tests, btcdtest runs btcd.
package bitcoin
