// Package sigma is the canonical serialization of Ergo: the bytes that the ids of boxes, transactions and headers are
// hashes of. It knows no JSON.
//
// [Box], [Tx] and [Header] hold what is serialized. An [Encoder] makes ids of them and keeps its memory from one to
// the next; Append methods give the bytes themselves. [ParseTree] takes an ErgoTree apart as far as its addresses and
// its template need, [MerkleRoot], [TransactionsRoot] and [ExtensionRoot] are what a header commits to.
//
// Numbers without a sign are VLQ (least significant seven bits first, encoding/binary's Uvarint), those with one are
// zigzag before that (Varint). Constants in registers and context extensions are given as the bytes they already are:
// the node writes them so, and the serialization takes them as they stand.
//
// Caveat: what comes in is not judged. A box that no node would accept has an id all the same.
package sigma
