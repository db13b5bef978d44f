package cardano

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"birthmark/chains/cardano/cbor"
)

// MaxNesting is the maximum nesting of objects and lists in the JSON of one item, and of items in values of expressions.
// Lists of Plutus data are nested per element, so a transaction, which has 16 KiB, can have more than 4,000 elements in
// 8,000 levels. Many readers of JSON accept 10,000 levels.
const MaxNesting = 9_900

// Tags of Plutus data constructors: 121 to 127 for the numbers 0 to 6, 1280 to 1400 for 7 to 127, and 102 for an array of
// any number and the fields.
const (
	tagConstructor     = 121
	lastConstructor    = 127
	tagConstructor7    = 1280
	lastConstructor7   = 1400
	tagConstructorAny  = 102
	meaningConstructor = "constructor"
	meaningFields      = "fields"
)

// meaning returns the value of one CBOR item for expressions, nil if it is malformed, nested too deep, or followed by
// more.
//
// Numbers are int, or their decimal digits as text if they do not fit; byte strings are []byte, texts string, arrays
// []any. A map is a map[string]any: numeric keys are written in decimal, byte strings in hex, and other keys are left
// out; of duplicate keys the last one is valid. A constructor of Plutus data is a map with its number (constructor) and
// its list of fields. A value with another tag is its content. null and floating-point numbers are nil.
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
	if tooDeep(w, depth) {
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

// readTagged returns the value of the item after a tag.
func readTagged(w *cbor.Walker, tag uint64, depth int) any {
	if tag == cbor.TagBignum || tag == cbor.TagNegativeBignum {
		return wide(readBignum(w, tag))
	}
	var fields any
	if number, ok := readConstructor(w, tag, func() { fields = readMeaning(w, depth+1) }); ok {
		return constructed(number, fields)
	}
	return readMeaning(w, depth+1)
}

// readBignum reads the bytes of a number after its tag.
func readBignum(w *cbor.Walker, tag uint64) *big.Int {
	n := new(big.Int).SetBytes(w.Bytes("number"))
	if tag == cbor.TagNegativeBignum {
		n.Not(n)
	}
	return n
}

// readConstructor reads the item after the tag of a constructor: fields is called at the list of its fields. ok is false
// if the tag differs; nothing is read then.
func readConstructor(w *cbor.Walker, tag uint64, fields func()) (number uint64, ok bool) {
	switch {
	case tag >= tagConstructor && tag <= lastConstructor:
		number = tag - tagConstructor
	case tag >= tagConstructor7 && tag <= lastConstructor7:
		number = tag - tagConstructor7 + lastConstructor - tagConstructor + 1
	case tag == tagConstructorAny:
		pair := w.Array("constructor")
		w.Field(&pair, "number of the constructor")
		number = w.Uint("number of the constructor")
		w.Field(&pair, "fields of the constructor")
		fields()
		w.End(&pair, "constructor")
		return number, true
	default:
		return 0, false
	}
	fields()
	return number, true
}

func constructed(n uint64, fields any) any {
	return map[string]any{meaningConstructor: number(false, n), meaningFields: fields}
}

// number returns the value of a plain number: n, or -1-n.
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

// maxBignum is the maximum number of bytes of a number to write in decimal, which takes more than linear time.
const maxBignum = 1 << 15 // twice a transaction

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
