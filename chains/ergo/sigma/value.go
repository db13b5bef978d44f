package sigma

import (
	"encoding/binary"
	"math/big"
)

// maxValues bounds the number of values decoded from a constant. Meaningful constants have fewer bytes than that, but
// collections of empty elements can state any number.
const maxValues = 1 << 14

// valuer decodes the data of constants; left is the number of values that it may still make.
type valuer struct {
	reader
	left int
}

// Value decodes a serialized constant; nil if its type is unknown or bytes follow it.
//
// A Boolean is a bool; Byte, Short, Int and Long are an int; a BigInt, signed or not, is a string of its decimal
// digits. Coll[Byte] is a []byte, a text a string, every other collection and a tuple a []any. A GroupElement is the 33
// bytes of its point, a SigmaProp of one key is that key, any other nil. An AvlTree is its digest of 33 bytes. An
// Option is its value or nil. Slices of bytes point into b.
func Value(b []byte) any {
	v := valuer{reader: reader{b: b}, left: maxValues}
	t := v.readType(0)
	value := v.data(&t, 0)
	if v.err != nil || v.at < len(b) {
		return nil
	}
	return value
}

func (v *valuer) data(t *typ, depth int) any {
	if v.left--; v.left < 0 {
		v.fail("more than %d values in a constant", maxValues)
	}
	if depth > maxDepth {
		v.fail("data nested deeper than %d", maxDepth)
	}
	if v.err != nil {
		return nil
	}
	switch t.kind {
	case kindColl:
		return v.collection(&t.items[0], depth)
	case kindOption:
		if v.byte("option") == 0 {
			return nil
		}
		return v.data(&t.items[0], depth+1)
	case kindTuple:
		items := make([]any, len(t.items))
		for i := range items {
			items[i] = v.data(&t.items[i], depth+1)
		}
		return items
	}
	return v.primitive(t.code, depth)
}

func (v *valuer) collection(elem *typ, depth int) any {
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
		items = append(items, v.data(elem, depth+1))
	}
	return items
}

func (v *valuer) primitive(code byte, depth int) any {
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
		v.skipProposition(depth)
		if p := v.b[min(start, v.at):v.at]; v.err == nil && p[0] == codeProveDlog {
			return p[1:]
		}
		return nil
	case typeString:
		return string(v.take(v.length(maxCollection, "length of a text"), "text"))
	case typeAvlTree:
		start := v.at
		v.skipPrimitive(code, depth)
		if v.err == nil {
			return v.b[start : start+avlDigest]
		}
		return nil
	}
	v.skipPrimitive(code, depth)
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
	return n.String()
}
