// Package descriptor derives the output scripts of wallets from extended public keys and output descriptors.
//
// An extended key is one of BIP 32 (xpub, tpub), whose scripts are P2PKH (BIP 44), or one of SLIP 132 for a single
// signature: ypub and upub for P2WPKH in P2SH (BIP 49), zpub and vpub for P2WPKH (BIP 84). It has the branches 0 for
// receiving and 1 for change.
//
// A descriptor (BIP 380) is one of pk, pkh, wpkh, sh, wsh, combo, multi, sortedmulti, tr, rawtr, addr and raw (BIP 381 to
// 386). Its keys are public keys, or extended public keys with a path, which can end with * and can have lists of steps
// for several branches (BIP 389). A tree of tr has the scripts pk, multi_a and sortedmulti_a (BIP 387). Miniscript is
// refused. So are private keys, and no error contains a key.
package descriptor
