package cardano

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	fxcbor "github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/cbor"
)

func TestValuesOfPlutusData(t *testing.T) {
	big := "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	for name, c := range map[string]struct {
		item, want any
	}{
		"number":                        {42, 42},
		"negative":                      {-43, -43},
		"greatest int":                  {uint64(1<<63 - 1), 1<<63 - 1},
		"above it":                      {uint64(1 << 63), "9223372036854775808"},
		"least int":                     {fxcbor.RawMessage{0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1 << 63},
		"below it":                      {fxcbor.RawMessage{0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "-18446744073709551616"},
		"bignum":                        {tagged(2, filled(32, 0xff)), big},
		"short bignum":                  {tagged(2, []byte{1, 0}), 256},
		"negative bignum":               {tagged(3, []byte{1, 0}), -257},
		"bignum beyond any transaction": {tagged(2, filled(maxBignum+1, 0xff)), nil},
		"bytes":                         {[]byte("ab"), []byte("ab")},
		"bytes in pieces":               {endless(t, 0x5f, []byte("a"), []byte("b")), []byte("ab")},
		"text":                          {"é", "é"},
		"text in pieces":                {endless(t, 0x7f, "a", "b"), "ab"},
		"text, not UTF-8":               {fxcbor.RawMessage{0x62, 0xc3, 0x28}, nil},
		"list":                          {list{1, "a", list{}}, []any{1, "a", []any{}}},
		"endless list":                  {endless(t, 0x9f, 1, 2), []any{1, 2}},
		"map":                           {dict{"a": 1, 2: "b", fxcbor.ByteString("\x0a\xff"): dict{}}, map[string]any{"a": 1, "2": "b", "0aff": map[string]any{}}},
		"map with odd keys":             {endless(t, 0xbf, list{1}, 2, "a", 3, "a", 4), map[string]any{"a": 4}},
		"constructor":                   {tagged(121, list{1}), map[string]any{"constructor": 0, "fields": []any{1}}},
		"seventh":                       {tagged(1280, list{}), map[string]any{"constructor": 7, "fields": []any{}}},
		"constructor at all":            {tagged(102, list{500, list{true}}), map[string]any{"constructor": 500, "fields": []any{true}}},
		"another tag":                   {tagged(258, list{1}), []any{1}},
		"true":                          {true, true},
		"null":                          {nil, nil},
		"point":                         {1.5, nil},
		"deep":                          {fxcbor.RawMessage(append(bytes.Repeat([]byte{0x81}, MaxNesting+1), 0)), nil},
	} {
		if got := meaning(raw(t, c.item)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, expected %#v", name, got, c.want)
		}
	}
	for _, digits := range []string{"", "0000", "81", "62c3", "a1", "a101", "d8661903e8", strings.Repeat("9f", 20), "ff", "1c"} {
		if got := meaning(hexBytes(t, digits)); got != nil {
			t.Errorf("%s has the value %#v", digits, got)
		}
	}
}

// FuzzMeaning: only a single complete item has a value.
func FuzzMeaning(f *testing.F) {
	for _, item := range []any{42, "a", list{1, dict{"a": []byte("b")}}, tagged(121, list{tagged(2, filled(9, 1))})} {
		f.Add([]byte(raw(f, item)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if v := meaning(raw); v == nil {
			return
		}
		w := cbor.Walker{Data: raw}
		if w.Skip("item"); w.Err != nil || w.Offset != len(raw) {
			t.Errorf("malformed %x has a value: %v", raw, w.Err)
		}
	})
}

func hexBytes(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
