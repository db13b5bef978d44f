package cardano

import (
	"encoding/hex"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// The names of the indexes.
const (
	indexAddress           = "address"
	indexPaymentCredential = "payment_credential"
	indexStakeCredential   = "stake_credential"
	indexScriptHash        = "script_hash"
	indexDatumHash         = "datum_hash"
	indexPolicy            = "policy"
)

// indexes are what Cardano offers on a network.
func indexesOf(n *genesis.Network) []model.Index {
	return []model.Index{
		{
			Name: indexAddress, Kind: model.OneToMany, Default: true,
			Value:  "output.address",
			Doc:    "who an output pays, as its address stands in the block: Byron's and Shelley's of every kind",
			Format: func(value []byte) string { return address.Format(n.Network, value) },
			Parse:  func(text string) ([]byte, error) { return address.Parse(n.Network, text) },
		},
		{
			Name: indexPaymentCredential, Kind: model.OneToMany,
			Value:  "output.payment_credential",
			Doc:    "the key or script that may spend an output, whatever its address delegates to; none for Byron addresses",
			Format: func(value []byte) string { return address.FormatPaymentCredential(n.Network, value) },
			Parse:  func(text string) ([]byte, error) { return address.ParsePaymentCredential(n.Network, text) },
		},
		{
			Name: indexStakeCredential, Kind: model.OneToMany,
			Value:  "output.stake_credential",
			Doc:    "the key or script an output's address delegates by; none for Byron, enterprise and pointer addresses",
			Format: func(value []byte) string { return address.FormatStakeCredential(n.Network, value) },
			Parse:  func(text string) ([]byte, error) { return address.ParseStakeCredential(n.Network, text) },
		},
		{
			Name: indexScriptHash, Kind: model.OneToMany,
			Value:  "output.script_hash",
			Doc:    "the hash of the reference script in an output",
			Format: hex.EncodeToString, Parse: hashParser("script hash", address.CredentialSize),
		},
		{
			Name: indexDatumHash, Kind: model.OneToMany,
			Value:  "output.datum_hash",
			Doc:    "the hash of an output's datum, given or inline",
			Format: hex.EncodeToString, Parse: hashParser("datum hash", blake2b.Size256),
		},
		{
			Name: indexPolicy, Kind: model.ManyValued,
			Value:  "output.policies",
			Doc:    "the policies of the assets in an output",
			Format: hex.EncodeToString, Parse: hashParser("policy id", address.PolicySize),
		},
	}
}

// hashParser reads a hash of so many bytes in hex.
func hashParser(what string, size int) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		value, err := hex.DecodeString(text)
		if err != nil || len(value) != size {
			return nil, model.Errorf(model.Usage, "bad_value", "%q is no %s: expected %d hex digits", address.Excerpt(text), what, 2*size)
		}
		return value, nil
	}
}

// wanted says which values of an output are to be made: the names of indexes, in the order of their
// [model.Key.Index].
type wanted []valueOf

// valueOf is one of the indexes; those that users defined are all one.
type valueOf uint8

const (
	valueAddress valueOf = iota
	valuePaymentCredential
	valueStakeCredential
	valueScriptHash
	valueDatumHash
	valuePolicy
	valueOwn
)

var valueNames = []string{indexAddress, indexPaymentCredential, indexStakeCredential, indexScriptHash, indexDatumHash, indexPolicy}

// newWanted reads a list of index names; the position of a name is its [model.Key.Index].
func newWanted(own *indexexpr.Indexes, names []string) (wanted, error) {
	w := make(wanted, len(names))
	for i, name := range names {
		v := slices.Index(valueNames, name)
		if own.Has(name) {
			v = int(valueOwn)
		}
		if v < 0 {
			return nil, model.Errorf(model.Usage, "unknown_index", "unknown index %q of cardano: expected %s", name, strings.Join(valueNames, ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, model.Errorf(model.Usage, "unknown_index", "index %q is named twice", name)
		}
		w[i] = valueOf(v)
	}
	return w, nil
}

// outputIndexer makes the values of the wanted indexes, for one decoder.
type outputIndexer struct {
	wanted  wanted
	own     *own // indexes that users defined; nil: none of them is wanted
	script  cbor.Walker
	arena   []byte // values that are not in the block as such
	scratch []byte
}

// newIndexer returns the indexer of the named indexes. An error is of kind [model.Usage], code unknown_index.
func newIndexer(n *genesis.Network, own *indexexpr.Indexes, names []string) (*outputIndexer, error) {
	w, err := newWanted(own, names)
	if err != nil {
		return nil, err
	}
	x := &outputIndexer{wanted: w}
	x.own = newOwn(n, x, own, names)
	return x, nil
}

func (x *outputIndexer) Clone() ledger.Indexer {
	c := &outputIndexer{wanted: x.wanted}
	if x.own != nil {
		c.own = newOwn(x.own.net, c, x.own.indexes, x.own.names)
	}
	return c
}

func (x *outputIndexer) NeedsParts() bool { return x.own != nil }

func (x *outputIndexer) Reset() {
	x.arena = x.arena[:0]
	if x.own != nil {
		x.own.outputs, x.own.keys = x.own.outputs[:0], x.own.keys[:0]
	}
}

func (x *outputIndexer) Output(keys []model.Key, o *ledger.Output) ([]model.Key, error) {
	for i, v := range x.wanted {
		var value []byte
		switch v {
		case valueAddress:
			value = o.Address
		case valuePaymentCredential:
			value, _ = address.PaymentCredential(o.Address)
		case valueStakeCredential:
			value, _ = address.StakeCredential(o.Address)
		case valueScriptHash:
			if o.Script != nil {
				s, err := ledger.ParseScript(&x.script, o.Script)
				if err != nil {
					return keys, err
				}
				value = x.hashScript(&s)
			}
		case valueDatumHash:
			value = x.datumHash(o)
		case valuePolicy:
			keys = appendPolicies(keys, i, o)
		}
		if len(value) > 0 {
			keys = append(keys, model.Key{Index: i, Value: value})
		}
	}
	if x.own != nil {
		x.own.outputs = append(x.own.outputs, *o)
	}
	return keys, nil
}

func (x *outputIndexer) Block(txs *ledger.Transactions) {
	if x.own != nil {
		x.own.evaluate(txs)
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
