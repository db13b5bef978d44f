// Package cardano reads Cardano: a node's immutable database, and single blocks as chunks and protocols carry them.
// [New] makes the chain of one network.
//
// Blocks of every era, Byron to Conway, become model blocks in a decoder of the package's own (decode.go and what is
// named after it): it walks once over the CBOR as it stands (cbor.go), checks that the body is the one the header
// names, and keeps nothing of it. gouroboros is the oracle of its tests. index.go says which values an output has,
// address.go, byron.go, credential.go and asset.go how people write them (CIP-5, CIP-14, CIP-19).
//
// The package immutable finds the blocks in a folder of chunks; source.go decodes them on several goroutines, yields
// them in order and checks the parent links, which go through the boundary blocks of Byron: those have no height of
// their own, but for the one before mainnet's first block, which is block 0.
//
// What exists before the first block (genesis.go) comes with it, at height 0. It is built in for mainnet, preprod and
// preview (genesisknown.go); for any other network a folder of genesis files is named as the network (genesisfiles.go).
//
// What is not checked, because a node did: signatures, scripts, who may make a block, the parts of Byron's body that
// reach no transaction. A transaction whose scripts failed spends its collateral and makes only the return of it.
package cardano
