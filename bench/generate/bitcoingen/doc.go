// Package bitcoingen makes Bitcoin chains in the shape of mainnet's: the number of inputs and outputs per transaction,
// the age of spent outputs, the reuse of addresses, and the kinds of scripts, which change along the chain as on
// mainnet. shape.go and era.go have these figures and their sources.
//
// A [Chain] makes regtest blocks one by one, each as a record of a block file. [Write] writes a folder of block files
// like a node's, which any indexer reads.
//
// Everything that an indexer, or a node that does not run scripts, checks is correct: hashes, merkle roots, proof of
// work at regtest's target, heights in coinbases (BIP 34), witness commitments (BIP 141), weights, subsidies that halve
// every 150 blocks. Each input spends an unspent output, of a coinbase only after 100 blocks; no transaction pays out
// more than it spends, and the coinbase claims the fees. The same seed makes the same blocks. Scripts would not run:
// signatures, keys, redeem and witness scripts are bytes of the right form and length.
//
// The first hundred blocks have only coinbases with many outputs, since nothing else can be spent yet; then blocks grow
// to the requested number of transactions.
//
// [Shape], [Coins] and [Recipients] provide the shape alone, for generators of blocks in another form.
//
// Caveat: unspent outputs are kept in memory, about 150 bytes each.
package bitcoingen
