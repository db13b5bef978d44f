package cbor

// Entry is an entry of a map: its key and its value, as they are serialized.
type Entry struct{ Key, Value []byte }

// Number returns the key as an unsigned number; ok is false if it is another item.
func (e *Entry) Number() (n uint64, ok bool) {
	w := Walker{Data: e.Key}
	n = w.Uint("key")
	return n, w.Err == nil
}

// Entries reads a map as the ledger does: of a key that occurs twice, the last value counts. It stays at the place of the
// first one. The ledger's decoders for the versions of the protocol before 9 make maps of lists in this way, and refuse
// such maps since then, except for redeemers until version 12 (decodeMap of cardano-ledger-binary). Keys are equal if
// they are equal values, whatever their form. If the map is malformed, the entries before the fault are returned.
func (w *Walker) Entries(what string) []Entry {
	n := w.Map(what)
	var all []Entry
	for w.More(&n) {
		e := Entry{w.Item(what), w.Item(what)}
		if w.Err == nil {
			all = append(all, e)
		}
	}
	return Distinct(all, func(e *Entry) []byte { return e.Key })
}

// Elements reads a set as the ledger does, an array that may have the tag of a set: an element that occurs twice counts
// once, see [Walker.Entries] (decodeSet). If the set is malformed, the elements before the fault are returned.
func (w *Walker) Elements(what string) [][]byte {
	return Distinct(w.Sequence(what), func(item *[]byte) []byte { return *item })
}

// Sequence reads an array that may have the tag of a set, with each of its elements. The certificates before Conway are
// one. If it is malformed, the elements before the fault are returned.
func (w *Walker) Sequence(what string) (all [][]byte) {
	for n := w.Set(what); w.More(&n); {
		if item := w.Item(what); w.Err == nil {
			all = append(all, item)
		}
	}
	return all
}

// Distinct returns the last element of each key, at the place of the first one. key returns a serialized item. The result
// reuses the memory of all.
func Distinct[T any](all []T, key func(*T) []byte) []T {
	if len(all) < 2 {
		return all
	}
	places := make(map[string]int, len(all))
	kept := all[:0]
	var canonical []byte
	for i := range all {
		w := Walker{Data: key(&all[i])}
		canonical = w.appendCanonical(canonical[:0], 0)
		if place, again := places[string(canonical)]; again {
			kept[place] = all[i]
			continue
		}
		places[string(canonical)] = len(kept)
		kept = append(kept, all[i])
	}
	return kept
}

// maxKeyDepth is more than the nesting of any key of the ledger: an outpoint in an array.
const maxKeyDepth = 4

// appendCanonical appends the next item with heads in their shortest form and definite lengths.
func (w *Walker) appendCanonical(b []byte, depth int) []byte {
	if depth > maxKeyDepth {
		return append(b, w.Item("key")...)
	}
	items := func(n, perItem int) []byte {
		var content []byte
		count := 0
		for w.More(&n) {
			count++
			for range perItem {
				content = w.appendCanonical(content, depth+1)
			}
		}
		return append(AppendHead(b, byte(Array+perItem-1), uint64(count)), content...)
	}
	switch w.Major() {
	case Bytes:
		return AppendBytes(b, w.Bytes("key"))
	case Text:
		text := w.Text("key")
		return append(AppendHead(b, Text, uint64(len(text))), text...)
	case Array:
		return items(w.Array("key"), 1)
	case Map:
		return items(w.Map("key"), 2)
	case Uint, Negative:
		major, n, _ := w.Head("key")
		return AppendHead(b, byte(major), n)
	case Tag:
		_, n, _ := w.Head("key")
		return w.appendCanonical(AppendHead(b, Tag, n), depth+1)
	}
	return append(b, w.Item("key")...)
}
