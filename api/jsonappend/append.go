package jsonappend

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// Value is a value that appends its own JSON, such as a hash in display order.
type Value interface{ AppendJSON(b []byte) []byte }

// Append appends v. A pointer to a struct is faster than the struct, which is copied.
func Append(b []byte, v any) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	is := reflect.ValueOf(v)
	if is.Kind() == reflect.Pointer {
		if is.IsNil() {
			return append(b, "null"...)
		}
		return appenderOf(is.Type().Elem())(b, is.UnsafePointer())
	}
	copied := reflect.New(is.Type())
	copied.Elem().Set(is)
	return appenderOf(is.Type())(b, copied.UnsafePointer())
}

// Appender appends values of one type, for lists.
type Appender[T any] struct{ of appender }

// AppenderOf returns the appender of a type.
func AppenderOf[T any]() Appender[T] { return Appender[T]{appenderOf(reflect.TypeFor[T]())} }

// Append appends v.
func (a Appender[T]) Append(b []byte, v *T) []byte { return a.of(b, unsafe.Pointer(v)) }

// appender appends the value of one type at p. Reading values by their address takes half the time of package reflect.
type appender func(b []byte, p unsafe.Pointer) []byte

var appenders sync.Map // appender by reflect.Type

func appenderOf(t reflect.Type) appender {
	known, ok := appenders.Load(t)
	if !ok {
		known, _ = appenders.LoadOrStore(t, newAppender(t))
	}
	return known.(appender)
}

// Wrapper is a struct that is written as the JSON of its only member.
type Wrapper interface{ WrapsJSON() }

func newAppender(t reflect.Type) appender {
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[Value]()) {
		return valueAppender(t)
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) && !t.Implements(reflect.TypeFor[Wrapper]()) {
		return general(t)
	}
	switch t.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[json.Number]() {
			break
		}
		return func(b []byte, p unsafe.Pointer) []byte { return appendText(b, *(*string)(p)) }
	case reflect.Bool:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendBool(b, *(*bool)(p)) }
	case reflect.Int, reflect.Int64:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendInt(b, *(*int64)(p), 10) }
	case reflect.Int32:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendInt(b, int64(*(*int32)(p)), 10) }
	case reflect.Int16:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendInt(b, int64(*(*int16)(p)), 10) }
	case reflect.Int8:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendInt(b, int64(*(*int8)(p)), 10) }
	case reflect.Uint, reflect.Uint64:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendUint(b, *(*uint64)(p), 10) }
	case reflect.Uint32:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendUint(b, uint64(*(*uint32)(p)), 10) }
	case reflect.Uint16:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendUint(b, uint64(*(*uint16)(p)), 10) }
	case reflect.Uint8:
		return func(b []byte, p unsafe.Pointer) []byte { return strconv.AppendUint(b, uint64(*(*uint8)(p)), 10) }
	case reflect.Pointer:
		return pointerAppender(later(t.Elem()))
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64
			return sliceAppender(t)
		}
	case reflect.Array:
		elem, n, size := later(t.Elem()), t.Len(), t.Elem().Size()
		return func(b []byte, p unsafe.Pointer) []byte { return appendList(b, p, n, size, elem) }
	case reflect.Struct:
		if t.Implements(reflect.TypeFor[Wrapper]()) {
			return later(t.Field(0).Type) // the member is at the address of the struct
		}
		return structAppender(t)
	case reflect.Interface:
		return func(b []byte, p unsafe.Pointer) []byte { return Append(b, reflect.NewAt(t, p).Elem().Interface()) }
	case reflect.Map:
		if t == reflect.TypeFor[map[string]any]() {
			return func(b []byte, p unsafe.Pointer) []byte { return appendKeys(b, *(*map[string]any)(p)) }
		}
	}
	return general(t)
}

// valueAppender appends values of a type that implements [Value] by its address. An interface is two words, a table of
// methods and an address: with the table of another value of the type, no table is looked up for each value.
func valueAppender(t reflect.Type) appender {
	other := reflect.New(t).Interface().(Value)
	return func(b []byte, p unsafe.Pointer) []byte { return at(other, p).AppendJSON(b) }
}

// at returns the interface of another value of the same type, which is at p.
func at[I any](v I, p unsafe.Pointer) I {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] = p
	return v
}

// general leaves a type to encoding/json.
func general(t reflect.Type) appender {
	return func(b []byte, p unsafe.Pointer) []byte { return appendAny(b, reflect.NewAt(t, p).Elem().Interface()) }
}

// later returns the appender of a type that is examined at its first value: types can contain themselves.
func later(t reflect.Type) appender {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Struct:
		if reflect.PointerTo(t).Implements(reflect.TypeFor[Value]()) && t.Kind() != reflect.Pointer {
			return appenderOf(t)
		}
	default:
		return appenderOf(t)
	}
	var known appender
	var once sync.Once
	return func(b []byte, p unsafe.Pointer) []byte {
		once.Do(func() { known = appenderOf(t) })
		return known(b, p)
	}
}

func pointerAppender(elem appender) appender {
	return func(b []byte, p unsafe.Pointer) []byte {
		if p = *(*unsafe.Pointer)(p); p == nil {
			return append(b, "null"...)
		}
		return elem(b, p)
	}
}

func sliceAppender(t reflect.Type) appender {
	elem, size := later(t.Elem()), t.Elem().Size()
	return func(b []byte, p unsafe.Pointer) []byte {
		s := *(*[]struct{})(p) // the header of every slice has this form
		if s == nil {
			return append(b, "null"...)
		}
		return appendList(b, unsafe.Pointer(unsafe.SliceData(s)), len(s), size, elem)
	}
}

func appendList(b []byte, p unsafe.Pointer, n int, size uintptr, elem appender) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = elem(b, unsafe.Add(p, uintptr(i)*size))
	}
	return append(b, ']')
}

func structAppender(t reflect.Type) appender {
	members := membersOf(t, 0, nil)
	return func(b []byte, p unsafe.Pointer) []byte {
		b, separator := appendMembers(b, '{', p, members)
		if separator == '{' {
			b = append(b, '{')
		}
		return append(b, '}')
	}
}

// member is a member of a struct, or an embedded pointer to a struct, whose members are members of the struct.
type member struct {
	offset   uintptr
	name     string                    // after the separator of the member, with quotes and colon
	omit     func(unsafe.Pointer) bool // whether a value is left out; nil: none is
	value    appender
	embedded []member
}

// membersOf appends the members of a struct at an offset.
func membersOf(t reflect.Type, offset uintptr, all []member) []member {
	for i := range t.NumField() {
		f := t.Field(i)
		place := offset + f.Offset
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			all = append(all, member{offset: place, embedded: membersOf(f.Type.Elem(), 0, []member{})})
			continue
		case f.Anonymous:
			all = membersOf(f.Type, place, all)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		name = cmp.Or(name, f.Name)
		m := member{offset: place, name: "," + strconv.Quote(name) + ":", value: later(f.Type)}
		options, isQuoted := strings.CutPrefix(options, "string")
		if isQuoted {
			m.value = quoted(f.Type)
		}
		switch strings.TrimPrefix(options, ",") {
		case "omitempty":
			m.omit = func(p unsafe.Pointer) bool { return isEmpty(reflect.NewAt(f.Type, p).Elem()) }
			switch f.Type.Kind() {
			case reflect.String:
				m.omit = func(p unsafe.Pointer) bool { return *(*string)(p) == "" }
			case reflect.Slice:
				m.omit = func(p unsafe.Pointer) bool { return len(*(*[]struct{})(p)) == 0 }
			case reflect.Pointer:
				m.omit = func(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil }
			}
		case "omitzero":
			m.omit = func(p unsafe.Pointer) bool { return reflect.NewAt(f.Type, p).Elem().IsZero() }
			if reflect.PointerTo(f.Type).Implements(reflect.TypeFor[zeroer]()) {
				other := reflect.New(f.Type).Interface().(zeroer)
				m.omit = func(p unsafe.Pointer) bool { return at(other, p).IsZero() }
			}
		}
		all = append(all, m)
	}
	return all
}

// zeroer is a type that defines its zero values for omitzero, as in encoding/json.
type zeroer interface{ IsZero() bool }

// quoted returns the appender of a number, or a pointer to one, that is a string in JSON.
func quoted(t reflect.Type) appender {
	if t.Kind() == reflect.Pointer {
		return pointerAppender(quoted(t.Elem()))
	}
	value := later(t)
	return func(b []byte, p unsafe.Pointer) []byte { return append(value(append(b, '"'), p), '"') }
}

// appendMembers appends members, each after a separator, and returns the separator of the next one.
func appendMembers(b []byte, separator byte, p unsafe.Pointer, members []member) ([]byte, byte) {
	for i := range members {
		m := &members[i]
		at := unsafe.Add(p, m.offset)
		switch {
		case m.embedded != nil:
			if to := *(*unsafe.Pointer)(at); to != nil {
				b, separator = appendMembers(b, separator, to, m.embedded)
			}
		case m.omit == nil || !m.omit(at):
			b = append(b, m.name...)
			b[len(b)-len(m.name)] = separator
			b = m.value(b, at)
			separator = ','
		}
	}
	return b, separator
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
