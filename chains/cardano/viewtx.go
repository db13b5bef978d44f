package cardano

// Keys of a transaction body that only expressions look at.
const (
	bodyValidTo         = 3
	bodyValidFrom       = 8
	bodyRequiredSigners = 14
	bodyReferenceInputs = 18
)

// Forms of a transaction's auxiliary data: a map of metadata; since Allegra an array that begins with it, since Alonzo
// a tagged map that has it under a key.
const (
	tagAuxiliary      = 259
	auxiliaryMetadata = 0
)

// item is what stands under a key of the transaction body, nil where nothing does.
func (v *view) item(key uint64) []byte {
	w := walker{b: v.parts.body}
	if w.major() != majorMap { // Byron's are arrays
		return nil
	}
	return w.lookup(key)
}

func (v *view) slot(key uint64) int {
	item := v.item(key)
	if item == nil {
		return 0
	}
	w := walker{b: item}
	return fitting(w.uint("slot"))
}

func (v *view) requiredSigners() (hashes [][]byte) {
	w := walker{b: v.item(bodyRequiredSigners)}
	if w.b == nil {
		return nil
	}
	for n := w.set("required signers"); w.more(&n); {
		if hash := w.bytes("required signer"); w.err == nil {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

func (v *view) referenceInputs() (all []*reference) {
	w := walker{b: v.item(bodyReferenceInputs)}
	if w.b == nil {
		return nil
	}
	for n := w.set("reference inputs"); w.more(&n); {
		if in := readOutpoint(&w); w.err == nil {
			all = append(all, &reference{Tx: in.Tx[:], Index: int(in.Index)})
		}
	}
	return all
}

// labelled are the transaction's metadata as they stand there, and their labels in the order of the block. Labels that
// no int holds are left out, and a label that stands twice is its last.
func (v *view) labelled() (labels []int, raw map[int][]byte) {
	w := walker{b: v.parts.auxiliary}
	switch w.major() {
	case majorMap:
	case majorArray:
		n := w.array("auxiliary data")
		w.field(&n, "metadata")
	case majorTag:
		if _, tag, _ := w.head("auxiliary data"); tag != tagAuxiliary || w.major() != majorMap {
			return nil, nil
		}
		w = walker{b: w.lookup(auxiliaryMetadata)}
	}
	if w.major() != majorMap {
		return nil, nil
	}
	raw = map[int][]byte{}
	for n := w.pairs("metadata"); w.more(&n); {
		label := w.uint("label")
		item := w.item("metadata")
		if key := fitting(label); w.err == nil && uint64(key) == label {
			if _, again := raw[key]; !again {
				labels = append(labels, key)
			}
			raw[key] = item
		}
	}
	return labels, raw
}

// meanings are the transaction's metadata by their labels.
func (v *view) meanings() map[int]any {
	_, raw := v.labelled()
	all := make(map[int]any, len(raw))
	for label, item := range raw {
		all[label] = meaning(item)
	}
	return all
}
