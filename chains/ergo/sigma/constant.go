package sigma

import (
	"fmt"
	"slices"
)

// Type codes. A code below tupleType is the sum of a type constructor and an embeddable element type, or 0 if the
// element type follows: quotient and remainder by embeddable.
const (
	typeBoolean   = 1
	typeByte      = 2
	typeShort     = 3
	typeInt       = 4
	typeLong      = 5
	typeBigInt    = 6
	typePoint     = 7
	typeSigmaProp = 8
	typeUnsigned  = 9

	embeddable = 12

	tupleType     = 96
	typeAny       = 97
	typeUnit      = 98
	typeBox       = 99
	typeAvlTree   = 100
	typeContext   = 101
	typeString    = 102
	typeVariable  = 103
	typeHeader    = 104
	typePreHeader = 105
	typeGlobal    = 106
	typeFunction  = 112
)

// Type constructors of codes below tupleType.
const (
	makesItself = iota
	makesColl
	makesCollOfColl
	makesOption
	makesOptionOfColl
	makesPairFirst
	makesPairSecond
	makesPairSame
)

const (
	maxLevel      = 110     // nested values, as in the reference implementation
	maxTypeDepth  = 1 << 14 // nested types: a box has fewer bytes
	maxCollection = 1<<16 - 1
	maxBig        = 32 // bytes of a 256-bit number

	// maxSteps bounds the values and expressions that are read in addition to four per byte. Only box constants whose
	// scripts cannot be parsed are read several times.
	maxSteps = 1 << 16

	avlDigest = 33 // bytes
)

// kind is the kind of a type, as needed to skip its data.
type kind uint8

const (
	kindPrimitive kind = iota // code is the type
	kindColl
	kindOption
	kindTuple
	kindFunction // arguments, then the result
)

type typ struct {
	kind  kind
	code  byte
	items []typ  // element types of a tuple, collection or option
	name  string // of a type variable
}

func (r *reader) readType(depth int) typ {
	c := r.byte("type")
	return r.typeOf(c, depth)
}

func (r *reader) typeOf(c byte, depth int) typ {
	if r.err != nil {
		return typ{}
	}
	if depth > maxTypeDepth {
		r.fail("types nested deeper than %d", maxTypeDepth)
		return typ{}
	}
	if c >= tupleType {
		switch c {
		case tupleType:
			n := int(r.byte("number of types in a tuple"))
			return r.tuple(n, depth)
		case typeAny, typeUnit, typeBox, typeAvlTree, typeContext, typeString, typeHeader, typePreHeader, typeGlobal:
			return typ{code: c}
		case typeVariable:
			return typ{code: c, name: string(r.take(int(r.byte("length of a name")), "name of a type"))}
		case typeFunction:
			t := r.tuple(int(r.byte("number of arguments")), depth)
			t.kind, t.items = kindFunction, append(t.items, r.readType(depth+1))
			for n := r.byte("number of type variables"); n > 0 && r.err == nil; n-- {
				r.readType(depth + 1)
			}
			return t
		}
		r.fail("unknown type %d", c)
		return typ{}
	}
	inner := func() typ {
		if c%embeddable == 0 {
			return r.readType(depth + 1)
		}
		return r.primitive(c % embeddable)
	}
	switch c / embeddable {
	case makesColl:
		return typ{kind: kindColl, items: []typ{inner()}}
	case makesCollOfColl:
		return typ{kind: kindColl, items: []typ{{kind: kindColl, items: []typ{inner()}}}}
	case makesOption:
		return typ{kind: kindOption, items: []typ{inner()}}
	case makesOptionOfColl:
		return typ{kind: kindOption, items: []typ{{kind: kindColl, items: []typ{inner()}}}}
	case makesPairFirst:
		if c%embeddable == 0 {
			return r.tuple(2, depth)
		}
		return typ{kind: kindTuple, items: []typ{inner(), r.readType(depth + 1)}}
	case makesPairSecond:
		if c%embeddable == 0 {
			return r.tuple(3, depth)
		}
		second := inner()
		return typ{kind: kindTuple, items: []typ{r.readType(depth + 1), second}}
	case makesPairSame:
		if c%embeddable == 0 {
			return r.tuple(4, depth)
		}
		one := inner()
		return typ{kind: kindTuple, items: []typ{one, one}}
	}
	return r.primitive(c)
}

func (r *reader) tuple(n, depth int) typ {
	t := typ{kind: kindTuple}
	for range n {
		if t.items = append(t.items, r.readType(depth+1)); r.err != nil {
			break
		}
	}
	return t
}

func (r *reader) primitive(c byte) typ {
	if c < typeBoolean || c > typeUnsigned {
		r.fail("unknown type %d", c)
	}
	return typ{code: c}
}

// skipConstant skips a constant: its type and its data. Most types are primitive, or a collection of a primitive.
func (r *reader) skipConstant() {
	if r.at < len(r.b) && r.b[r.at] < 2*embeddable && r.b[r.at]%embeddable != 0 {
		c := r.byte("type")
		if t := r.primitive(c % embeddable); c < embeddable {
			r.skipData(&t)
		} else {
			r.skipCollection(&t)
		}
		return
	}
	t := r.readType(0)
	t.drop()
	r.skipData(&t)
}

// drop removes empty items from the tuples in a type, and replaces a tuple of one item by that item. The data is the
// same, and each remaining value has bytes: a collection of tuples of thousands of units would otherwise take thousands
// of steps per byte.
func (t *typ) drop() {
	for i := range t.items {
		t.items[i].drop()
	}
	if t.kind != kindTuple {
		return
	}
	t.items = slices.DeleteFunc(t.items, func(item typ) bool { return item.empty() })
	if len(t.items) == 1 {
		*t = t.items[0]
	}
}

// empty reports whether data of a type has no bytes.
func (t *typ) empty() bool {
	return t.kind == kindTuple && len(t.items) == 0 || t.kind == kindPrimitive && t.code == typeUnit
}

func (r *reader) skipData(t *typ) {
	defer r.leave()
	if !r.enter() {
		return
	}
	switch t.kind {
	case kindColl:
		r.skipCollection(&t.items[0])
	case kindOption:
		if r.byte("option") != 0 {
			r.skipData(&t.items[0])
		}
	case kindTuple:
		for i := range t.items {
			r.skipData(&t.items[i])
		}
	case kindFunction:
		r.fail("a function cannot be a constant")
	default:
		r.skipPrimitive(t.code)
	}
}

func (r *reader) skipCollection(elem *typ) {
	n := r.length(maxCollection, "length of a collection")
	switch {
	case elem.kind == kindPrimitive && elem.code == typeByte:
		r.take(n, "bytes")
	case elem.kind == kindPrimitive && elem.code == typeBoolean:
		r.take((n+7)/8, "booleans")
	default:
		for i := 0; i < n && r.err == nil; i++ {
			at := r.at
			if r.skipData(elem); r.at == at {
				break // any number of empty elements
			}
		}
	}
}

func (r *reader) skipPrimitive(code byte) {
	switch code {
	case typeBoolean, typeByte:
		r.byte("byte")
	case typeShort, typeInt, typeLong:
		r.uint("number")
	case typeBigInt, typeUnsigned:
		r.take(r.length(maxBig, "length of a number"), "number")
	case typePoint:
		r.take(PointSize, "point")
	case typeSigmaProp:
		r.skipProposition()
	case typeUnit:
	case typeString:
		r.take(r.length(uint64(len(r.b)), "length of a text"), "text")
	case typeAvlTree:
		r.take(avlDigest+1, "tree's digest and flags")
		r.uint("key length")
		if r.byte("option") != 0 {
			r.uint("value length")
		}
	case typeBox:
		r.skipBox()
	case typeHeader:
		r.header()
	default:
		r.fail("type %d has no constants", code)
	}
}

// Codes of propositions in constants.
const (
	codeAnd       = 0x96
	codeOr        = 0x97
	codeAtLeast   = 0x98
	codeProveDlog = 0xcd
	codeProveDHT  = 0xce
	codeFalse     = 0xd2
	codeTrue      = 0xd3
)

func (r *reader) skipProposition() {
	defer r.leave()
	if !r.enter() {
		return
	}
	children := 0
	switch c := r.byte("proposition"); c {
	case codeProveDlog:
		r.take(PointSize, "public key")
	case codeProveDHT:
		r.take(4*PointSize, "points")
	case codeFalse, codeTrue:
	case codeAnd, codeOr:
		children = r.length(maxCollection, "number of propositions")
	case codeAtLeast:
		r.uint("threshold")
		children = r.length(maxCollection, "number of propositions")
	default:
		r.fail("unknown proposition code %#x", c)
	}
	for ; children > 0 && r.err == nil; children-- {
		r.skipProposition()
	}
}

// ValueSize returns the size in bytes of the value of a register or a variable at the beginning of b.
func ValueSize(b []byte) (int, error) {
	r := reader{b: b}
	r.skipEvaluated()
	if r.err != nil {
		return 0, fmt.Errorf("value: %w", r.err)
	}
	return r.at, nil
}
