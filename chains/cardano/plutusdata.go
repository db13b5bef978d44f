package cardano

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"birthmark/chains/cardano/cbor"
)

// maxMeaningDepth is how deep items of CBOR may stand within each other for expressions to see them.
const maxMeaningDepth = 64

// Tags that constructors of Plutus data have: the numbers 0 to 6, 7 to 127, and any number that stands before the fields.
const (
	tagConstructor     = 121
	lastConstructor    = 127
	tagConstructor7    = 1280
	lastConstructor7   = 1400
	tagConstructorAny  = 102
	meaningConstructor = "constructor"
	meaningFields      = "fields"
)

// meaning is what one item of CBOR means to an expression, nil where it is not well-formed, too deep, or followed by
// more.
//
// Numbers are int, or their decimal digits as text where they do not fit; byte strings are []byte, texts string, arrays
// []any. A map is a map[string]any: keys that are numbers are written in decimal, those that are bytes in hex, and others
// are left out; of two that are alike the later stands. A constructor of Plutus data is a map of its number
// (constructor) and its list of fields. Of what has another tag the content is meant, and null, and numbers with a point,
// mean nothing.
func meaning(raw []byte) any {
	w := cbor.Walker{Data: raw}
	v := readMeaning(&w, 0)
	if w.Err != nil || w.Offset < len(raw) {
		return nil
	}
	return v
}

func readMeaning(w *cbor.Walker, depth int) any {
	const what = "item"
	if depth > maxMeaningDepth {
		w.Fail("items within each other deeper than %d", maxMeaningDepth)
		return nil
	}
	switch w.Major() {
	case cbor.Uint, cbor.Negative:
		major, n, _ := w.Head(what)
		return number(major == cbor.Negative, n)
	case cbor.Bytes:
		return w.Bytes(what)
	case cbor.Text:
		text := w.Text(what)
		if !utf8.Valid(text) {
			return nil
		}
		return string(text)
	case cbor.Array:
		items := []any{}
		for n := w.Array(what); w.More(&n); {
			items = append(items, readMeaning(w, depth+1))
		}
		return items
	case cbor.Map:
		items := map[string]any{}
		for n := w.Map(what); w.More(&n); {
			key, ok := meaningKey(readMeaning(w, depth+1))
			value := readMeaning(w, depth+1)
			if ok {
				items[key] = value
			}
		}
		return items
	case cbor.Tag:
		_, tag, _ := w.Head(what)
		return readTagged(w, tag, depth)
	}
	_, n, _ := w.Head(what)
	if n == 20 || n == 21 {
		return n == 21
	}
	return nil
}

// tagged is what the item behind a tag means.
func readTagged(w *cbor.Walker, tag uint64, depth int) any {
	number := uint64(0)
	switch {
	case tag == cbor.TagBignum || tag == cbor.TagNegativeBignum:
		n := new(big.Int).SetBytes(w.Bytes("number"))
		if tag == cbor.TagNegativeBignum {
			n.Not(n)
		}
		return wide(n)
	case tag >= tagConstructor && tag <= lastConstructor:
		number = tag - tagConstructor
	case tag >= tagConstructor7 && tag <= lastConstructor7:
		number = tag - tagConstructor7 + lastConstructor - tagConstructor + 1
	case tag == tagConstructorAny:
		pair := w.Array("constructor")
		w.Field(&pair, "number of the constructor")
		number = w.Uint("number of the constructor")
		w.Field(&pair, "fields of the constructor")
		fields := readMeaning(w, depth+1)
		w.End(&pair, "constructor")
		return constructed(number, fields)
	default:
		return readMeaning(w, depth+1)
	}
	return constructed(number, readMeaning(w, depth+1))
}

func constructed(n uint64, fields any) any {
	return map[string]any{meaningConstructor: number(false, n), meaningFields: fields}
}

// number is one of CBOR's plain numbers: n, or -1-n.
func number(negative bool, n uint64) any {
	switch {
	case n <= math.MaxInt64 && negative:
		return -1 - int(n)
	case n <= math.MaxInt64:
		return int(n)
	case negative:
		return wide(new(big.Int).Not(new(big.Int).SetUint64(n)))
	}
	return strconv.FormatUint(n, 10)
}

func wide(n *big.Int) any {
	if n.IsInt64() {
		return int(n.Int64())
	}
	if n.BitLen() > 8*maxBignum {
		return nil
	}
	return n.String()
}

// maxBignum is how many bytes a number may have to be written in decimal, which takes the square of it.
const maxBignum = 128

func meaningKey(key any) (text string, ok bool) {
	switch k := key.(type) {
	case string:
		return k, true
	case int:
		return strconv.Itoa(k), true
	case []byte:
		return hex.EncodeToString(k), true
	}
	return "", false
}
