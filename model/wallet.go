package model

// WalletReader is a chain with wallets: texts that stand for many values of an index, such as an extended public key.
type WalletReader interface {
	// ReadWallet returns the wallet of values of an index that a text names; nil if the text is not meant as one. Its
	// errors are of kind [Usage] and do not contain the text: bad_wallet, or private_key if the text has a private key.
	ReadWallet(index, text string) (Wallet, error)
}

// Wallet is the values that the scripts of a wallet have in an index. Its branches are sequences, usually of addresses for
// receiving and of addresses for change. It is safe for concurrent use.
type Wallet interface {
	Branches() int
	// Ranged reports whether branches have any number of positions; else each has only position 0.
	Ranged() bool
	// Values returns the stored values of a position, usually one; none if the position is left out. derived is the
	// number of keys that were derived for it; 0: the values were kept.
	Values(branch, position int) (values [][]byte, derived int, err error)
	// Path returns the derivation path of a position, such as m/84h/0h/0h/0/5, or 0/5 if the origin of the key is
	// unknown. It is empty if the position has none.
	Path(branch, position int) string
}

// WalletOf returns the wallet of values of an index that a text names, as [WalletReader.ReadWallet] does; nil if the chain
// has no wallets.
func WalletOf(c Chain, index, text string) (Wallet, error) {
	if r, ok := c.(WalletReader); ok {
		return r.ReadWallet(index, text)
	}
	return nil, nil
}

// IndexChooser is a chain with values that name values of another index, such as the stake address of an account, which
// owns many addresses.
type IndexChooser interface {
	// ChooseIndex returns the name of the index that has a value which was given as a value of an index, usually the same.
	ChooseIndex(index, text string) string
}
