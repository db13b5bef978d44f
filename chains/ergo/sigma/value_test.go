package sigma

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestConstantsMeanWhatTheyAreWrittenFor(t *testing.T) {
	bytesOf := func(s string) []byte { return unhex(t, s) }
	for _, c := range []struct {
		name, raw string
		want      any
	}{
		{"true", "0101", true},
		{"false", "0100", false},
		{"byte", "02ff", -1},
		{"short", "03fe01", 127},
		{"int", "0409", -5},
		{"long", "05feffffffffffffffff01", 1<<63 - 1},
		{"least long", "05ffffffffffffffffff01", -1 << 63},
		{"big int", "0602ff7f", BigInt("-129")},
		{"big int of 256 bits", "0620" + strings.Repeat("7f", 32), BigInt("57669001306428065956053000376875938421040345304064124051023973211784186134399")},
		{"unsigned big int", "0902ff7f", BigInt("65407")},
		{"big int of 33 bytes", "0621" + strings.Repeat("01", 33), nil},
		{"point", "07" + aKey, bytesOf(aKey)},
		{"key", "08cd" + aKey, bytesOf(aKey)},
		{"proposition of two keys", "089602cd" + aKey + "cd" + aKey, nil},
		{"bytes", "0e0474657374", []byte("test")},
		{"no bytes", "0e00", []byte{}},
		{"booleans", "0d0a0502", []any{true, false, true, false, false, false, false, false, false, true}},
		{"longs", "1103020406", []any{1, 2, 3}},
		{"bytes in a collection", "1a0203aabbcc0101", []any{bytesOf("aabbcc"), bytesOf("01")}},
		{"longs in collections", "1d0201020100", []any{[]any{1}, []any{0}}},
		{"some", "280104", 2},
		{"none", "2800", nil},
		{"some bytes", "320102aabb", bytesOf("aabb")},
		{"pair of ints", "580204", []any{1, 2}},
		{"bytes and a long", "3c0e05" + "01aa04", []any{bytesOf("aa"), 2}},
		{"int and bytes", "400e0401aa", []any{2, bytesOf("aa")}},
		{"bytes and an int", "4c0e02aabb04", []any{bytesOf("aabb"), 2}},
		{"triple", "600304050e0204" + "01aa", []any{1, 2, bytesOf("aa")}},
		{"unit", "62", nil},
		{"text", "6603c3a978", "éx"},
		{"tree", "64" + strings.Repeat("0a", 33) + "07" + "20" + "00", bytesOf(strings.Repeat("0a", 33))},
		{"pairs in a collection", "0c5801" + "0204", []any{[]any{1, 2}}},
		{"nothing", "", nil},
		{"bytes that follow", "040000", nil},
		{"tuple", "860202660263", []any{102, 99}},
		{"tuple of a tuple", "8602" + "860204020e01aa" + "0101", []any{[]any{1, bytesOf("aa")}, true}},
		{"tuple with a generator", "860282" + "7f", []any{Generator[:], true}},
		{"part of a tuple is a proposition", "8602" + "0402" + "089602cd" + aKey + "cd" + aKey, []any{1, nil}},
		{"part of a tuple is the height", "8602a30404", []any{nil, 2}},
		{"true by its code", "7f", true},
		{"false by its code", "80", false},
		{"generator", "82", Generator[:]},
		{"collection of ints", "830204" + "0402" + "0404", []any{1, 2}},
		{"collection of bytes", "830202" + "02ff" + "0203", []byte{0xff, 3}},
		{"collection of collections", "83020e" + "0e01aa" + "0e00", []any{bytesOf("aa"), []byte{}}},
		{"empty collection", "830062", []any{}},
		{"booleans in bits", "850a0502", []any{true, false, true, false, false, false, false, false, false, true}},
		{"any values", "0c6100", []any{}},
		{"unit by its code", "81", nil},
		{"height", "a3", nil},
		{"cut", "0e05aabb", nil},
		{"cut booleans", "0d10ff", nil},
		{"cut number", "05ff", nil},
		{"cut key", "08cd0203", nil},
		{"cut tree", "640a", nil},
		{"box", "6300", nil},
		{"unknown type", "0a00", nil},
		{"number of too many bytes", "0622" + strings.Repeat("01", 34), nil},
	} {
		got, ok := Value(unhex(t, c.raw))
		empty, part := c.name == "none" || c.name == "unit", strings.HasPrefix(c.name, "part")
		if !reflect.DeepEqual(got, c.want) || ok != (got != nil && !part || empty) {
			t.Errorf("%s %s is %#v, read: %v, expected %#v", c.name, c.raw, got, ok, c.want)
		}
	}
}

// A few bytes can encode any number of empty values.
func TestWhatAConstantIsTakenApartIntoIsBounded(t *testing.T) {
	for _, raw := range []string{
		"0c62ffff03", // 65,535 units
		"0c0c62" + "8010" + strings.Repeat("ffff03", 8),                     // collections of units
		"18" + "9001" + strings.Repeat("ffff03"+strings.Repeat("ff", 8), 9), // booleans
		strings.Repeat("0c", 200) + "04" + strings.Repeat("01", 300),
		"6005" + strings.Repeat("60ff", 100),
	} {
		if got, ok := Value(unhex(t, raw)); got != nil || ok {
			t.Errorf("%s is %T of some %d characters", raw, got, len(fmt.Sprint(got)))
		}
	}
	got, _ := Value(unhex(t, "0c628020"))
	if list, ok := got.([]any); !ok || len(list) != 4096 {
		t.Errorf("4,096 units have %d values", len(list))
	}
}

// FuzzValue: an input has a value only if it is exactly one constant.
func FuzzValue(f *testing.F) {
	for _, raw := range []string{"0e0474657374", "1a0203aabbcc0101", "08cd" + aKey, "3c0e0502010f", "0c62ffff03", "0602ff7f"} {
		f.Add(unhex(f, raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, ok := Value(raw)
		if v == nil && !ok {
			return
		}
		if n, err := ValueSize(raw); err != nil || n != len(raw) {
			t.Errorf("%s is %v, and a constant of %d bytes: %v", hex.EncodeToString(raw), v, n, err)
		}
	})
}

// The number of steps depends on the bytes of a constant, not on its empty values: here one byte among 2,000 empty
// elements.
func TestConstantsAreWalkedOverInStepsOfTheirBytes(t *testing.T) {
	units := bytes.Repeat([]byte{typeUnit}, 250)
	tuple := append([]byte{tupleType, 255}, units...)
	for range 4 {
		tuple = append(tuple, append([]byte{tupleType, 250}, units...)...)
	}
	tuple = append(tuple, typeByte)
	const elements = 2000
	raw := append([]byte{makesColl * embeddable}, tuple...)
	raw = append(binary.AppendUvarint(raw, elements), make([]byte, elements)...)
	nested := bytes.Repeat([]byte{tupleType, 1}, 90) // nested tuples of one item
	deep := append(append([]byte{makesColl * embeddable}, nested...), typeByte)
	deep = append(binary.AppendUvarint(deep, elements), make([]byte, elements)...)
	for name, b := range map[string][]byte{"units": raw, "tuples of one": deep} {
		r := reader{b: append(b, 1, 2, 3)}
		r.skipConstant()
		if r.err != nil || r.at != len(b) {
			t.Errorf("%s: parsing ended at %d of %d: %v", name, r.at, len(b), r.err)
		}
		if r.steps > 2*len(b) {
			t.Errorf("%s: %d steps for %d bytes", name, r.steps, len(b))
		}
	}
}
