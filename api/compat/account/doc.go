// Package account finds the addresses of an account from its extended public key or its output descriptor, in the forms
// that Blockbook accepts. Package descriptor derives them.
//
// An account has branches, usually 0 for receiving and 1 for change. Each branch is a sequence of addresses that
// [Account.Discover] follows until a number of addresses in a row are unused, the gap limit of BIP 44.
package account
