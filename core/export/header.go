package export

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"

	"birthmark/core/export/tablefile"
	"birthmark/model"
)

// headerField is a column of blocks that is a field of the chain's header.
type headerField struct {
	tablefile.Field
	index     int  // of the field in the struct; -1: the column has the whole header as JSON
	omitEmpty bool // zero is null
}

// headerPrefix is added to the names of fields that are columns of blocks already.
const headerPrefix = "header_"

// headerFields returns the columns for the header of a chain. A header that is not a struct is one column of JSON.
func headerFields(chain model.Chain, raw []byte) ([]headerField, error) {
	if raw == nil {
		return nil, nil
	}
	header, err := chain.Header(raw)
	if err != nil {
		return nil, err
	}
	t := reflect.TypeOf(header)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return []headerField{{tablefile.Field{Name: "header", Type: tablefile.Text}, -1, false}}, nil
	}
	taken := map[string]bool{}
	for _, f := range (&columns{}).blockFields() {
		taken[f.Name] = true
	}
	var fields []headerField
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || !t.Field(i).IsExported() {
			continue
		}
		if taken[name] {
			name = headerPrefix + name
		}
		kind, of := tablefile.Text, t.Field(i).Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch of.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
			reflect.Uint32, reflect.Uint64:
			kind = tablefile.Int64
		case reflect.Float64:
			kind = tablefile.Double
		case reflect.Bool:
			kind = tablefile.Bool
		}
		fields = append(fields, headerField{
			tablefile.Field{Name: name, Type: kind, Nullable: true}, i, strings.Contains(options, "omitempty") && kind != tablefile.Bool,
		})
	}
	return fields, nil
}

// appendHeader appends the fields of a header.
func appendHeader(to []tablefile.Column, fields []headerField, chain model.Chain, raw []byte) error {
	if len(fields) == 0 {
		return nil
	}
	header, err := chain.Header(raw)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(header)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	for i := range fields {
		f, c := &fields[i], &to[i]
		if f.index < 0 {
			text, err := json.Marshal(header)
			if err != nil {
				return err
			}
			appendText(c, string(text))
			continue
		}
		if err := f.append(c, v.Field(f.index)); err != nil {
			return err
		}
	}
	return nil
}

func (f *headerField) append(c *tablefile.Column, v reflect.Value) error {
	null := f.omitEmpty && v.IsZero()
	if v.Kind() == reflect.Pointer {
		if null = v.IsNil(); null {
			v = reflect.Zero(v.Type().Elem())
		} else {
			v = v.Elem()
		}
	}
	switch f.Type {
	case tablefile.Double:
		appendDouble(c, v.Float(), null)
	case tablefile.Bool:
		n := int64(0)
		if v.Bool() {
			n = 1
		}
		appendMaybe(c, n, null)
	case tablefile.Int64:
		if v.CanInt() {
			appendMaybe(c, v.Int(), null)
		} else {
			appendMaybe(c, int64(v.Uint()), null || v.Uint() > math.MaxInt64)
		}
	default:
		text := ""
		if v.Kind() == reflect.String {
			text = v.String()
		} else if !null {
			made, err := json.Marshal(v.Interface())
			if err != nil {
				return err
			}
			text = string(made)
		}
		appendMaybeText(c, text, null)
	}
	return nil
}

func appendDouble(c *tablefile.Column, n float64, null bool) {
	c.Nulls = appendNull(c.Nulls, len(c.Doubles), null)
	c.Doubles = append(c.Doubles, n)
}

func appendMaybeText(c *tablefile.Column, text string, null bool) {
	c.Nulls = appendNull(c.Nulls, len(c.Ends), null)
	if null {
		text = "" // a null has no bytes
	}
	appendText(c, text)
}
