package ledger

import (
	"bytes"
	"slices"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

const maxAssetName = 32 // bytes

// Keys of an output since Babbage, and the kinds of a datum in one.
const (
	outputAddress = 0
	outputValue   = 1
	outputDatum   = 2
	outputScript  = 3

	datumHash   = 0
	datumInline = 1
)

// Output is a decoded output. Values point into the block, or into memory of the decoder.
type Output struct {
	Address   []byte // canonical
	Value     uint64
	Assets    []model.Asset
	DatumHash []byte // of the datum
	Datum     []byte // the datum
	Script    []byte // reference script: an array of language and script
	Size      int    // bytes
}

// output reads an output: an array, or since Babbage also a map.
func (d *Decoder) output() {
	w := &d.w
	var o Output
	start := w.Offset
	switch w.Major() {
	case cbor.Array:
		n := w.Array("output")
		w.Field(&n, "address")
		o.Address = w.Bytes("address")
		w.Field(&n, "value")
		d.value(&o)
		if w.More(&n) {
			o.DatumHash = w.BytesOf(32, "datum hash")
		}
		w.End(&n, "output")
	default:
		d.outputMap(&o)
	}
	if w.Err == nil {
		o.Size = w.Offset - start
		d.add(&o)
	}
}

func (d *Decoder) outputMap(o *Output) {
	w := &d.w
	seen := 0
	for n := w.Map("output"); w.More(&n); {
		at := w.Offset
		key := w.Uint("key of the output")
		if key > outputScript || seen>>key&1 != 0 {
			w.FailAt(at, "key %d of an output: expected %d to %d, each once", key, outputAddress, outputScript)
			return
		}
		seen |= 1 << key
		switch key {
		case outputAddress:
			o.Address = w.Bytes("address")
		case outputValue:
			d.value(o)
		case outputDatum:
			d.datum(o)
		case outputScript:
			o.Script = w.Encoded("reference script")
		}
	}
	if seen&3 != 3 {
		w.Fail("expected an address and a value in the output")
	}
}

// datum reads [0, hash] or [1, #6.24(bytes of the datum)].
func (d *Decoder) datum(o *Output) {
	w := &d.w
	n := w.Array("datum")
	w.Field(&n, "kind of datum")
	at := w.Offset
	kind := w.Uint("kind of datum")
	w.Field(&n, "datum")
	switch kind {
	case datumHash:
		o.DatumHash = w.BytesOf(32, "datum hash")
	case datumInline:
		o.Datum = w.Encoded("datum")
	default:
		w.FailAt(at, "datum of kind %d: expected %d (hash) or %d (inline)", kind, datumHash, datumInline)
	}
	w.End(&n, "datum")
}

// value reads an amount, or an array of an amount and assets.
func (d *Decoder) value(o *Output) {
	w := &d.w
	if w.Major() != cbor.Array {
		o.Value = w.Uint("amount")
		return
	}
	n := w.Array("value")
	w.Field(&n, "amount")
	o.Value = w.Uint("amount")
	w.Field(&n, "assets")
	first := len(d.assets)
	d.multiAsset(false)
	o.Assets = d.assets[first:len(d.assets):len(d.assets)]
	w.End(&n, "value")
}

// multiAsset reads a map of policies to maps of names to amounts. Signed amounts are kept as the bits of an int64. Of
// duplicate keys the last one is valid, as in the ledger.
func (d *Decoder) multiAsset(signed bool) {
	w := &d.w
	first := len(d.assets)
	var before []byte
	ascending := true
	for n := w.Map("assets"); w.More(&n); {
		policy := w.BytesOf(address.PolicySize, "policy id")
		if w.Err != nil {
			return
		}
		ascending = ascending && bytes.Compare(before, policy) < 0
		if !ascending {
			d.supersede(first, func(id []byte) bool { return bytes.Equal(id[:address.PolicySize], policy) })
		}
		before = policy
		d.assetsOf(policy, signed)
	}
}

func (d *Decoder) assetsOf(policy []byte, signed bool) {
	w := &d.w
	first := len(d.assets)
	var before []byte
	ascending := true
	names := 0
	for n := w.Map("assets of a policy"); w.More(&n); names++ {
		at := w.Offset
		name := w.Bytes("asset name")
		if len(name) > maxAssetName {
			w.FailAt(at, "asset name of %d bytes: expected at most %d", len(name), maxAssetName)
		}
		var amount uint64
		if signed {
			amount = uint64(w.Int("amount of an asset"))
		} else {
			amount = w.Uint("amount of an asset")
		}
		if w.Err != nil {
			return
		}
		ascending = ascending && (names == 0 || len(before) < len(name) || len(before) == len(name) && bytes.Compare(before, name) < 0)
		if !ascending {
			d.supersede(first, func(id []byte) bool { return bytes.Equal(id[address.PolicySize:], name) })
		}
		before = name
		if amount == 0 {
			continue
		}
		start := len(d.arena)
		d.arena = append(append(d.arena, policy...), name...)
		d.assets = append(d.assets, model.Asset{ID: d.arena[start:len(d.arena):len(d.arena)], Amount: amount})
	}
}

// supersede removes the assets that a duplicate key replaces.
func (d *Decoder) supersede(first int, is func(id []byte) bool) {
	kept := slices.DeleteFunc(d.assets[first:], func(a model.Asset) bool { return is(a.ID) })
	d.assets = d.assets[:first+len(kept)]
}
