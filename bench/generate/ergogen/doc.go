// Package ergogen makes Ergo chains in the shape of mainnet's latest blocks: how many inputs and outputs a transaction
// has, how old what it spends is, which boxes hold how many tokens and registers, how often scripts are used again.
// shape.go has those figures.
//
// A [Chain] hands out block after block, each as the JSON of a full block that a node's REST gives. [Chain.Fork] begins
// a second branch. [Write] writes the file that a sync needs, a block a line.
//
// All that an indexer looks at is right: ids of boxes, transactions and headers, roots, links, heights. The first block
// spends the emission box that mainnet and testnet have in common, and nothing is made out of nothing: each input spends
// a box that exists and is unspent, and what goes in comes out, fees too, which the last transaction of a block gathers.
// Tokens are minted under the id of the first input, in one box or over several, and burned in part or in whole. Some
// boxes hold the same token twice, some as many entries as a box can. The same seed makes the same blocks. Not right is
// what only a node checks: proofs of work and of spending, contracts, the state's root, how large a box may be and how
// much it must hold.
//
// Block 1 is none of mainnet's, which is known by its id, so generated chains are for testnet.
//
// Caveat: what is kept is the unspent boxes and the scripts used so far, so memory grows with those.
package ergogen
