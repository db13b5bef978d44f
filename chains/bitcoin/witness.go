package bitcoin

// witnessItems is one input's witness where it stands in a block: how many items, and then each with its length.
type witnessItems struct {
	count int
	raw   []byte
}

// eachWitness hands over the witness of every input that has one.
func (o *own) eachWitness(handle func(input int, items witnessItems)) {
	if !o.tx.witness {
		return
	}
	at := skipOutputs(o.raw, o.tx.outputs)
	for i := range o.env.Tx.InputCount {
		var count int
		count, at = knownCount(o.raw, at)
		start := at
		for range count {
			var size int
			size, at = knownCount(o.raw, at)
			at += size
		}
		if count > 0 {
			handle(i, witnessItems{count, o.raw[start:at]})
		}
	}
}

// list are the items, put behind those in a list.
func (w witnessItems) list(list [][]byte) (items, grown [][]byte) {
	first, at := len(list), 0
	for range min(w.count, maxEntries) {
		size, next := knownCount(w.raw, at)
		list = append(list, w.raw[next:next+size])
		at = next + size
	}
	return list[first:len(list):len(list)], list
}

// tail are the last items, the newest last; nil where there are not so many.
func (w witnessItems) tail() (last [3][]byte, n int) {
	at := 0
	for range w.count {
		size, next := knownCount(w.raw, at)
		last[0], last[1], last[2] = last[1], last[2], w.raw[next:next+size]
		at = next + size
	}
	return last, min(w.count, len(last))
}

// What begins the annex of a taproot witness, and a control block of the first version of tapscript (BIP 341, BIP 342).
const (
	annexTag        = 0x50
	tapscriptLeaf   = 0xc0
	controlBase     = 33
	controlNode     = 32
	controlMaxNodes = 128
)

// tapscript is the script that a taproot spend by script path reveals, nil where the witness is not shaped like one.
// What the spent output was nobody says here: a witness of another kind that looks like it is taken for it.
func tapscript(w witnessItems) []byte {
	last, n := w.tail()
	if n > 2 && len(last[2]) > 0 && last[2][0] == annexTag {
		last[1], last[2], n = last[0], last[1], n-1
	}
	control := last[2]
	if n < 2 || len(control) < controlBase || (len(control)-controlBase)%controlNode != 0 ||
		len(control) > controlBase+controlNode*controlMaxNodes || control[0]&0xfe != tapscriptLeaf {
		return nil
	}
	return last[1]
}

// revealed is the script in a witness: a tapscript, else the last of several items (BIP 141). The last of two is a key
// where the witness spends by a key's hash.
func revealed(w witnessItems) []byte {
	if script := tapscript(w); script != nil {
		return script
	}
	last, _ := w.tail()
	if w.count < 2 || w.count == 2 && isKey(last[2]) {
		return nil
	}
	return last[2]
}

// isKey reports whether bytes look like a public key.
func isKey(b []byte) bool { return len(b) > 0 && keySize(b[0]) == len(b) }

// keysOfInput are the public keys that an input shows, put behind what is in the list: in the pushes of its script, in
// its witness, and in the scripts that the last push or the witness reveals.
func keysOfInput(list [][]byte, in *inputFields) (keys, grown [][]byte) {
	first := len(list)
	add := func(candidates [][]byte) {
		for _, b := range candidates {
			if isKey(b) && len(list)-first < maxEntries {
				list = append(list, b)
			}
		}
	}
	add(in.Pushes)
	if n := len(in.Pushes); n > 0 && !isKey(in.Pushes[n-1]) {
		inner, _ := pushesOf(nil, in.Pushes[n-1])
		add(inner)
	}
	add(in.Witness)
	add(in.RevealedPushes)
	return list[first:len(list):len(list)], list
}
