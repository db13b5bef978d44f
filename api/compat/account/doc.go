// Package account derives the addresses of an account from its extended public key or its output descriptor.
//
// An extended key is one of BIP 32 (xpub, tpub), whose addresses are P2PKH (BIP 44), or one of SLIP 132: ypub and upub
// for P2WPKH in P2SH (BIP 49), zpub and vpub for P2WPKH (BIP 84). A descriptor is one of BIP 380 with a single key:
// pkh(KEY), sh(wpkh(KEY)), wpkh(KEY) or tr(KEY), the last without a script tree (BIP 86).
//
// An account has branches, usually 0 for receiving and 1 for change. Each branch is a sequence of addresses that
// [Account.Discover] follows until a number of addresses in a row are unused, the gap limit of BIP 44.
package account
