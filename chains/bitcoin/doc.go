// Package bitcoin indexes Bitcoin. [New] returns the chain of one network; source.go opens its sources.
//
// The parts are in packages: block decodes serialized blocks, blockfile reads a node's block files, rpc reads from a
// node over JSON-RPC or REST, p2p reads from peers, params has the networks, rules checks headers. Package rpc and p2p
// return hashes and serialized blocks; package blocksource makes the stream of blocks and rollbacks of them.
//
// index.go has the built-in indexes and makes their values while package block decodes; address.go has the stored form
// of addresses, without checksum and network. Custom indexes are expressions over the fields in fields.go, which
// userindex.go and inscription.go fill as far as the expressions use them. formats.go reads the input formats of the
// command decode.
//
// Not checked, because a node has checked it: scripts, signatures and witness commitments (p2p checks the latter).
// Difficulty and times are checked by CheckHeader (header.go) and by p2p.
package bitcoin
