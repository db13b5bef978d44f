// Package ergogen makes Ergo chains in the shape of mainnet's latest blocks: the number of inputs and outputs per
// transaction, the age of spent boxes, tokens and registers per box, the reuse of scripts. shape.go has these figures.
//
// A [Chain] makes blocks one by one, each as the JSON of a full block that a node's REST API returns. [Chain.Fork]
// begins a second branch. [Write] writes the file that a sync needs, one block per line.
//
// Everything that an indexer checks is correct: ids of boxes, transactions and headers, roots, links, heights. The
// first block spends the emission box that mainnet and testnet share, and amounts are conserved: each input spends an
// unspent box, and outputs equal inputs, with fees, which the last transaction of a block collects. Tokens are minted
// with the id of the first input, in one box or several, and burned in part or completely. Some boxes hold the same
// token twice, some the maximum number of entries. The same seed makes the same blocks. Not correct is what only a node
// checks: proofs of work and of spending, contracts, the state root, size and minimum value of boxes.
//
// Block 1 differs from mainnet's, which is known by its id, so generated chains are for testnet.
//
// Caveat: unspent boxes and all scripts are kept in memory.
package ergogen
