// Package bitcoingen makes Bitcoin chains in the shape of mainnet's: how many inputs and outputs a transaction has, how
// old what it spends is, how often an address is used again, and which kinds of scripts there are, which changes along
// the chain as it did there. shape.go and era.go have those figures and where they come from.
//
// A [Chain] hands out block after block of regtest, each as block files hold it. [Write] writes the folder of block
// files that a node would, which any indexer reads.
//
// All that an indexer or a node that trusts the scripts looks at is right: hashes, merkle roots, proof of work at
// regtest's target, heights in coinbases (BIP 34), witness commitments (BIP 141), weights, subsidies that halve every 150
// blocks. Each input spends an output that exists, is unspent and, of a coinbase, 100 blocks old; no transaction pays out
// more than it spends, and the coinbase claims what is left. The same seed makes the same blocks. Not right is what only
// running the scripts shows: signatures, keys, redeem and witness scripts are bytes of the right form and length.
//
// The first hundred blocks are coinbases alone, with many outputs, since nothing else may be spent yet; then blocks grow
// until they have as many transactions as asked for.
//
// [Shape], [Coins] and [Recipients] are the shape by itself, for whoever makes blocks in another form.
//
// Caveat: what is kept is the unspent outputs, so memory grows with those: about 150 bytes for each.
package bitcoingen
