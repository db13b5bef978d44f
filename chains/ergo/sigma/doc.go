// Package sigma is the canonical serialization of Ergo: the bytes whose hashes are the ids of boxes, transactions and
// headers. It does not handle JSON.
//
// [Box], [Tx] and [Header] are the serialized structures. An [Encoder] computes ids and reuses its memory; Append
// methods return the bytes. [ParseTree] parses an ErgoTree as far as addresses and templates need. [MerkleRoot],
// [TransactionsRoot] and [ExtensionRoot] are the commitments of a header.
//
// Unsigned numbers are VLQ (least significant seven bits first, encoding/binary's Uvarint), signed ones are
// zigzag-encoded first (Varint). Constants in registers and context extensions are passed in serialized form, as a node
// writes them.
//
// Caveat: input is not validated. A box that no node would accept also has an id.
package sigma
