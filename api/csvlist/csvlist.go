// Package csvlist writes lists of answers as CSV.
package csvlist

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Options determine the columns and the form of their values.
type Options struct {
	Keys     []string            // columns of the map "keys" of an entry
	NoAssets bool                // leave out the column of assets
	Raw      bool                // amounts are in smallest units, and times are Unix seconds
	Coin     int                 // decimals of the coin
	Wallet   bool                // the list is of a wallet: fields with the tag csv:"wallet" have columns
	Asset    string              // id of the asset of the list; empty: amounts are of the coin
	Counts   bool                // amounts are numbers without a unit
	Decimals func(id string) int // of an asset, 0 if they are unknown; nil if the list has no amounts of assets
}

// maxAssets is the number of assets whose decimals are kept.
const maxAssets = 1000

// OptionsOf returns the options of a list of a chain. indexes are the names of the indexes of its database, and asset
// answers about an asset.
func OptionsOf(indexes []string, chain model.Chain, asset func(id string) (*query.AssetAnswer, error)) Options {
	_, err := chain.ParseAsset("00")
	kind, _ := model.KindOf(err)
	known := map[string]int{}
	return Options{
		Keys: slices.Sorted(slices.Values(indexes)), NoAssets: kind == model.NotFound, Coin: chain.Traits().Unit.Decimals,
		Decimals: func(id string) int {
			n, ok := known[id]
			if ok {
				return n
			}
			if len(known) == maxAssets {
				clear(known)
			}
			if a, err := asset(id); err == nil {
				n = a.ShownDecimals()
			}
			known[id] = n
			return n
		},
	}
}

// Writer writes a list as CSV: a header and a line per entry (RFC 4180, with lines that end in a line feed).
//
// Columns have the names of the JSON fields; those of nested objects are joined by a dot. Fields with the tag csv:"-" have
// none. The map "keys" of an entry has a column for each key. A list of texts is joined by spaces, other lists and maps
// are JSON. Unknown values and null are empty. Fields with the tag csv:"amount" are in the unit of the coin, or of the
// asset that the field Asset of the same struct names, without thousands separators. Fields with csv:"time" are UTC in
// RFC 3339, which is a profile of ISO 8601. Fields with csv:"wallet", or csv:"amount,wallet", have a column in lists of a
// wallet only.
type Writer struct {
	Options
	csv     *csv.Writer
	columns []column
	row     []string
}

// New returns a writer of entries of a type, and writes the header.
func New(w io.Writer, entry reflect.Type, o Options) (*Writer, error) {
	c := &Writer{Options: o, csv: csv.NewWriter(w)}
	c.columns = c.columnsOf(innermost(entry), "")
	for _, column := range c.columns {
		c.row = append(c.row, column.name)
	}
	return c, c.csv.Write(c.row)
}

// Write writes an entry. [Writer.Flush] sends it.
func (c *Writer) Write(entry any) error {
	e := present(reflect.ValueOf(entry))
	for i, column := range c.columns {
		text, err := c.text(column.of(e), column.tag, column.parent(e))
		if err != nil {
			return fmt.Errorf("column %s: %w", column.name, err)
		}
		c.row[i] = text
	}
	return c.csv.Write(c.row)
}

// Flush sends the lines that were written.
func (c *Writer) Flush() error {
	c.csv.Flush()
	return c.csv.Error()
}

// WriteAll writes a list without amounts.
func WriteAll[E any](w io.Writer, entries []E) error {
	c, err := New(w, reflect.TypeFor[E](), Options{})
	for i := range entries {
		if err == nil {
			err = c.Write(&entries[i])
		}
	}
	return cmp.Or(err, c.Flush())
}

// Describe sets the options that an answer determines by its fields: Asset, the asset of its amounts; Derived, of an
// answer about a wallet; Unit, whose amounts are numbers of something else if it is not "amount".
func (o *Options) Describe(answer any) {
	v := present(reflect.ValueOf(answer))
	text := func(name string) string {
		if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
			return f.String()
		}
		return ""
	}
	o.Asset = text("Asset")
	unit := text("Unit")
	o.Counts = unit != "" && unit != "amount"
	f := v.FieldByName("Derived")
	o.Wallet = f.IsValid() && !f.IsNil()
}

// column is a value of an entry. of returns the zero Value if the entry does not have it; parent returns its struct.
type column struct {
	name, tag  string
	of, parent func(entry reflect.Value) reflect.Value
}

func itself(v reflect.Value) reflect.Value { return v }

// columnsOf returns the columns of a struct type.
func (c *Writer) columnsOf(t reflect.Type, prefix string) (columns []column) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || name == "assets" && c.NoAssets || hidden(t, f.Index) {
			continue
		}
		tag, wallet := strings.CutSuffix(f.Tag.Get("csv"), "wallet")
		if wallet && !c.Wallet {
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
			for _, c := range c.columnsOf(inner, prefix+name+".") {
				columns = append(columns, column{c.name, c.tag, func(v reflect.Value) reflect.Value { return c.of(at(v)) },
					func(v reflect.Value) reflect.Value { return c.parent(at(v)) }})
			}
		case inner.Kind() == reflect.Map && name == "keys":
			for _, key := range c.Keys {
				columns = append(columns, column{prefix + name + "." + key, "", func(v reflect.Value) reflect.Value {
					if m := at(v); m.IsValid() {
						return present(m.MapIndex(reflect.ValueOf(key)))
					}
					return reflect.Value{}
				}, itself})
			}
		default:
			columns = append(columns, column{prefix + name, strings.TrimSuffix(tag, ","), at, itself})
		}
	}
	return columns
}

// hidden reports whether a field, or an embedded struct that contains it, has no column.
func hidden(t reflect.Type, index []int) bool {
	for n := range index {
		if t.FieldByIndex(index[:n+1]).Tag.Get("csv") == "-" {
			return true
		}
	}
	return false
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

// text returns a value as CSV has it.
func (c *Writer) text(v reflect.Value, tag string, parent reflect.Value) (string, error) {
	if !v.IsValid() {
		return "", nil
	}
	switch x := v.Interface().(type) {
	case string:
		if tag == "amount" {
			return c.amount(x, parent), nil
		}
		return x, nil
	case []string:
		return strings.Join(x, " "), nil
	case int64:
		if tag == "time" && !c.Raw {
			return time.Unix(x, 0).UTC().Format(time.RFC3339), nil
		}
	}
	if v.Kind() == reflect.Slice {
		if v.Len() == 0 {
			return "", nil
		}
		v = c.inUnits(v)
	}
	text, err := json.Marshal(v.Interface())
	return string(text), err
}

// amount returns an amount of the coin, or of the asset that its struct or the list names.
func (c *Writer) amount(n string, parent reflect.Value) string {
	if c.Raw || c.Counts {
		return n
	}
	if a, ok := parent.Interface().(query.AssetAnswer); ok {
		return humanize.Unit{Decimals: a.ShownDecimals()}.Number(n)
	}
	decimals, asset := c.Coin, c.Asset
	if f := parent.FieldByName("Asset"); f.IsValid() {
		asset = f.String()
	}
	if asset != "" {
		decimals = c.Decimals(asset)
	}
	return humanize.Unit{Decimals: decimals}.Number(n)
}

// inUnits returns a copy of a list of structs with amounts in units.
func (c *Writer) inUnits(list reflect.Value) reflect.Value {
	t := list.Type().Elem()
	if t.Kind() != reflect.Struct || c.Raw {
		return list
	}
	copied := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
	reflect.Copy(copied, list)
	for i := range copied.Len() {
		entry := copied.Index(i)
		for n := range t.NumField() {
			if f := entry.Field(n); t.Field(n).Tag.Get("csv") == "amount" {
				f.SetString(c.amount(f.String(), entry))
			}
		}
	}
	return copied
}
