// Package cbor walks over CBOR (RFC 8949) in place and appends it.
//
// A [Walker] reads items in order without copying or allocating. After its first error it is at the end of its data and
// returns zero values, so callers check Err once, and loops over arrays and maps end by themselves. A [Skipper] finds the
// end of an item in data that arrives in pieces.
package cbor
