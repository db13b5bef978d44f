package sigma

import (
	"encoding/binary"
	"math/big"
)

// BigInt is a number of 256 bits in decimal digits.
type BigInt string

// maxValues bounds the number of values decoded from a constant. Meaningful constants have fewer bytes than that, but
// collections of empty elements can state any number.
const maxValues = 1 << 14

// valuer decodes values; left is the number of values that it may still make.
type valuer struct {
	reader
	left    int
	unknown bool // a part was left out
}

// Value decodes the value of a register or a variable. It returns ok false if a part of it cannot be decoded, which is
// nil then: a box, a header, a proposition of several keys, or an expression that is not a value.
//
// A Boolean is a bool; Byte, Short, Int and Long are an int; a BigInt, signed or not, is a [BigInt]. Coll[Byte] is a []byte, a text a string, every other collection and a tuple a []any. A GroupElement is the 33
// bytes of its point, a SigmaProp of one key is that key. An AvlTree is its digest of 33 bytes. An Option is its value
// or nil, a Unit is nil. Slices of bytes point into b.
func Value(b []byte) (value any, ok bool) {
	v := valuer{reader: reader{b: b}, left: maxValues}
	value = v.evaluated()
	if v.err != nil || v.at < len(b) {
		return nil, false
	}
	return value, !v.unknown
}

// TypeName returns the type of a serialized value as ErgoScript writes it, such as Coll[Byte]; empty if it is unknown.
func TypeName(b []byte) string {
	r := reader{b: b}
	t, ok := r.evaluatedType()
	if !ok || r.err != nil {
		return ""
	}
	return t.String()
}

// evaluatedType reads a value up to its end, or a constant up to its data, and returns its type; ok is false if it is
// an expression that is not a value.
func (r *reader) evaluatedType() (t typ, ok bool) {
	defer r.leave()
	if !r.enter() {
		return t, false
	}
	if r.peek() <= lastConstantCode {
		return r.readType(0), true
	}
	switch c := r.byte("value"); c {
	case codeTrueLeaf, codeFalseLeaf:
		return typ{code: typeBoolean}, true
	case codeGenerator:
		return typ{code: typePoint}, true
	case codeBooleans:
		r.take((r.length(maxCollection, "number of booleans")+7)/8, "booleans")
		return typ{kind: kindColl, items: []typ{{code: typeBoolean}}}, true
	case codeCollection:
		n := r.length(maxCollection, "number of items")
		elem := r.readType(0)
		r.skipExpressions(n)
		return typ{kind: kindColl, items: []typ{elem}}, true
	case codeTuple:
		t.kind = kindTuple
		for n := r.byte("number of items"); n > 0 && r.err == nil; n-- {
			start := *r
			item, ok := r.evaluatedType()
			if !ok {
				return t, false
			}
			t.items = append(t.items, item)
			steps := r.steps
			*r = start
			r.steps = steps
			r.skipExpression()
		}
		return t, true
	}
	return t, false
}

// evaluated decodes a value.
func (v *valuer) evaluated() any {
	defer v.leave()
	if !v.enter() {
		return nil
	}
	if v.peek() <= lastConstantCode {
		t := v.readType(0)
		return v.data(&t)
	}
	if v.left--; v.left < 0 {
		v.fail("more than %d values in a constant", maxValues)
		return nil
	}
	switch c := v.peek(); c {
	case codeTrueLeaf, codeFalseLeaf:
		v.at++
		return c == codeTrueLeaf
	case codeGenerator:
		v.at++
		return Generator[:]
	case codeBooleans:
		v.at++
		return v.collection(&typ{code: typeBoolean})
	case codeCollection:
		v.at++
		n := v.length(maxCollection, "number of items")
		elem := v.readType(0)
		items := v.items(n)
		if elem.kind != kindPrimitive || elem.code != typeByte {
			return items
		}
		b := make([]byte, len(items))
		for i := range items {
			n, ok := items[i].(int)
			if !ok {
				v.unknown = true
				return nil
			}
			b[i] = byte(n)
		}
		return b
	case codeTuple:
		v.at++
		return v.items(int(v.byte("number of items")))
	}
	v.skipExpression()
	v.unknown = true
	return nil
}

// items decodes values.
func (v *valuer) items(n int) []any {
	items := make([]any, 0, min(n, len(v.b)))
	for ; n > 0 && v.err == nil; n-- {
		items = append(items, v.evaluated())
	}
	return items
}

func (v *valuer) data(t *typ) any {
	defer v.leave()
	if !v.enter() {
		return nil
	}
	if v.left--; v.left < 0 {
		v.fail("more than %d values in a constant", maxValues)
		return nil
	}
	switch t.kind {
	case kindColl:
		return v.collection(&t.items[0])
	case kindOption:
		if v.byte("option") == 0 {
			return nil
		}
		return v.data(&t.items[0])
	case kindTuple:
		items := make([]any, len(t.items))
		for i := range items {
			items[i] = v.data(&t.items[i])
		}
		return items
	case kindFunction:
		v.fail("a function cannot be a constant")
		return nil
	}
	return v.primitive(t.code)
}

func (v *valuer) collection(elem *typ) any {
	n := v.length(maxCollection, "length of a collection")
	if elem.kind == kindPrimitive && elem.code == typeByte {
		return v.take(n, "bytes")
	}
	if n > v.left {
		v.fail("more than %d values in a constant", maxValues)
		return nil
	}
	items := make([]any, 0, min(n, len(v.b)))
	if elem.kind == kindPrimitive && elem.code == typeBoolean {
		bits := v.take((n+7)/8, "booleans")
		for i := 0; i < n && v.err == nil; i++ {
			items = append(items, bits[i/8]>>(i%8)&1 != 0)
		}
		return items
	}
	for i := 0; i < n && v.err == nil; i++ {
		items = append(items, v.data(elem))
	}
	return items
}

func (v *valuer) primitive(code byte) any {
	switch code {
	case typeBoolean:
		return v.byte("boolean") != 0
	case typeByte:
		return int(int8(v.byte("byte")))
	case typeShort, typeInt, typeLong:
		return v.int("number")
	case typeBigInt, typeUnsigned:
		return v.big(code == typeBigInt)
	case typePoint:
		return v.take(PointSize, "point")
	case typeSigmaProp:
		start := v.at
		v.skipProposition()
		if p := v.b[min(start, v.at):v.at]; v.err == nil && p[0] == codeProveDlog {
			return p[1:]
		}
		v.unknown = true
		return nil
	case typeString:
		return string(v.take(v.length(uint64(len(v.b)), "length of a text"), "text"))
	case typeAvlTree:
		start := v.at
		v.skipPrimitive(code)
		if v.err == nil {
			return v.b[start : start+avlDigest]
		}
		return nil
	}
	v.skipPrimitive(code)
	v.unknown = v.unknown || code != typeUnit
	return nil
}

// int reads a signed number.
func (v *valuer) int(what string) int {
	n, size := binary.Varint(v.b[v.at:])
	if size <= 0 {
		v.fail("%s is not a number", what)
		return 0
	}
	v.at += size
	return int(n)
}

// big formats a big-endian number of any size in decimal; signed ones are in two's complement.
func (v *valuer) big(signed bool) any {
	b := v.take(v.length(maxBig, "length of a number"), "number")
	n := new(big.Int).SetBytes(b)
	if signed && len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return BigInt(n.String())
}
