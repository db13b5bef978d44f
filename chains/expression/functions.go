package expression

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

// meter bounds what one index costs in one transaction: whoever wrote the transaction decides how often a loop runs and
// how long a text is. A unit is about a nanosecond.
type meter struct{ left int }

const (
	// budget is a small part of a second; the largest real transactions need a thousandth of it.
	budget   = 1 << 25
	stepCost = 100
)

var errWork = errors.New("too much work for one transaction")

// spend panics where nothing is left: the machine makes an error of that.
func (m *meter) spend(n int) {
	if m.left -= n; m.left < 0 {
		m.left = -1
		panic(errWork)
	}
}

// function is one of ours. Given nil where it takes a value, it is nil: what is not there is not there in a function
// of it either.
type function struct {
	takes  []class // the classes of its arguments
	needed int     // how many of them must be given
	gives  reflect.Type
	doc    string
	run    func(m *meter, args []any) any
}

// class is a set of types that an argument can have.
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

// classOf is the class of a type; every class where it is not known.
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

// functions are those that users know. The order of arguments is that of the expression library where it has the
// function too; letters are those of ASCII, so that no later table of characters changes a value.
var functions = map[string]function{
	"hex":   {[]class{isBytes}, 1, textType, "bytes as hex digits", func(m *meter, a []any) any { return hexOf(m, a[0]) }},
	"unhex": {[]class{isText}, 1, bytesType, "the bytes of hex digits, nil where they are none", func(m *meter, a []any) any { return unhex(m, a[0]) }},
	"text":  {[]class{data}, 1, textType, "bytes as text, nil where they are not UTF-8", func(m *meter, a []any) any { return textOf(m, a[0]) }},
	"json": {[]class{data}, 1, anyType, "what a JSON text of at most 256 KiB says, nil where it is none; a number that does not fit 64 bits is the text of its digits",
		func(m *meter, a []any) any { return parseJSON(m, a[0]) }},
	"sha256": {[]class{data}, 1, bytesType, "the SHA-256", func(m *meter, a []any) any {
		b, ok := bytesOf(m, a[0])
		if !ok {
			return nil
		}
		sum := sha256.Sum256(b)
		return sum[:]
	}},
	"uint": {[]class{isBytes, isText}, 1, intType, `bytes as a number, the last byte the least; uint(b, "little"): the first; nil of more than 8 bytes, or beyond 63 bits`,
		func(m *meter, a []any) any { return uintOf(m, a) }},
	"len":        {[]class{isBytes | isText | isList | isMap}, 1, intType, "how many bytes, characters or entries; 0 of nil", func(m *meter, a []any) any { return lenOf(m, a[0]) }},
	"lower":      {[]class{data}, 1, nil, "with a to z for A to Z", func(m *meter, a []any) any { return mapped(m, a[0], asciiLower) }},
	"upper":      {[]class{data}, 1, nil, "with A to Z for a to z", func(m *meter, a []any) any { return mapped(m, a[0], asciiUpper) }},
	"trim":       {[]class{isText, isText}, 1, textType, "without white space, or the given characters, at both ends", func(m *meter, a []any) any { return trim(m, a) }},
	"trimPrefix": {[]class{data, data}, 2, nil, "without a beginning", func(m *meter, a []any) any { return trimmed(m, a, strings.TrimPrefix) }},
	"trimSuffix": {[]class{data, data}, 2, nil, "without an end", func(m *meter, a []any) any { return trimmed(m, a, strings.TrimSuffix) }},
	"split":      {[]class{data, data, isInt}, 2, nil, "the parts between separators, at most so many", func(m *meter, a []any) any { return split(m, a) }},
	"join":       {[]class{isList, isText}, 1, textType, "the texts of a list in one, with a text between them", func(m *meter, a []any) any { return join(m, a) }},
	"replace":    {[]class{isText, isText, isText}, 3, textType, "with every occurrence of a text replaced", func(m *meter, a []any) any { return replace(m, a) }},
	"indexOf":    {[]class{data, data}, 2, intType, "where something begins, -1 where it is not there", func(m *meter, a []any) any { return indexOf(m, a) }},
	"string":     {[]class{isText | isInt | isBool}, 1, textType, "a number in decimal; true or false as text", func(m *meter, a []any) any { return stringOf(a[0]) }},
	"int":        {[]class{isText | isInt}, 1, intType, "the number a text in decimal says, nil where it says none", func(m *meter, a []any) any { return intOf(a[0]) }},
	"flatten":    {[]class{isList}, 1, reflect.TypeFor[[]any](), "the entries of the lists in a list in one list", func(m *meter, a []any) any { return flatten(m, a[0]) }},
	"concat":     {[]class{isList, isList}, 2, reflect.TypeFor[[]any](), "the entries of two lists in one", func(m *meter, a []any) any { return flatten(m, []any{a[0], a[1]}) }},
}

// functionNames are all functions.
var functionNames = func() []string {
	all := slices.Collect(maps.Keys(functions))
	for name := range kept {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}()

// check is the type of a call with arguments of the types.
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
			return anyType, fmt.Errorf("argument %d is of another type: expected %v", i+1, f.takes[i])
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
