// Package address converts addresses, credentials, pool ids and asset ids between their bytes and their texts: bech32
// and base 58 (CIP-5, CIP-14, CIP-19). [Network] has the parts that depend on the network.
//
// Text that Format functions return parses back to the same bytes. Bytes that are not a well-formed address of the
// network become "hex:" and hex digits.
package address
