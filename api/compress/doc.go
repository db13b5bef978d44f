// Package compress compresses answers with zstd (RFC 8878) and gzip.
//
// Compression can reveal a secret of a body to an attacker who chooses another part of it and sees its size (BREACH).
// The bodies of this server have no secrets: they are public data of a chain, keys are only in headers, and there are no
// cookies and no forms with tokens.
package compress
