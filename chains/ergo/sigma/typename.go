package sigma

import "strings"

var typeNames = map[byte]string{
	typeBoolean: "Boolean", typeByte: "Byte", typeShort: "Short", typeInt: "Int", typeLong: "Long", typeBigInt: "BigInt",
	typePoint: "GroupElement", typeSigmaProp: "SigmaProp", typeUnsigned: "UnsignedBigInt", typeUnit: "Unit", typeBox: "Box",
	typeAvlTree: "AvlTree", typeString: "String", typeHeader: "Header", typeAny: "Any", typeContext: "Context",
	typePreHeader: "PreHeader", typeGlobal: "Global",
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
	case kindFunction:
		last := len(items) - 1
		return "(" + strings.Join(items[:last], ", ") + ") => " + items[last]
	}
	if t.code == typeVariable {
		return t.name
	}
	return typeNames[t.code]
}
