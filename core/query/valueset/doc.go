// Package valueset is a compact set of values of an index, for watch lists with millions of addresses.
//
// The values are stored one after the other in memory outside Go's heap. An open-addressing hash table has their
// offsets. A lookup compares the whole value, so that the set has no false positives. Ten million addresses of 21 bytes
// take 29 bytes each.
package valueset
