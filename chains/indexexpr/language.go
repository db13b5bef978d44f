package indexexpr

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Language is the set of names for the expressions of one chain: the fields of an output, its transaction and its
// block.
//
// It is derived from a struct type, the only declaration of the fields: names, types, descriptions and examples, and
// where the decoder stores their values.
type Language struct {
	chain   string
	root    reflect.Type // the struct
	fields  []Field
	bits    map[string]Bit
	members map[member]Bit
	levels  [3]Set // the fields of the output, of the transaction, of the block
	types   map[reflect.Type]string
	choices map[string]Choice
}

// Field describes a field to users.
type Field struct {
	Name    string `json:"name"` // as in expressions: output.value; in a list tx.inputs[].script
	Type    string `json:"type"` // bytes, text, number, true or false, a list or a map of them
	Doc     string `json:"doc"`
	Example string `json:"example,omitempty"` // its value in some output, formatted like a value of an index
}

// Choice restricts a text field to a set of names. A comparison with any other text is an error.
type Choice struct {
	Names   []string
	Aliases map[string]string // other accepted names, and the name that each replaces
}

// Bit is the number of a field in its language.
type Bit uint8

// Set is a set of fields of outputs, transactions and blocks, without fields of list entries.
type Set uint64

// Has reports whether the field is in the set.
func (s Set) Has(b Bit) bool { return s>>b&1 != 0 }

// maxBits is the capacity of a [Set].
const maxBits = 64

// member is a field of a struct at any depth.
type member struct {
	of    reflect.Type
	field string
}

// The parts of the root; the part that changes most often comes first.
var levelNames = [...]string{"output", "tx", "block"}

const (
	levelOutput = iota
	levelTx
	levelBlock
)

// NewLanguage reads the fields of the struct that root points to (it may be nil). It has three structs, tagged
// expr:"output", expr:"tx" and expr:"block"; their fields are tagged with name (expr), description (doc) and example. A
// field is an int, string, bool or []byte, or an interface with such a value; a list of them, a map to them from string
// or int, or a list of pointers to structs of the same form. choices are by field name. It panics if the struct is
// invalid, a bug of the chain that declares it.
func NewLanguage(chain string, root any, choices map[string]Choice) *Language {
	l := &Language{
		chain: chain, root: reflect.TypeOf(root).Elem(), bits: map[string]Bit{}, members: map[member]Bit{},
		types: map[reflect.Type]string{}, choices: choices,
	}
	if l.root.NumField() != len(levelNames) {
		panic(fmt.Sprintf("expression: %v has %d fields, expected %v", l.root, l.root.NumField(), levelNames))
	}
	for i, name := range levelNames {
		f := l.root.Field(i)
		if f.Tag.Get("expr") != name || f.Type.Kind() != reflect.Struct {
			panic(fmt.Sprintf("expression: field %s of %v is not the struct of %s", f.Name, l.root, name))
		}
		l.types[f.Type] = name
		for _, field := range names(f.Type) {
			l.levels[i] |= 1 << l.number(member{f.Type, field})
		}
	}
	if len(l.members) > maxBits {
		panic(fmt.Sprintf("expression: %s has %d fields, the most is %d", chain, len(l.members), maxBits))
	}
	// Fields of list entries come after all fields that a Set contains.
	for i, name := range levelNames {
		l.declare(l.root.Field(i).Type, name, name)
	}
	if len(l.members) > math.MaxUint8+1 {
		panic(fmt.Sprintf("expression: %s has %d fields, the most is %d", chain, len(l.members), math.MaxUint8+1))
	}
	for name := range choices {
		if _, ok := l.bits[name]; !ok {
			panic(fmt.Sprintf("expression: a choice for %s, which is not a field of %s", name, chain))
		}
	}
	return l
}

// For returns the language for another chain with the same fields, which errors name.
func (l *Language) For(chain string) *Language {
	named := *l
	named.chain = chain
	return &named
}

// number returns the number of a field. A struct in several lists has the same numbers in all of them.
func (l *Language) number(m member) Bit {
	b, known := l.members[m]
	if !known {
		b = Bit(len(l.members))
		l.members[m] = b
	}
	return b
}

// declare adds the fields of a struct, those of the entries of a list after the list. path is the name of the struct
// from the root, shown its name for users.
func (l *Language) declare(t reflect.Type, path, shown string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, doc := f.Tag.Get("expr"), f.Tag.Get("doc")
		if name == "" || doc == "" || !f.IsExported() {
			panic(fmt.Sprintf("expression: field %s of %v has no name or no description", f.Name, t))
		}
		if !isFieldType(f.Type) {
			panic(fmt.Sprintf("expression: field %s of %v is a %v, which no expression understands", f.Name, t, f.Type))
		}
		path, shown := path+"."+name, shown+"."+name
		l.bits[path] = l.number(member{t, name})
		l.fields = append(l.fields, Field{shown, l.typeName(f.Type), doc, f.Tag.Get("example")})
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Pointer {
			entry := f.Type.Elem().Elem()
			if _, known := l.types[entry]; !known {
				l.types[entry] = "an entry of " + path
			}
			l.declare(entry, path, shown+"[]")
		}
	}
}

func isFieldType(t reflect.Type) bool {
	isPlain := func(t reflect.Type) bool {
		return t == intType || t == textType || t == boolType || t == bytesType || t == anyType
	}
	switch {
	case isPlain(t):
		return true
	case t.Kind() == reflect.Slice:
		return isPlain(t.Elem()) || t.Elem().Kind() == reflect.Pointer && t.Elem().Elem().Kind() == reflect.Struct
	case t.Kind() == reflect.Map:
		return (t.Key() == textType || t.Key() == intType) && isPlain(t.Elem())
	}
	return false
}

// typeName returns the documentation's name of a type.
func (l *Language) typeName(t reflect.Type) string {
	switch {
	case t == nil || t.Kind() == reflect.Interface:
		return "anything"
	case t == bytesType:
		return "bytes"
	}
	if name, ok := l.types[t]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		switch elem := t.Elem(); {
		case elem.Kind() == reflect.Interface:
			return "list"
		case elem.Kind() == reflect.Pointer:
			return "list of entries"
		default:
			return "list of " + l.typeName(elem)
		}
	case reflect.Map:
		return "map to " + l.typeName(t.Elem())
	case reflect.Pointer:
		return l.typeName(t.Elem())
	case reflect.Func:
		return "function"
	}
	if isNumber(t) {
		return "number"
	}
	return t.Kind().String()
}

// Fields returns all fields, those of the output first, and those of list entries after their list.
func (l *Language) Fields() []Field { return slices.Clone(l.fields) }

// Bit returns the number of a field by name, such as output.script or, in a list, tx.inputs.script. It panics if the
// field does not exist.
func (l *Language) Bit(name string) Bit {
	b, ok := l.bits[name]
	if !ok {
		panic(fmt.Sprintf("expression: %s has no field %s", l.chain, name))
	}
	return b
}

// isTop reports whether a field belongs to an output, a transaction or a block directly, and so to a [Set].
func (l *Language) isTop(b Bit) bool {
	return b < maxBits && (l.levels[levelOutput] | l.levels[levelTx] | l.levels[levelBlock]).Has(b)
}

// names returns the fields of a struct.
func names(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		all = append(all, t.Field(i).Tag.Get("expr"))
	}
	return all
}
