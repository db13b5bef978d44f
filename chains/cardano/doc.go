// Package cardano is the chain Cardano: its names, indexes, fields and sources. [New] returns it for one network.
//
// The packages below it are layers; each imports only those above it in this list:
//
//	cbor       walks over CBOR and appends it
//	address    addresses, credentials and asset ids: bytes and texts (CIP-5, CIP-14, CIP-19)
//	genesis    networks, their genesis files and initial outputs, slots and epochs
//	ledger     blocks of every era, Byron to Conway, decoded and linked
//	ouroboros  the protocols of nodes: chain-sync, block-fetch, keep-alive
//	immutable  the source of a node's immutable database, or of one of its chunks
//	node       the source of a relay, or of a node on this machine
//
// index.go selects the values of an output that become keys; a decoder calls it for each output. Custom indexes are
// expressions over the fields in fields.go. userindex.go evaluates them when a block is decoded; fields_values.go and
// fields_tx.go compute each field on demand from what the decoder kept, and plutusdata.go turns CBOR of datums and
// metadata into values of expressions. Without a custom index none of this runs.
//
// Outputs of the genesis are at height 0, with the first block. At mainnet's epoch 236 (Allegra) the ledger returned 318
// million ada of genesis outputs to the reserves without a transaction. Here these outputs stay unspent, because every
// answer follows from blocks and genesis: a node has fewer unspent outputs.
//
// A node has validated the blocks. Signatures, scripts, leadership, and the parts of Byron bodies without transactions
// are not verified. A transaction whose scripts failed spends its collateral and makes only the collateral return.
package cardano
