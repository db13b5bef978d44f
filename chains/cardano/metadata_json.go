package cardano

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"birthmark/chains/cardano/cbor"
)

// metadataJSON returns one CBOR item of metadata as cardano-cli writes it without a schema: byte strings are 0x and
// hex, and a key of a map that is not text is its JSON. It is nil if the item is malformed or nested too deep.
func metadataJSON(raw []byte) any { return wholeItem(raw, readMetadata) }

// wholeItem returns the value of an item that is all of raw.
func wholeItem(raw []byte, read func(w *cbor.Walker, depth int) any) any {
	w := cbor.Walker{Data: raw}
	v := read(&w, 0)
	if w.Err != nil || w.Offset < len(raw) {
		return nil
	}
	return v
}

// readNumber reads a number; ok is false if the item is something else. Its tag is then read.
func readNumber(w *cbor.Walker) (n json.Number, tag uint64, ok bool) {
	major, value, _ := w.Head("item")
	switch {
	case major == cbor.Uint:
		return json.Number(strconv.FormatUint(value, 10)), 0, true
	case major == cbor.Negative:
		return json.Number(new(big.Int).Not(new(big.Int).SetUint64(value)).String()), 0, true
	case major == cbor.Tag && (value == cbor.TagBignum || value == cbor.TagNegativeBignum):
		return json.Number(readBignum(w, value).String()), 0, true
	}
	return "", value, false
}

func tooDeep(w *cbor.Walker, depth int) bool {
	if depth > MaxNesting {
		w.Fail("items are nested deeper than %d", MaxNesting)
	}
	return w.Err != nil
}

func readMetadata(w *cbor.Walker, depth int) any {
	if tooDeep(w, depth) {
		return nil
	}
	switch w.Major() {
	case cbor.Bytes:
		return "0x" + hex.EncodeToString(w.Bytes("bytes"))
	case cbor.Text:
		return strings.ToValidUTF8(string(w.Text("text")), "\uFFFD")
	case cbor.Array:
		items := []any{}
		for n := w.Array("list"); w.More(&n); {
			items = append(items, readMetadata(w, depth+1))
		}
		return items
	case cbor.Map:
		items := map[string]any{}
		for n := w.Map("map"); w.More(&n); {
			key := readMetadata(w, depth+1)
			text, ok := key.(string)
			if !ok {
				b, _ := json.Marshal(key) // cannot fail
				text = string(b)
			}
			items[text] = readMetadata(w, depth+1)
		}
		return items
	}
	if w.Major() == cbor.Simple {
		_, n, _ := w.Head("value")
		return map[uint64]any{20: false, 21: true}[n]
	}
	if n, _, ok := readNumber(w); ok {
		return n
	}
	return readMetadata(w, depth+1) // the tagged item
}
