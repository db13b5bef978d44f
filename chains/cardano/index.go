package cardano

import (
	"encoding/hex"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"

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
func (n *network) indexes() []model.Index {
	return []model.Index{
		{
			Name: indexAddress, Kind: model.OneToMany, Default: true,
			Value:  "output.address",
			Doc:    "who an output pays, as its address stands in the block: Byron's and Shelley's of every kind",
			Format: func(value []byte) string { return formatAddress(n, value) },
			Parse:  func(text string) ([]byte, error) { return parseAddress(n, text) },
		},
		{
			Name: indexPaymentCredential, Kind: model.OneToMany,
			Value:  "output.payment_credential",
			Doc:    "the key or script that may spend an output, whatever its address delegates to; none for Byron addresses",
			Format: func(value []byte) string { return formatPaymentCredential(n, value) },
			Parse:  func(text string) ([]byte, error) { return parsePaymentCredential(n, text) },
		},
		{
			Name: indexStakeCredential, Kind: model.OneToMany,
			Value:  "output.stake_credential",
			Doc:    "the key or script an output's address delegates by; none for Byron, enterprise and pointer addresses",
			Format: func(value []byte) string { return formatStakeCredential(n, value) },
			Parse:  func(text string) ([]byte, error) { return parseStakeCredential(n, text) },
		},
		{
			Name: indexScriptHash, Kind: model.OneToMany,
			Value:  "output.script_hash",
			Doc:    "the hash of the reference script in an output",
			Format: hex.EncodeToString, Parse: hashParser("script hash", credentialHash),
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
			Format: hex.EncodeToString, Parse: hashParser("policy id", policySize),
		},
	}
}

// hashParser reads a hash of so many bytes in hex.
func hashParser(what string, size int) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		value, err := hex.DecodeString(text)
		if err != nil || len(value) != size {
			return nil, model.Errorf(model.Usage, "bad_value", "%q is no %s: expected %d hex digits", shownText(text), what, 2*size)
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

// add puts an output among those of the block, with its keys.
func (d *decoder) add(o *output) {
	if len(o.address) > model.MaxValueSize {
		d.w.fail("address of %d bytes: expected at most %d", len(o.address), model.MaxValueSize)
		return
	}
	first := len(d.keys)
	for i, v := range d.wanted {
		var value []byte
		switch v {
		case valueAddress:
			value = o.address
		case valuePaymentCredential:
			value, _ = paymentCredential(o.address)
		case valueStakeCredential:
			value, _ = stakeCredential(o.address)
		case valueScriptHash:
			value = d.scriptHash(o.script)
		case valueDatumHash:
			value = d.datumHash(o)
		case valuePolicy:
			d.policies(i, o)
		}
		if len(value) > 0 {
			d.keys = append(d.keys, model.Key{Index: i, Value: value})
		}
	}
	d.outputs = append(d.outputs, model.Output{Value: o.value, Keys: d.keys[first:len(d.keys):len(d.keys)], Assets: o.assets})
	if d.own != nil {
		d.own.outputs = append(d.own.outputs, *o)
	}
}

// scriptHash is the hash of a reference script; nil where there is none.
func (d *decoder) scriptHash(ref []byte) []byte {
	if ref == nil {
		return nil
	}
	s, err := parseScript(ref, d.w.open)
	if err != nil {
		d.w.fail("%w", err)
		return nil
	}
	return d.hashScript(&s)
}

func (d *decoder) hashScript(s *script) []byte {
	d.scratch = append(append(d.scratch[:0], s.language), s.code...)
	return blake2b224(d.scratch)
}

// datumHash is the hash of an output's datum; nil where it has none.
func (d *decoder) datumHash(o *output) []byte {
	if o.inline == nil {
		return o.hash
	}
	sum := blake2b.Sum256(o.inline)
	start := len(d.arena)
	d.arena = append(d.arena, sum[:]...)
	return d.arena[start:len(d.arena):len(d.arena)]
}

// policies appends a key for each policy of which the output holds something. The assets of one stand together.
func (d *decoder) policies(index int, o *output) {
	var before []byte
	for i := range o.assets {
		policy := o.assets[i].ID[:policySize]
		if i == 0 || string(before) != string(policy) {
			d.keys = append(d.keys, model.Key{Index: index, Value: policy})
		}
		before = policy
	}
}
