package cardano

import (
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
)

// Keys of a transaction body that only fields use.
const (
	bodyValidTo         = 3
	bodyValidFrom       = 8
	bodyRequiredSigners = 14
	bodyReferenceInputs = 18
)

// item returns the value of a key of the transaction body, or nil if the key is absent.
func (v *view) item(key uint64) []byte {
	w := cbor.Walker{Data: v.parts.Body}
	if w.Major() != cbor.Map { // Byron's are arrays
		return nil
	}
	return w.Lookup(key)
}

func (v *view) slot(key uint64) int {
	item := v.item(key)
	if item == nil {
		return 0
	}
	w := cbor.Walker{Data: item}
	return fitting(w.Uint("slot"))
}

func (v *view) requiredSigners() (hashes [][]byte) {
	return ledger.RequiredSigners(v.item(bodyRequiredSigners))
}

func (v *view) referenceInputs() (all []*reference) {
	for _, in := range ledger.Outpoints(v.item(bodyReferenceInputs)) {
		all = append(all, &reference{Tx: in.Tx[:], Index: int(in.Index)})
	}
	return all
}

// labelled returns the serialized metadata of the transaction, and the labels in the order of the block. Expressions have
// no numbers above 2^63-1: labels above it are left out.
func (v *view) labelled() (labels []int, raw map[int][]byte) {
	raw = map[int][]byte{}
	for label, item := range ledger.Metadata(v.parts.Auxiliary) {
		if key := fitting(label); uint64(key) == label {
			labels = append(labels, key)
			raw[key] = item
		}
	}
	return labels, raw
}

// meanings returns the metadata of the transaction as values, by label.
func (v *view) meanings() map[int]any {
	_, raw := v.labelled()
	all := make(map[int]any, len(raw))
	for label, item := range raw {
		all[label] = meaning(item)
	}
	return all
}

// datums returns the hashes of the datums in the witnesses.
func (v *view) datums() (hashes [][]byte) {
	for _, d := range ledger.ReadWitnesses(v.parts.Witnesses).Datums {
		hash := blake2b.Sum256(d)
		hashes = append(hashes, hash[:])
	}
	return hashes
}

// scripts returns the hashes of the scripts in the witnesses of the transaction, then those in its outputs.
func (v *view) scripts() (hashes [][]byte) {
	add := func(s *ledger.Script) { hashes = append(hashes, v.index.hashScript(s)) }
	all := ledger.ReadWitnesses(v.parts.Witnesses).Scripts
	for i := range all {
		add(&all[i])
	}
	for i := range v.created {
		if ref := v.created[i].Script; ref != nil {
			if s, err := ledger.ParseScript(&v.index.script, ref); err == nil {
				add(&s)
			}
		}
	}
	return hashes
}
