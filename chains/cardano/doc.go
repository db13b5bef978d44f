// Package cardano reads Cardano: from any relay, from a node on the same machine, from a node's immutable database, and
// single blocks as chunks and protocols carry them.
// [New] makes the chain of one network.
//
// Blocks of every era, Byron to Conway, become model blocks in a decoder of the package's own (decode.go and what is
// named after it): it walks once over the CBOR as it stands (cbor.go), checks that the body is the one the header
// names, and keeps nothing of it. gouroboros is the oracle of its tests. index.go says which values an output has,
// address.go, byron.go, credential.go and asset.go how people write them (CIP-5, CIP-14, CIP-19).
//
// Indexes that users define are expressions over the fields in fields.go. own.go has them evaluated when a block was
// walked over, and view.go and viewtx.go make what they name out of what the decoder kept of it, each field by its own
// function; meaning.go is what CBOR, of datums and metadata, means to an expression. Without such an index none of this
// costs anything.
//
// The package immutable finds the blocks in a folder of chunks; source.go decodes them on several goroutines and yields
// them in order. linker.go checks the parent links, which go through the boundary blocks of Byron: those have no height
// of their own, but for the one before mainnet's first block, which is block 0.
//
// The package ouroboros is told by nodes what comes next. nodesource.go asks them, nodeparting.go finds where a node's
// chain and a database's part, nodenews.go decodes what came, on several goroutines, and checks that it is what was
// announced; nodefollow.go makes events of it: blocks, ways back (to boundary blocks too), connections that are made again
// exactly where the last one ended, nodes that are behind.
//
// What exists before the first block (genesis.go) comes with it, at height 0. It is built in for mainnet, preprod and
// preview (genesisknown.go); for any other network a folder of genesis files is named as the network (genesisfiles.go),
// where a node's configuration says how long Byron lasted (nodeconfig.go). Its name alone is enough for questions
// (nameless.go). What Allegra took back of the genesis without a transaction stays as unspent outputs. Blocks that cannot be
// of the network are refused (belongs.go).
//
// What is not checked, because a node did: signatures, scripts, who may make a block, the parts of Byron's body that
// reach no transaction. A transaction whose scripts failed spends its collateral and makes only the return of it.
package cardano
