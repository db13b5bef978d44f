package sigma

import (
	"fmt"
	"strings"
)

var typeNames = map[byte]string{
	typeBoolean: "Boolean", typeByte: "Byte", typeShort: "Short", typeInt: "Int", typeLong: "Long", typeBigInt: "BigInt",
	typePoint: "GroupElement", typeSigmaProp: "SigmaProp", typeUnsigned: "UnsignedBigInt", typeUnit: "Unit", typeBox: "Box",
	typeAvlTree: "AvlTree", typeString: "String", typeHeader: "Header",
}

// TypeName returns the type of a serialized constant as ErgoScript writes it, such as Coll[Byte]; empty if it is
// unknown.
func TypeName(constant []byte) string {
	r := reader{b: constant}
	t := r.readType(0)
	if r.err != nil {
		return ""
	}
	return t.String()
}

// String returns the type as ErgoScript writes it.
func (t typ) String() string {
	var items []string
	for _, item := range t.items {
		items = append(items, item.String())
	}
	switch t.kind {
	case kindColl:
		return "Coll[" + items[0] + "]"
	case kindOption:
		return "Option[" + items[0] + "]"
	case kindTuple:
		return "(" + strings.Join(items, ", ") + ")"
	}
	if name, ok := typeNames[t.code]; ok {
		return name
	}
	return fmt.Sprintf("type %d", t.code)
}
