package ledger

import (
	"iter"

	"birthmark/chains/cardano/cbor"
)

// Auxiliary data of a transaction is a map of metadata; since Allegra also an array that starts with it, since Alonzo
// also a tagged map that has it under a key.
const (
	tagAuxiliary      = 259
	auxiliaryMetadata = 0
)

// Metadata yields the labels in the auxiliary data of a transaction with their serialized metadata, in the order of the
// bytes, each label once. It ends before malformed data.
func Metadata(auxiliary []byte) iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		w := cbor.Walker{Data: auxiliary}
		switch w.Major() {
		case cbor.Map:
		case cbor.Array:
			n := w.Array("auxiliary data")
			w.Field(&n, "metadata")
		case cbor.Tag:
			if _, tag, _ := w.Head("auxiliary data"); tag != tagAuxiliary || w.Major() != cbor.Map {
				return
			}
			w = cbor.Walker{Data: w.Lookup(auxiliaryMetadata)}
		}
		if w.Major() != cbor.Map {
			return
		}
		for _, e := range w.Entries("metadata") {
			if label, ok := e.Number(); !ok || !yield(label, e.Value) {
				return
			}
		}
	}
}
