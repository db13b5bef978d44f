package indexexpr

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
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
		for j := range f.Type.NumField() {
			b := l.declare(f.Type, f.Type.Field(j), name, name)
			l.levels[i] |= 1 << b
		}
	}
	if len(l.members) > maxBits {
		panic(fmt.Sprintf("expression: %s has %d fields, the most is %d", chain, len(l.members), maxBits))
	}
	// Fields of list entries come after all fields that a Set contains.
	for i, name := range levelNames {
		l.declareNested(l.root.Field(i).Type, name, name)
	}
	if len(l.members) > math.MaxUint8+1 {
		panic(fmt.Sprintf("expression: %s has %d fields, the most is %d", chain, len(l.members), math.MaxUint8+1))
	}
	l.arrange()
	for name := range choices {
		if _, ok := l.bits[name]; !ok {
			panic(fmt.Sprintf("expression: a choice for %s, which is not a field of %s", name, chain))
		}
	}
	return l
}

// declare adds one field of a struct: path is its name from the root, shown its name for users.
func (l *Language) declare(of reflect.Type, f reflect.StructField, path, shown string) Bit {
	name, doc := f.Tag.Get("expr"), f.Tag.Get("doc")
	if name == "" || doc == "" || !f.IsExported() {
		panic(fmt.Sprintf("expression: field %s of %v has no name or no description", f.Name, of))
	}
	if !isFieldType(f.Type) {
		panic(fmt.Sprintf("expression: field %s of %v is a %v, which no expression understands", f.Name, of, f.Type))
	}
	b := Bit(len(l.members))
	l.members[member{of, name}] = b
	l.bits[path+"."+name] = b
	l.fields = append(l.fields, Field{shown + "." + name, l.typeName(f.Type), doc, f.Tag.Get("example")})
	return b
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

func (l *Language) declareNested(t reflect.Type, path, shown string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() != reflect.Pointer {
			continue
		}
		elem := f.Type.Elem().Elem()
		path, shown := path+"."+f.Tag.Get("expr"), shown+"."+f.Tag.Get("expr")+"[]"
		if _, known := l.types[elem]; !known {
			l.types[elem] = "an entry of " + path
		}
		for j := range elem.NumField() {
			in := elem.Field(j)
			if b, known := l.members[member{elem, in.Tag.Get("expr")}]; known {
				// The same struct in another list: one field with two paths.
				l.bits[path+"."+in.Tag.Get("expr")] = b
				l.fields = append(l.fields, Field{shown + "." + in.Tag.Get("expr"), l.typeName(in.Type), in.Tag.Get("doc"), in.Tag.Get("example")})
				continue
			}
			l.declare(elem, in, path, shown)
		}
		l.declareNested(elem, path, shown)
	}
}

// arrange sorts the fields of a list's entries after the list.
func (l *Language) arrange() {
	var arranged []Field
	var take func(prefix string)
	take = func(prefix string) {
		for _, f := range l.fields {
			if rest, ok := strings.CutPrefix(f.Name, prefix); ok && !strings.Contains(rest, ".") {
				arranged = append(arranged, f)
				take(f.Name + "[].")
			}
		}
	}
	for _, name := range levelNames {
		take(name + ".")
	}
	l.fields = arranged
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
