package cardano

import (
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

// Auxiliary data of a transaction is a map of metadata; since Allegra also an array that starts with it, since Alonzo also
// a tagged map that has it under a key.
const (
	tagAuxiliary      = 259
	auxiliaryMetadata = 0
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
	w := cbor.Walker{Data: v.item(bodyRequiredSigners)}
	if w.Data == nil {
		return nil
	}
	for n := w.Set("required signers"); w.More(&n); {
		if hash := w.Bytes("required signer"); w.Err == nil {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

func (v *view) referenceInputs() (all []*reference) {
	w := cbor.Walker{Data: v.item(bodyReferenceInputs)}
	if w.Data == nil {
		return nil
	}
	for n := w.Set("reference inputs"); w.More(&n); {
		if in := ledger.ReadOutpoint(&w); w.Err == nil {
			all = append(all, &reference{Tx: in.Tx[:], Index: int(in.Index)})
		}
	}
	return all
}

// labelled returns the serialized metadata of the transaction, and the labels in the order of the block. Labels above
// the range of int are left out; of duplicate labels the last one is valid.
func (v *view) labelled() (labels []int, raw map[int][]byte) {
	w := cbor.Walker{Data: v.parts.Auxiliary}
	switch w.Major() {
	case cbor.Map:
	case cbor.Array:
		n := w.Array("auxiliary data")
		w.Field(&n, "metadata")
	case cbor.Tag:
		if _, tag, _ := w.Head("auxiliary data"); tag != tagAuxiliary || w.Major() != cbor.Map {
			return nil, nil
		}
		w = cbor.Walker{Data: w.Lookup(auxiliaryMetadata)}
	}
	if w.Major() != cbor.Map {
		return nil, nil
	}
	raw = map[int][]byte{}
	for n := w.Map("metadata"); w.More(&n); {
		label := w.Uint("label")
		item := w.Item("metadata")
		if key := fitting(label); w.Err == nil && uint64(key) == label {
			if _, again := raw[key]; !again {
				labels = append(labels, key)
			}
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
