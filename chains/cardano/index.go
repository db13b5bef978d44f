package cardano

import (
	"encoding/hex"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// The positions of the built-in indexes.
const (
	addressIndex = iota
	paymentCredentialIndex
	stakeCredentialIndex
	scriptHashIndex
	datumHashIndex
	policyIndex
)

// indexPolicy is the name of the index of policies.
const indexPolicy = "policy"

func indexes(n address.Network) []model.Index {
	return []model.Index{
		addressIndex: {
			Name: "address", Kind: model.OneToMany, Default: true,
			Value:  "output.address",
			Doc:    "the address that an output pays, as it is in the block: Byron addresses and Shelley addresses of every kind",
			Format: func(value []byte) string { return address.Format(n, value) },
			Parse:  func(text string) ([]byte, error) { return address.Parse(n, text) },
			Types:  address.Types,
		},
		paymentCredentialIndex: {
			Name: "payment_credential", Kind: model.OneToMany,
			Value:  "output.payment_credential",
			Doc:    "the key or script that can spend an output, whatever its address delegates to; none for Byron addresses",
			Format: func(value []byte) string { return address.FormatPaymentCredential(n, value) },
			Parse:  func(text string) ([]byte, error) { return address.ParsePaymentCredential(n, text) },
			Types:  address.CredentialTypes,
		},
		stakeCredentialIndex: {
			Name: "stake_credential", Kind: model.OneToMany,
			Value:  "output.stake_credential",
			Doc:    "the key or script that the address of an output delegates with; none for Byron, enterprise and pointer addresses",
			Format: func(value []byte) string { return address.FormatStakeCredential(n, value) },
			Parse:  func(text string) ([]byte, error) { return address.ParseStakeCredential(n, text) },
			Types:  address.CredentialTypes,
		},
		scriptHashIndex: {
			Name: "script_hash", Kind: model.OneToMany,
			Value:  "output.script_hash",
			Doc:    "the hash of the reference script in an output",
			Format: hex.EncodeToString, Parse: adapter.ParseHex("script hash", address.CredentialSize),
		},
		datumHashIndex: {
			Name: "datum_hash", Kind: model.OneToMany,
			Value:  "output.datum_hash",
			Doc:    "the hash of an output's datum, given or inline",
			Format: hex.EncodeToString, Parse: adapter.ParseHex("datum hash", blake2b.Size256),
		},
		policyIndex: {
			Name: indexPolicy, Kind: model.ManyValued,
			Value:  "output.policies",
			Doc:    "the policies of the assets in an output",
			Format: hex.EncodeToString, Parse: adapter.ParseHex("policy id", address.PolicySize),
		},
	}
}

// PoolIndex is the name of the index of the pools that made blocks.
const PoolIndex = "pool"

// BlockIndexes implements [model.BlockIndexer].
func (c *chain) BlockIndexes() []model.Index {
	return []model.Index{{
		Name: PoolIndex, Kind: model.PerBlock,
		Value:  "block.pool",
		Doc:    "the pool that made a block, also one without transactions; Blockfrost's API lists the blocks of pools with it",
		Format: address.FormatPoolHash, Parse: address.ParsePool, OfHeader: ledger.PoolOf,
	}}
}

// outputIndexer makes the values of the selected indexes, for one decoder.
type outputIndexer struct {
	chain    *chain
	names    []string
	selected []adapter.Selected
	custom   *userIndexes // nil if none is selected
	script   cbor.Walker
	arena    []byte // values that are not in the block as such
	scratch  []byte
}

// newIndexer returns the indexer of the named indexes. An error is of kind [model.Usage], code unknown_index.
func newIndexer(c *chain, names []string) (*outputIndexer, error) {
	selected, err := c.Select(names)
	if err != nil {
		return nil, err
	}
	x := &outputIndexer{chain: c, names: names, selected: selected}
	x.custom = newUserIndexes(x)
	return x, nil
}

// Clone implements [ledger.Indexer].
func (x *outputIndexer) Clone() ledger.Indexer {
	c := &outputIndexer{chain: x.chain, names: x.names, selected: x.selected}
	c.custom = newUserIndexes(c)
	return c
}

// NeedsParts implements [ledger.Indexer].
func (x *outputIndexer) NeedsParts() bool { return x.custom != nil }

// Reset implements [ledger.Indexer].
func (x *outputIndexer) Reset() {
	x.arena = x.arena[:0]
	if x.custom != nil {
		x.custom.reset()
	}
}

// Output implements [ledger.Indexer].
func (x *outputIndexer) Output(keys []model.Key, o *ledger.Output) ([]model.Key, error) {
	for _, s := range x.selected {
		var value []byte
		switch s.Builtin {
		case addressIndex:
			value = o.Address
		case paymentCredentialIndex:
			value, _ = address.PaymentCredential(o.Address)
		case stakeCredentialIndex:
			value, _ = address.StakeCredential(o.Address)
		case scriptHashIndex:
			if o.Script != nil {
				s, err := ledger.ParseScript(&x.script, o.Script)
				if err != nil {
					return keys, err
				}
				value = x.hashScript(&s)
			}
		case datumHashIndex:
			value = x.datumHash(o)
		case policyIndex:
			keys = appendPolicies(keys, s.Position, o)
		}
		if len(value) > 0 {
			keys = append(keys, model.Key{Index: s.Position, Value: value})
		}
	}
	if x.custom != nil {
		x.custom.outputs = append(x.custom.outputs, *o)
	}
	return keys, nil
}

// Block implements [ledger.Indexer].
func (x *outputIndexer) Block(txs *ledger.Transactions) {
	if x.custom != nil {
		x.custom.evaluate(txs)
	}
}

func (x *outputIndexer) hashScript(s *ledger.Script) []byte {
	x.scratch = append(append(x.scratch[:0], s.Language), s.Code...)
	return address.Hash224(x.scratch)
}

// datumHash returns the hash of an output's datum; nil if it has none.
func (x *outputIndexer) datumHash(o *ledger.Output) []byte {
	if o.Datum == nil {
		return o.DatumHash
	}
	sum := blake2b.Sum256(o.Datum)
	start := len(x.arena)
	x.arena = append(x.arena, sum[:]...)
	return x.arena[start:len(x.arena):len(x.arena)]
}

// appendPolicies appends a key per policy of which the output holds assets. The assets of a policy are adjacent.
func appendPolicies(keys []model.Key, index int, o *ledger.Output) []model.Key {
	var before []byte
	for i := range o.Assets {
		policy := o.Assets[i].ID[:address.PolicySize]
		if i == 0 || string(before) != string(policy) {
			keys = append(keys, model.Key{Index: index, Value: policy})
		}
		before = policy
	}
	return keys
}
