package jsonappend

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Value is a value that appends its own JSON, such as a hash in display order.
type Value interface{ AppendJSON(b []byte) []byte }

// Append appends v. A pointer to a struct is faster than the struct: its members are not copied.
func Append(b []byte, v any) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	is := reflect.ValueOf(v)
	return appenderOf(is.Type())(b, is)
}

// appender appends a value of one type.
type appender func(b []byte, v reflect.Value) []byte

var appenders sync.Map // appender by reflect.Type

func appenderOf(t reflect.Type) appender {
	known, ok := appenders.Load(t)
	if !ok {
		known, _ = appenders.LoadOrStore(t, newAppender(t))
	}
	return known.(appender)
}

// Wrapper is a struct with one member, whose JSON is that of the member.
type Wrapper interface{ WrapsJSON() }

func newAppender(t reflect.Type) appender {
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[Value]()) {
		return valueAppender
	}
	switch t.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[json.Number]() {
			break
		}
		return func(b []byte, v reflect.Value) []byte { return appendText(b, v.String()) }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) }
	case reflect.Pointer:
		elem := later(t.Elem())
		return func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, "null"...)
			}
			return elem(b, v.Elem())
		}
	case reflect.Interface:
		return func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, "null"...)
			}
			return appenderOf(v.Elem().Type())(b, v.Elem())
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64, or JSON
			return sliceAppender(later(t.Elem()))
		}
	case reflect.Array:
		elem := later(t.Elem())
		return func(b []byte, v reflect.Value) []byte { return appendList(b, v, elem) }
	case reflect.Struct:
		if t.Implements(reflect.TypeFor[Wrapper]()) {
			value := later(t.Field(0).Type)
			return func(b []byte, v reflect.Value) []byte { return value(b, v.Field(0)) }
		}
		if !t.Implements(reflect.TypeFor[json.Marshaler]()) {
			return structAppender(t)
		}
	case reflect.Map:
		if t == reflect.TypeFor[map[string]any]() {
			return func(b []byte, v reflect.Value) []byte { return appendKeys(b, v.Interface().(map[string]any)) }
		}
	}
	return func(b []byte, v reflect.Value) []byte { return appendAny(b, v.Interface()) }
}

// later returns the appender of a type that is examined at its first value: types can contain themselves.
func later(t reflect.Type) appender {
	var known appender
	var once sync.Once
	return func(b []byte, v reflect.Value) []byte {
		once.Do(func() { known = appenderOf(t) })
		return known(b, v)
	}
}

// valueAppender appends a [Value] by its address, which needs no copy if the value has one.
func valueAppender(b []byte, v reflect.Value) []byte {
	if !v.CanAddr() {
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	return v.Addr().Interface().(Value).AppendJSON(b)
}

func sliceAppender(elem appender) appender {
	return func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, "null"...)
		}
		return appendList(b, v, elem)
	}
}

func appendList(b []byte, v reflect.Value, elem appender) []byte {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = elem(b, v.Index(i))
	}
	return append(b, ']')
}

func structAppender(t reflect.Type) appender {
	members := membersAppender(t)
	return func(b []byte, v reflect.Value) []byte {
		b, separator := members(b, '{', v)
		if separator == '{' {
			b = append(b, '{')
		}
		return append(b, '}')
	}
}

// membersAppender appends the members of a struct, each after a separator; the separator of the next one is returned.
// Members of an embedded struct are members of the struct.
func membersAppender(t reflect.Type) func(b []byte, separator byte, v reflect.Value) ([]byte, byte) {
	type field struct {
		index     int
		name      string // with quotes and colon
		omitEmpty bool
		omitZero  bool
		value     appender
		embedded  func(b []byte, separator byte, v reflect.Value) ([]byte, byte)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			fields = append(fields, field{index: i, embedded: membersAppender(of)})
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		fields = append(fields, field{
			i, strconv.Quote(name) + ":", options == "omitempty", options == "omitzero", later(f.Type), nil,
		})
	}
	return func(b []byte, separator byte, v reflect.Value) ([]byte, byte) {
		for i := range fields {
			f := &fields[i]
			value := v.Field(f.index)
			switch {
			case f.embedded != nil && value.Kind() == reflect.Pointer && value.IsNil():
			case f.embedded != nil:
				b, separator = f.embedded(b, separator, reflect.Indirect(value))
			case f.omitEmpty && isEmpty(value), f.omitZero && value.IsZero():
			default:
				b = append(append(b, separator), f.name...)
				b, separator = f.value(b, value), ','
			}
		}
		return b, separator
	}
}

// isEmpty reports whether omitempty leaves out a value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

// appendKeys writes the values of indexes sorted by index name.
func appendKeys(b []byte, keys map[string]any) []byte {
	if keys == nil {
		return append(b, "null"...)
	}
	var few [8]string // avoids an allocation for most outputs
	b = append(b, '{')
	names := slices.AppendSeq(few[:0], maps.Keys(keys))
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		if text, ok := keys[name].(string); ok {
			b = appendText(b, text)
		} else {
			b = appendAny(b, keys[name])
		}
	}
	return append(b, '}')
}

func appendText(b []byte, s string) []byte {
	if !plain(s) {
		return appendAny(b, s)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// plain reports whether a string is ASCII without escapes. It examines eight bytes at a time, since most strings are
// hashes.
func plain(s string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		quote, slash := x^ones*'"', x^ones*'\\'
		// Sets the high bit of bytes that are not ASCII, below space, a quote or a backslash; false positives only above one.
		if (x|(x-ones*' ')|(quote-ones)&^quote|(slash-ones)&^slash)&high != 0 {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendAny writes strings and lists of strings.
func appendAny(b []byte, v any) []byte {
	var general bytes.Buffer
	e := json.NewEncoder(&general)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // cannot fail
		panic(err)
	}
	return append(b, general.Bytes()[:general.Len()-1]...)
}
