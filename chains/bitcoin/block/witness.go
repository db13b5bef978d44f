package block

// WitnessItems is the serialized witness of one input.
type WitnessItems struct {
	count int
	raw   []byte // the items, each after its length
}

// EachWitness calls handle with the witness of every input that has one. at is the offset of the witnesses in raw,
// which must be well-formed.
func EachWitness(raw []byte, at, inputs int, handle func(input int, items WitnessItems)) {
	for i := range inputs {
		var count int
		count, at = Count(raw, at)
		start := at
		for range count {
			var size int
			size, at = Count(raw, at)
			at += size
		}
		if count > 0 {
			handle(i, WitnessItems{count, raw[start:at]})
		}
	}
}

// Append appends the first [MaxEntries] items to a list. items is the appended part.
func (w WitnessItems) Append(list [][]byte) (items, grown [][]byte) {
	return w.appendFirst(list, MaxEntries)
}

func (w WitnessItems) appendFirst(list [][]byte, most int) (items, grown [][]byte) {
	first, at := len(list), 0
	for range min(w.count, most) {
		size, next := Count(w.raw, at)
		list = append(list, w.raw[next:next+size])
		at = next + size
	}
	return list[first:len(list):len(list)], list
}

// tail returns up to three of the last items, at the end of last.
func (w WitnessItems) tail() (last [3][]byte, n int) {
	at := 0
	for range w.count {
		size, next := Count(w.raw, at)
		last[0], last[1], last[2] = last[1], last[2], w.raw[next:next+size]
		at = next + size
	}
	return last, min(w.count, len(last))
}

// Annex and control block of a taproot witness (BIP 341, BIP 342).
const (
	annexTag        = 0x50
	tapscriptLeaf   = 0xc0
	controlBase     = 33
	controlNode     = 32
	controlMaxNodes = 128
)

// Tapscript returns the script of a taproot script-path spend, nil if the witness does not have that form. The spent
// output is not known here, so a witness of another kind with the same form also matches.
func Tapscript(w WitnessItems) []byte {
	script, control := leaf(w)
	if script == nil || len(control) < controlBase || (len(control)-controlBase)%controlNode != 0 ||
		len(control) > controlBase+controlNode*controlMaxNodes || control[0]&0xfe != tapscriptLeaf {
		return nil
	}
	return script
}

// LeafScript returns the item in the place of the script of a taproot script-path spend, whatever its leaf version; nil if
// the witness has fewer than two items. It is where ord looks for inscriptions, in witnesses of all kinds.
func LeafScript(w WitnessItems) []byte {
	script, _ := leaf(w)
	return script
}

// leaf returns the last two items before the annex; nil if there are fewer.
func leaf(w WitnessItems) (script, control []byte) {
	last, n := w.tail()
	if n >= 2 && len(last[2]) > 0 && last[2][0] == annexTag {
		last[1], last[2], n = last[0], last[1], n-1
	}
	if n < 2 {
		return nil, nil
	}
	return last[1], last[2]
}

// Revealed returns the script in a witness: a tapscript, else the last of several items (BIP 141). It returns nil if
// the witness has fewer than two items, or is a signature and a key.
func Revealed(w WitnessItems) []byte {
	if script := Tapscript(w); script != nil {
		return script
	}
	last, _ := w.tail()
	if w.count < 2 || w.count == 2 && IsKey(last[2]) {
		return nil
	}
	return last[2]
}

// IsKey reports whether b has the form of a public key.
func IsKey(b []byte) bool { return len(b) > 0 && keySize(b[0]) == len(b) }

// MaxEntries is the most entries of a list of pushes or witness items: a block has room for millions.
const MaxEntries = 1 << 14

// Pushes appends the pushes of a script to a list, up to [MaxEntries] and to the first invalid operation. pushes is the
// appended part.
func Pushes(list [][]byte, script []byte) (pushes, grown [][]byte) {
	first := len(list)
	for len(script) > 0 && len(list)-first < MaxEntries {
		_, data, rest, ok := NextOp(script)
		if !ok {
			break
		}
		if data != nil {
			list = append(list, data)
		}
		script = rest
	}
	return list[first:len(list):len(list)], list
}
