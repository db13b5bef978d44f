package indexexpr

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// meter limits the cost of one index in one transaction, since the author of the transaction determines the number of
// loop steps and the length of texts. A unit is about a nanosecond.
type meter struct {
	left int

	// The last text parsed as JSON, and its result: a condition and a value often parse the same text.
	text   []byte
	parsed any

	notes *Notes // nil: none are collected
}

const (
	// budget is a small fraction of a second; the largest real transactions need a thousandth of it.
	budget   = 1 << 25
	stepCost = 100
	// valueCost and the length of values limit the values of an index in one transaction to half a million and 32 MiB,
	// since they are in memory at the same time.
	valueCost = 64
)

var errWork = errors.New("too much work for one transaction")

// affords is spend for code outside the machine.
func (m *meter) affords(n int) bool {
	if m.left < n {
		m.left = -1
		return false
	}
	m.left -= n
	return true
}

// spend panics if the meter is empty; the machine returns that as an error.
func (m *meter) spend(n int) {
	if m.left -= n; m.left < 0 {
		m.left = -1
		panic(errWork)
	}
}

// function is a function of this package. If an argument is nil, the result is nil.
type function struct {
	call   string       // its signature for users
	takes  []class      // the classes of its arguments
	needed int          // number of required arguments
	gives  reflect.Type // nil: the type of the first argument; for split a list of it
	doc    string
	run    func(m *meter, args []any) any
}

// class is a set of types of an argument.
type class uint8

const (
	isBytes class = 1 << iota
	isText
	isInt
	isBool
	isList
	isMap
	data = isBytes | isText
	any_ = isBytes | isText | isInt | isBool | isList | isMap
)

func (c class) String() string {
	var all []string
	for i, name := range []string{"bytes", "text", "a number", "true or false", "a list", "a map"} {
		if c>>i&1 != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, " or ")
}

// classOf returns the class of a type; every class if it is unknown.
func classOf(t reflect.Type) class {
	switch {
	case t == nil || t.Kind() == reflect.Interface:
		return any_
	case t == bytesType:
		return isBytes
	case t.Kind() == reflect.String:
		return isText
	case isNumber(t):
		return isInt
	case t.Kind() == reflect.Bool:
		return isBool
	case t.Kind() == reflect.Slice:
		return isList
	case t.Kind() == reflect.Map:
		return isMap
	}
	return 0
}

// classOfValue returns the class of a value; 0 for nil.
func classOfValue(v any) class {
	if r := reflect.ValueOf(v); !r.IsValid() || (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.IsNil() {
		return 0
	}
	return classOf(reflect.TypeOf(v))
}

// functions are the functions for users. The order of arguments follows the expression library if it has the function
// too. Only ASCII letters change case, so that no later Unicode table changes a value.
var functions = map[string]function{
	"hex":   {`hex(bytes)`, []class{isBytes}, 1, textType, `bytes as hex digits`, func(m *meter, a []any) any { return hexOf(m, a[0]) }},
	"unhex": {`unhex(text)`, []class{isText}, 1, bytesType, `the bytes of hex digits; nil if they are invalid`, func(m *meter, a []any) any { return unhex(m, a[0]) }},
	"text":  {`text(bytes)`, []class{data}, 1, textType, `bytes as text; nil if they are not UTF-8`, func(m *meter, a []any) any { return textOf(m, a[0]) }},
	"json": {`json(bytes)`, []class{data}, 1, anyType, `the value of a JSON text of at most 256 KiB, in bytes or text; nil if it is invalid. A number that does not fit a 64-bit integer is the text of its digits`,
		func(m *meter, a []any) any { return parseJSON(m, a[0]) }},
	"sha256": {`sha256(bytes)`, []class{data}, 1, bytesType, `the SHA-256 of bytes or text`, func(m *meter, a []any) any {
		b, ok := bytesOf(m, a[0])
		if !ok {
			return nil
		}
		sum := sha256.Sum256(b)
		return sum[:]
	}},
	"uint": {`uint(bytes)`, []class{isBytes, isText}, 1, intType, `bytes as a big-endian number, or little-endian with uint(bytes, "little"); nil for more than 8 bytes or 63 bits`,
		func(m *meter, a []any) any { return uintOf(m, a) }},
	"len":        {`len(list)`, []class{isBytes | isText | isList | isMap}, 1, intType, `the number of entries, bytes or characters; 0 for nil`, func(m *meter, a []any) any { return lenOf(m, a[0]) }},
	"lower":      {`lower(text)`, []class{data}, 1, nil, `text with A to Z in lower case; other letters do not change`, func(m *meter, a []any) any { return mapped(m, a[0], asciiLower) }},
	"upper":      {`upper(text)`, []class{data}, 1, nil, `text with a to z in upper case; other letters do not change`, func(m *meter, a []any) any { return mapped(m, a[0], asciiUpper) }},
	"trim":       {`trim(text)`, []class{isText, isText}, 1, textType, `text without white space at both ends, or without the characters in trim(text, characters)`, func(m *meter, a []any) any { return trim(m, a) }},
	"trimPrefix": {`trimPrefix(text, beginning)`, []class{data, data}, 2, nil, `text without the given beginning`, func(m *meter, a []any) any { return trimmed(m, a, strings.TrimPrefix) }},
	"trimSuffix": {`trimSuffix(text, end)`, []class{data, data}, 2, nil, `text without the given end`, func(m *meter, a []any) any { return trimmed(m, a, strings.TrimSuffix) }},
	"split":      {`split(text, separator)`, []class{data, data, isInt}, 2, nil, `the parts between separators; with split(text, separator, n) at most n`, func(m *meter, a []any) any { return split(m, a) }},
	"join":       {`join(list, between)`, []class{isList, isText}, 1, textType, `the texts of a list joined to one`, func(m *meter, a []any) any { return join(m, a) }},
	"replace":    {`replace(text, from, to)`, []class{isText, isText, isText}, 3, textType, `text with every occurrence replaced`, func(m *meter, a []any) any { return replace(m, a) }},
	"indexOf":    {`indexOf(text, part)`, []class{data, data}, 2, intType, `the position of a part in bytes; -1 if it does not occur`, func(m *meter, a []any) any { return indexOf(m, a) }},
	"string":     {`string(number)`, []class{isText | isInt | isBool}, 1, textType, `a number in decimal; true or false as text`, func(m *meter, a []any) any { return stringOf(a[0]) }},
	"int":        {`int(text)`, []class{isText | isInt}, 1, intType, `the integer in a decimal text; nil if it is not an integer`, func(m *meter, a []any) any { return intOf(a[0]) }},
	"flatten":    {`flatten(list)`, []class{isList}, 1, reflect.TypeFor[[]any](), `the entries of the lists in a list, in one list`, func(m *meter, a []any) any { return flatten(m, a[0]) }},
	"concat":     {`concat(list, list)`, []class{isList, isList}, 2, reflect.TypeFor[[]any](), `the entries of two lists in one`, func(m *meter, a []any) any { return flatten(m, []any{a[0], a[1]}) }},
}

// Function describes a function to users.
type Function struct {
	Call string `json:"call"` // its signature, with the required arguments
	Type string `json:"type"` // of its result
	Doc  string `json:"doc"`
}

// described are all functions of this package, and the functions kept from the expression library.
var described = func() map[string]Function {
	l, all := &Language{}, maps.Clone(kept)
	for name, f := range functions {
		switch {
		case f.gives != nil:
			all[name] = Function{f.call, l.typeName(f.gives), f.doc}
		case name == "split":
			all[name] = Function{f.call, "list of text", f.doc}
		default:
			all[name] = Function{f.call, "text", f.doc}
		}
	}
	return all
}()

var functionNames = slices.Sorted(maps.Keys(described))

// Functions returns all functions by name.
func Functions() []Function {
	var all []Function
	for _, name := range functionNames {
		all = append(all, described[name])
	}
	return all
}

// check returns the type of a call with arguments of the given types.
func (f function) check(args []reflect.Type) (reflect.Type, error) {
	if len(args) < f.needed || len(args) > len(f.takes) {
		want := strconv.Itoa(f.needed)
		if len(f.takes) > f.needed {
			want += " to " + strconv.Itoa(len(f.takes))
		}
		return anyType, fmt.Errorf("%d arguments, expected %s", len(args), want)
	}
	for i, t := range args {
		if classOf(t)&f.takes[i] == 0 {
			return anyType, fmt.Errorf("argument %d has the wrong type: expected %v", i+1, f.takes[i])
		}
		if t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Pointer && f.gives != intType {
			return anyType, fmt.Errorf("argument %d is a list of entries with fields: expected one of bytes, text or numbers, as map makes it", i+1)
		}
	}
	switch {
	case f.gives != nil:
		return f.gives, nil
	case len(f.takes) == 3 && args[0] == bytesType: // split
		return reflect.TypeFor[[][]byte](), nil
	case len(f.takes) == 3:
		return reflect.TypeFor[[]string](), nil
	case args[0] == nil:
		return anyType, nil
	}
	return args[0], nil
}
