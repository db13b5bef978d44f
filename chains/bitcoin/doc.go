// Package bitcoin indexes Bitcoin. [New] returns the chain of one network; source.go opens its sources.
//
// The parts are in packages: block decodes serialized blocks, blockfile reads a node's block files, rpc reads from a
// node over JSON-RPC or REST, p2p reads from peers, params has the networks, rules checks headers. Packages rpc and p2p
// return hashes and serialized blocks; package blocksource turns them into the stream of blocks and rollbacks.
//
// index.go has the built-in indexes and makes their values while package block decodes; address.go has the stored form
// of addresses, without checksum and network. Custom indexes are expressions over the fields in fields.go; userindex.go
// and inscription.go fill the fields that the expressions use. formats.go reads the input formats of the command
// decode.
//
// Scripts, signatures and witness commitments are not checked, because the node has checked them; package p2p checks
// witness commitments. CheckHeader (header.go) and package p2p check difficulty and times.
package bitcoin
