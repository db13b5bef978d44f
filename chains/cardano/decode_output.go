package cardano

import (
	"bytes"
	"slices"

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

// output is what was read of an output. Slices point into the block, or into the decoder's arena.
type output struct {
	address []byte
	value   uint64
	assets  []model.Asset
	hash    []byte // of the datum
	inline  []byte // the datum
	script  []byte // an array of its language and itself
	size    int    // bytes
}

// output takes an output: an array, or since Babbage a map as well.
func (d *decoder) output() {
	w := &d.w
	var o output
	start := w.at
	switch w.major() {
	case majorArray:
		n := w.array("output")
		w.field(&n, "address")
		o.address = w.bytes("address")
		w.field(&n, "value")
		d.value(&o)
		if w.more(&n) {
			o.hash = w.sized(32, "datum hash")
		}
		w.end(&n, "output")
	default:
		d.outputMap(&o)
	}
	if w.err == nil {
		o.size = w.at - start
		d.add(&o)
	}
}

func (d *decoder) outputMap(o *output) {
	w := &d.w
	seen := 0
	for n := w.pairs("output"); w.more(&n); {
		at := w.at
		key := w.uint("key of the output")
		if key > outputScript || seen>>key&1 != 0 {
			w.failAt(at, "key %d of an output: expected %d to %d, each once", key, outputAddress, outputScript)
			return
		}
		seen |= 1 << key
		switch key {
		case outputAddress:
			o.address = w.bytes("address")
		case outputValue:
			d.value(o)
		case outputDatum:
			d.datum(o)
		case outputScript:
			o.script = w.encoded("reference script")
		}
	}
	if seen&3 != 3 {
		w.fail("expected an address and a value in the output")
	}
}

// datum takes [0, hash] or [1, the bytes of the datum].
func (d *decoder) datum(o *output) {
	w := &d.w
	n := w.array("datum")
	w.field(&n, "kind of datum")
	at := w.at
	kind := w.uint("kind of datum")
	w.field(&n, "datum")
	switch kind {
	case datumHash:
		o.hash = w.sized(32, "datum hash")
	case datumInline:
		o.inline = w.encoded("datum")
	default:
		w.failAt(at, "datum of kind %d: expected %d (hash) or %d (inline)", kind, datumHash, datumInline)
	}
	w.end(&n, "datum")
}

// value takes an amount, or an array of one and assets.
func (d *decoder) value(o *output) {
	w := &d.w
	if w.major() != majorArray {
		o.value = w.uint("amount")
		return
	}
	n := w.array("value")
	w.field(&n, "amount")
	o.value = w.uint("amount")
	w.field(&n, "assets")
	first := len(d.assets)
	d.multiAsset(false)
	o.assets = d.assets[first:len(d.assets):len(d.assets)]
	w.end(&n, "value")
}

// multiAsset takes a map of policies to maps of names to amounts. Amounts with signs are kept as the bits of an int64.
// Where a map has a key again, the later one stands, as in the ledger.
func (d *decoder) multiAsset(signed bool) {
	w := &d.w
	first := len(d.assets)
	var before []byte
	ascending := true
	for n := w.pairs("assets"); w.more(&n); {
		policy := w.sized(policySize, "policy id")
		if w.err != nil {
			return
		}
		ascending = ascending && bytes.Compare(before, policy) < 0
		if !ascending {
			d.supersede(first, func(id []byte) bool { return bytes.Equal(id[:policySize], policy) })
		}
		before = policy
		d.assetsOf(policy, signed)
	}
}

func (d *decoder) assetsOf(policy []byte, signed bool) {
	w := &d.w
	first := len(d.assets)
	var before []byte
	ascending := true
	names := 0
	for n := w.pairs("assets of a policy"); w.more(&n); names++ {
		at := w.at
		name := w.bytes("asset name")
		if len(name) > maxAssetName {
			w.failAt(at, "asset name of %d bytes: expected at most %d", len(name), maxAssetName)
		}
		var amount uint64
		if signed {
			amount = uint64(w.int("amount of an asset"))
		} else {
			amount = w.uint("amount of an asset")
		}
		if w.err != nil {
			return
		}
		ascending = ascending && (names == 0 || len(before) < len(name) || len(before) == len(name) && bytes.Compare(before, name) < 0)
		if !ascending {
			d.supersede(first, func(id []byte) bool { return bytes.Equal(id[policySize:], name) })
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

// supersede gives up assets.
func (d *decoder) supersede(first int, is func(id []byte) bool) {
	kept := slices.DeleteFunc(d.assets[first:], func(a model.Asset) bool { return is(a.ID) })
	d.assets = d.assets[:first+len(kept)]
}
