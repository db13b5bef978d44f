package model

import "fmt"

// Assets of most chains are in the outputs of a block. On a chain with [TokenRules] they are derived: the assets of an
// output depend on a message in its transaction, on the assets of the outputs that the transaction spends, and on the
// state of the assets that it names. A database has the rules with which it was
// created ([TokenChain]), or that were added to it.

// TokenChain is a chain on which assets can be derived.
type TokenChain interface {
	// WithTokens returns the chain with derived assets. Its sources set [Tx.Message] and [Tx.TokenOutput], and
	// [Traits.Tokens] is set. Error: bad_assets (Usage) if the network has none with this name.
	WithTokens(name string) (Chain, error)
	// Tokens returns the names that WithTokens accepts; the first one is the most common.
	Tokens() []string
}

// Tokens are the rules by which a chain derives assets.
type Tokens struct {
	Name  string // such as runes
	Rules TokenRules
	// Holders is the index whose values hold assets; [TokenState.Value] reads its values.
	Holders string
}

// TokenRules derive the assets of transactions. They are pure functions: their state is in the database.
type TokenRules interface {
	// Derive sets the results of a transaction: Held, Births and Supplies. The core calls it in the order of the chain,
	// for each transaction that has a message, that spends an output with assets, or with which [TokenRules.Begins].
	// Invalid messages are no errors. Its errors are those of s. Of the outputs it uses their number and their values, of
	// the inputs only Spent.
	Derive(t *TokenTx, s TokenState) error

	// Needs returns what Derive may read from the state for a message: assets, and names. The core reads them for many
	// transactions at once.
	Needs(message any) (assets []AssetBirthPk, names [][]byte)

	// Begins reports whether assets exist from this transaction on without a message.
	Begins(pk TxPk) bool

	// Parse parses [TokenBirth.Info]. The core keeps the result for [TokenState.Token].
	Parse(info []byte) (any, error)
}

// TokenTx is a transaction whose assets are derived.
type TokenTx struct {
	*Tx
	Pk    TxPk
	Block *Block       // nil if Unconfirmed is set
	Spent []TokenInput // one per input

	// Unconfirmed: no block has the transaction. Pk is a position in the next block that later transactions of the mempool
	// do not have, and not the one that the transaction will have. An asset whose id depends on the position has no id yet:
	// [TokenBirth.ID] is then the hash of the transaction, and no message can name its birth.
	Unconfirmed bool

	// Most is the maximum number of entries in Held; 0: there is no limit. A transaction that gives A assets to D outputs
	// has A*D entries, which can be much more than its bytes. Derive then returns [*TooManyEntries].
	Most int

	// Memory is memory of the rules, which they use again for the next transaction; nil at first. It holds no state.
	Memory any

	// Results. The slices are empty before Derive and can be reused after it.
	Held     []TokenOutput
	Births   []TokenBirth
	Supplies []TokenSupply
}

// TooManyEntries is the error of [TokenRules.Derive] for a transaction with more entries than [TokenTx.Most].
type TooManyEntries struct{ Entries int } // at most so many

func (e *TooManyEntries) Error() string { return fmt.Sprintf("up to %d asset entries", e.Entries) }

// TokenInput is an output that a transaction spends.
type TokenInput struct {
	Utxo   UtxoPk
	Value  uint64 // in the smallest unit; it may be missing if the transaction has no message
	Assets []TokenAmount
}

// TokenAmount is an amount of an asset, which its birth identifies.
type TokenAmount struct {
	Asset  AssetBirthPk
	Amount Uint128 // not 0
}

// TokenOutput is an asset of an output. Entries are in the order of outputs; an asset occurs once per output.
type TokenOutput struct {
	Output int // position in [Tx.Outputs]
	TokenAmount
}

// TokenBirth is an asset that a transaction creates. No output needs to hold it. Its birth is a pointer into the
// transaction that no other asset has.
type TokenBirth struct {
	Asset AssetBirthPk
	ID    []byte // 1 to [MaxValueSize] bytes
	Name  []byte // unique within the chain; empty: none
	Info  []byte // everything that does not change, for [TokenRules.Parse]
}

// TokenSupply is what a transaction changes in the supply of an asset. An asset occurs once per transaction.
type TokenSupply struct {
	Asset  AssetBirthPk
	Mints  bool    // the transaction mints, perhaps 0
	Minted Uint128 // 0 unless Mints
	Burned Uint128
}

// TokenState is the state before a transaction. Its errors are those of reading the database.
type TokenState interface {
	// Token returns the asset with a birth; nil if there is none.
	Token(AssetBirthPk) (*Token, error)
	// Named returns the birth of the asset with a name.
	Named(name []byte) (birth AssetBirthPk, ok bool, err error)
	// Count returns the number of assets that were born before.
	Count() (uint64, error)
	// Value returns the value of the index [Tokens.Holders] in an output; nil if it has none.
	Value(UtxoPk) ([]byte, error)
}

// Token is the state of an asset.
type Token struct {
	Info  any    // the result of [TokenRules.Parse]
	Mints uint64 // number of transactions that minted it
}
