// Package cardanogen makes Cardano chains in the shape of mainnet's Conway: how many inputs and outputs a transaction has,
// how old what it spends is, which outputs hold how many assets, how often addresses, credentials and policies are used
// again. shape.go has those figures and where they come from.
//
// A [Chain] hands out block after block, each serialized as chunk files and protocols carry it. [Chain.Fork] begins a
// second branch. [Write] writes the immutable database and the genesis files that a sync needs.
//
// All that an indexer looks at is right: the CBOR, hashes of transactions, bodies and headers, links, numbers and slots.
// Each input spends an output that exists and is unspent, lovelace and assets are balanced, transactions whose scripts
// failed spend collateral and make its return. The same seed makes the same blocks. Not right is what only a node
// checks: keys, signatures, VRF proofs, scripts, datums that are given as a hash, fees and the least that an output
// must hold. Certificates, withdrawals and votes are left out.
//
// Blocks are appended to buffers that are used again; what is kept is the unspent outputs, so memory does not grow with
// the chain but with those.
package cardanogen
