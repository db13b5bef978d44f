// Package script writes Bitcoin scripts and transactions in the forms that the wallet protocols use: the two forms of
// disassembly, script types, the verbose transaction of a node, and Merkle blocks (BIP 37).
//
// Functions that begin with Append append to a buffer and return it, as those of package strconv do.
package script
