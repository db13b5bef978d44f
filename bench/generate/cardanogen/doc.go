// Package cardanogen makes Cardano chains in the shape of mainnet's Conway era: the number of inputs and outputs per
// transaction, the age of spent outputs, the number of assets per output, the reuse of addresses, credentials and
// policies. shape.go has these figures and their sources.
//
// A [Chain] makes blocks one by one, serialized as in chunk files and protocols. [Chain.Fork] begins a second branch.
// [Write] writes the immutable database and the genesis files that a sync needs.
//
// Everything that an indexer checks is correct: the CBOR, hashes of transactions, bodies and headers, links, numbers
// and slots. Each input spends an unspent output, lovelace and assets are balanced, and transactions with failed
// scripts spend collateral and make its return. The same seed makes the same blocks. Not correct is what only a node
// checks: keys, signatures, VRF proofs, scripts, datums of hashes, fees and minimum values of outputs. There are no
// certificates, withdrawals and votes.
//
// A chain for tests, with [Options.AllParts], has these too, as well as epochs of each era since Shelley, native scripts and
// the scripts and datums of hashes, in every form of CBOR that a node accepts. Deposits and withdrawals are balanced,
// redeemers count in the order of the ledger, and certificates follow from earlier ones.
//
// Blocks are appended to reused buffers. Unspent outputs are kept, so memory grows with them, not with the chain.
package cardanogen
