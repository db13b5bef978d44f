// Package csvlist writes lists of answers as CSV.
package csvlist

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Write writes a header and a line per entry (RFC 4180, with lines that end in a line feed). Columns have the names of the
// JSON fields; those of nested objects are joined by a dot. The map "keys" of an entry has a column for each of keys. A
// list of texts is joined by spaces, other lists and maps are JSON. Unknown values and null are empty.
func Write[E any](w io.Writer, entries []E, keys []string) error {
	c := csv.NewWriter(w)
	columns := columnsOf(innermost(reflect.TypeFor[E]()), "", keys)
	row := make([]string, len(columns))
	for i, column := range columns {
		row[i] = column.name
	}
	if err := c.Write(row); err != nil {
		return err
	}
	for _, e := range entries {
		for i, column := range columns {
			text, err := textOf(column.of(present(reflect.ValueOf(e))))
			if err != nil {
				return fmt.Errorf("column %s: %w", column.name, err)
			}
			row[i] = text
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// column is a value of an entry. of returns the zero Value if the entry does not have it.
type column struct {
	name string
	of   func(entry reflect.Value) reflect.Value
}

// columnsOf returns the columns of a struct type.
func columnsOf(t reflect.Type, prefix string, keys []string) (columns []column) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		at := func(v reflect.Value) reflect.Value {
			if !v.IsValid() {
				return v
			}
			inner, err := v.FieldByIndexErr(f.Index)
			if err != nil { // an embedded pointer is nil
				return reflect.Value{}
			}
			if strings.Contains(options, "omitempty") && inner.IsZero() {
				return reflect.Value{}
			}
			return present(inner)
		}
		inner := innermost(f.Type)
		switch {
		case inner.Kind() == reflect.Struct:
			for _, c := range columnsOf(inner, prefix+name+".", keys) {
				columns = append(columns, column{c.name, func(v reflect.Value) reflect.Value { return c.of(at(v)) }})
			}
		case inner.Kind() == reflect.Map && name == "keys":
			for _, key := range keys {
				columns = append(columns, column{prefix + name + "." + key, func(v reflect.Value) reflect.Value {
					if m := at(v); m.IsValid() {
						return present(m.MapIndex(reflect.ValueOf(key)))
					}
					return reflect.Value{}
				}})
			}
		default:
			columns = append(columns, column{prefix + name, at})
		}
	}
	return columns
}

// innermost returns the type below pointers and optional values, which are structs with the only field Value.
func innermost(t reflect.Type) reflect.Type {
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case isOptional(t):
			t = t.Field(0).Type
		default:
			return t
		}
	}
}

func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "Value"
}

// present returns the value below pointers, interfaces and optional values, or the zero Value.
func present(v reflect.Value) reflect.Value {
	for v.IsValid() {
		switch {
		case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
			v = v.Elem()
		case isOptional(v.Type()):
			v = v.Field(0)
		default:
			return v
		}
	}
	return v
}

func textOf(v reflect.Value) (string, error) {
	if !v.IsValid() {
		return "", nil
	}
	switch x := v.Interface().(type) {
	case string:
		return x, nil
	case []string:
		return strings.Join(x, " "), nil
	}
	if v.Kind() == reflect.Slice && v.Len() == 0 {
		return "", nil
	}
	text, err := json.Marshal(v.Interface())
	return string(text), err
}
