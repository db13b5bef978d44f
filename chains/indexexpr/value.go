package indexexpr

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"

	"birthmark/model"
)

// Shorten returns a value of up to [model.MaxValueSize] bytes unchanged. A longer one becomes that many bytes: its
// beginning, and the SHA-256 of the whole in the last 32 bytes. The whole value still finds it; the shortened one is
// shown, and parses to itself.
func Shorten(value []byte) []byte {
	if len(value) <= model.MaxValueSize {
		return value
	}
	sum := sha256.Sum256(value)
	return append(value[:model.MaxValueSize-len(sum):model.MaxValueSize-len(sum)], sum[:]...)
}

// shortenText is [Shorten] for a text, which remains text: the hash is in hex, and no character is cut.
func shortenText(text []byte) []byte {
	if len(text) <= model.MaxValueSize {
		return text
	}
	sum := sha256.Sum256(text)
	cut := model.MaxValueSize - hex.EncodedLen(len(sum))
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return hex.AppendEncode(text[:cut:cut], sum[:])
}

// form is how the values of an index are stored and shown, determined by the type of its expression.
type form uint8

const (
	formBytes  form = iota // the bytes; shown in hex
	formText               // UTF-8, shown as it is
	formNumber             // decimal text
	formSwitch             // the text true or false
	formAny                // determined at run time: text, decimal text, true or false
)

var formDocs = [...]string{"bytes, in hex", "text", "number", "true or false", "text, number, true or false"}

var (
	bytesType = reflect.TypeFor[[]byte]()
	anyType   = reflect.TypeFor[any]()
	textType  = reflect.TypeFor[string]()
	boolType  = reflect.TypeFor[bool]()
	intType   = reflect.TypeFor[int]()
)

func isInteger(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

func isNumber(t reflect.Type) bool {
	return isInteger(t) || t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32
}

// formOf returns the form of values of a type; ok is false if a value cannot have that type.
func formOf(t reflect.Type) (f form, ok bool) {
	switch {
	case t == nil || t.Kind() == reflect.Interface:
		return formAny, true
	case t == bytesType:
		return formBytes, true
	case t.Kind() == reflect.String:
		return formText, true
	case isNumber(t):
		return formNumber, true
	case t.Kind() == reflect.Bool:
		return formSwitch, true
	}
	return 0, false
}

// appendValue appends a computed value as it is stored: nothing if it is missing.
func (f form) appendValue(to []byte, v any) []byte {
	switch v := v.(type) {
	case []byte:
		if f == formBytes {
			return append(to, Shorten(v)...)
		}
		return appendText(to, hex.EncodeToString(v))
	case string:
		return appendText(to, v)
	case bool:
		return strconv.AppendBool(to, v)
	case int:
		return strconv.AppendInt(to, int64(v), 10)
	case float64:
		// One format on all machines: the shortest that reads back as the same number.
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return to
		}
		return strconv.AppendFloat(to, v, 'g', -1, 64)
	}
	// List entries can have other integer widths, such as a byte of bytes.
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return strconv.AppendInt(to, r.Int(), 10)
	case r.CanUint():
		return strconv.AppendUint(to, r.Uint(), 10)
	}
	return to
}

func appendText(to []byte, text string) []byte {
	if !utf8.ValidString(text) {
		return to
	}
	if len(text) > model.MaxValueSize {
		return append(to, shortenText([]byte(text))...)
	}
	return append(to, text...)
}

func (f form) format(value []byte) string {
	if f == formBytes {
		return hex.EncodeToString(value)
	}
	return string(value)
}

// parse parses the output of format.
func (f form) parse(index, text string) ([]byte, error) {
	expected := func(what string) error {
		return model.Errorf(model.Usage, "bad_value", "invalid value %q for index %s: expected %s", shown(text), index, what)
	}
	switch f {
	case formBytes:
		value, err := hex.DecodeString(text)
		if err != nil || len(value) == 0 {
			return nil, expected("pairs of hex digits")
		}
		return Shorten(value), nil
	case formNumber:
		if v, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, expected("a number")
		}
	case formSwitch:
		if text != "true" && text != "false" {
			return nil, expected("true or false")
		}
	}
	if text == "" || !utf8.ValidString(text) {
		return nil, expected("a text in UTF-8 that is not empty")
	}
	return shortenText([]byte(text)), nil
}

// shown returns a quotable part of a text of any length.
func shown(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
