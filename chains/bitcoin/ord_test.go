package bitcoin

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
)

// push returns the shortest push of data.
func push(data string) string {
	switch n := len(data); {
	case n < 0x4c:
		return string(rune(n)) + data
	case n < 0x100:
		return "\x4c" + string([]byte{byte(n)}) + data
	default:
		return "\x4d" + string(binary.LittleEndian.AppendUint16(nil, uint16(n))) + data
	}
}

// pushes returns pushes of parts.
func pushes(parts ...string) (script string) {
	for _, p := range parts {
		script += push(p)
	}
	return script
}

// ord returns an envelope with pushes of parts, as the helper of ord's tests.
func ord(parts ...string) string { return "\x00\x63" + pushes(parts...) + "\x68" }

// inscriptionsOf returns the inscriptions of the witnesses of a transaction.
func inscriptionsOf(witnesses ...[]string) (found []inscriptionFields) {
	var raw []byte
	for _, items := range witnesses {
		raw = append(raw, byte(len(items)))
		for _, item := range items {
			raw = append(raw, 0xfd)
			raw = append(binary.LittleEndian.AppendUint16(raw, uint16(len(item))), item...)
		}
	}
	block.EachWitness(raw, 0, len(witnesses), func(input int, items block.WitnessItems) {
		if script := block.LeafScript(items); script != nil {
			found = appendInscriptions(found, script, input, true)
		}
	})
	return found
}

// TestInscriptionsMatchOrd has the cases of the tests of ord (ordinals/ord, commit 5241ef31, CC0:
// src/inscriptions/envelope.rs and inscription.rs), in its order; the names are those of its tests. Those of its writer, and of
// properties and hidden inscriptions, have no counterpart here: the fields of tags 17 and 19 are not read.
func TestInscriptionsMatchOrd(t *testing.T) {
	const text, name = "text/plain;charset=utf-8", "ord"
	reveal := func(script string) []string { return []string{script, ""} }
	is := func(change ...func(*inscriptionFields)) inscriptionFields {
		in := inscriptionFields{Pointer: -1}
		for _, f := range change {
			f(&in)
		}
		return in
	}
	with := func(kind, body string) inscriptionFields {
		return is(func(in *inscriptionFields) { in.ContentType, in.Body = kind, []byte(body) })
	}
	at := func(in inscriptionFields, input, number int) inscriptionFields {
		in.Input, in.Number = input, number
		return in
	}
	none := is()
	chunked := func(kind, body string) string {
		parts := []string{name, "\x01", kind, ""}
		for ; len(body) > 520; body = body[520:] {
			parts = append(parts, body[:520])
		}
		return ord(append(parts, body)...)
	}
	type one = []inscriptionFields
	for _, c := range []struct {
		name      string
		witnesses [][]string
		want      []inscriptionFields
	}{
		{"empty", [][]string{nil}, nil},
		{"ignore_key_path_spends", [][]string{{ord(name)}}, nil},
		{"ignore_key_path_spends_with_annex", [][]string{{ord(name), "\x50"}}, nil},
		{"parse_from_tapscript", [][]string{reveal(ord(name))}, one{none}},
		{"parse_from_tapscript, with an annex", [][]string{{ord(name), "", "\x50"}}, one{none}},
		{"ignore_unparsable_scripts", [][]string{reveal(ord(name) + "\x01")}, nil},
		{"extract_from_second_envelope", [][]string{reveal(chunked("foo", strings.Repeat("\x01", 100)) + chunked("bar", strings.Repeat("\x01", 100)))},
			one{with("foo", strings.Repeat("\x01", 100)), at(with("bar", strings.Repeat("\x01", 100)), 0, 1)}},
		{"chunked_data_is_parsable", [][]string{reveal(chunked("foo", strings.Repeat("\x01", 1040)))}, one{with("foo", strings.Repeat("\x01", 1040))}},
		{"round_trip_with_no_fields", [][]string{reveal(ord(name))}, one{none}},
		{"properties_are_parsed_correctly", [][]string{reveal(ord(name, "\x11", "\x80", "\x13", "br"))}, one{none}},
		{"no_inscription", [][]string{reveal("")}, nil},
		{"duplicate_field", [][]string{reveal(ord(name, "\xff", "", "\xff", ""))}, one{none}},
		{"with_content_type", [][]string{reveal(ord(name, "\x01", text, "", name))}, one{with(text, name)}},
		{"with_content_encoding", [][]string{reveal(ord(name, "\x01", text, "\x09", "br", "", name))},
			one{is(func(in *inscriptionFields) { *in = with(text, name); in.ContentEncoding = "br" })}},
		{"with_unknown_tag", [][]string{reveal(ord(name, "\x01", text, "\xff", "bar", "", name))}, one{with(text, name)}},
		{"no_body", [][]string{reveal(ord(name, "\x01", text))}, one{with(text, "")}},
		{"no_content_type", [][]string{reveal(ord(name, "", "foo"))}, one{with("", "foo")}},
		{"valid_body_in_multiple_pushes", [][]string{reveal(ord(name, "\x01", text, "", "foo", "bar"))}, one{with(text, "foobar")}},
		{"valid_body_in_zero_pushes", [][]string{reveal(ord(name, "\x01", text, ""))}, one{with(text, "")}},
		{"valid_body_in_multiple_empty_pushes", [][]string{reveal(ord(name, "\x01", text, "", "", "", "", "", ""))}, one{with(text, "")}},
		{"valid_ignore_trailing", [][]string{reveal(ord(name, "\x01", text, "", name) + "\xac")}, one{with(text, name)}},
		{"valid_ignore_preceding", [][]string{reveal("\xac" + ord(name, "\x01", text, "", name))}, one{with(text, name)}},
		{"multiple_inscriptions_in_a_single_witness", [][]string{reveal(ord(name, "\x01", text, "", "foo") + ord(name, "\x01", text, "", "bar"))},
			one{with(text, "foo"), at(with(text, "bar"), 0, 1)}},
		{"invalid_utf8_does_not_render_inscription_invalid", [][]string{reveal(ord(name, "\x01", text, "", "\x80"))}, one{with(text, "\x80")}},
		{"no_endif", [][]string{reveal("\x00\x63" + push(name))}, nil},
		{"no_op_false", [][]string{reveal("\x63" + push(name) + "\x68")}, nil},
		{"empty_envelope", [][]string{reveal(ord())}, nil},
		{"wrong_protocol_identifier", [][]string{reveal(ord("foo"))}, nil},
		{"extract_from_second_input", [][]string{nil, reveal(chunked("foo", strings.Repeat("\x01", 1040)))},
			one{at(with("foo", strings.Repeat("\x01", 1040)), 1, 0)}},
		{"inscribe_png", [][]string{reveal(ord(name, "\x01", "image/png", "", strings.Repeat("\x01", 100)))}, one{with("image/png", strings.Repeat("\x01", 100))}},
		{"unknown_odd_fields_are_ignored", [][]string{reveal(ord(name, "\xff", "\x00"))}, one{none}},
		{"unknown_even_fields", [][]string{reveal(ord(name, "\x16", "\x00"))}, one{none}},
		{"pointer_field_is_recognized", [][]string{reveal(ord(name, "\x02", "\x01"))}, one{is(func(in *inscriptionFields) { in.Pointer = 1 })}},
		{"duplicate_pointer_field_makes_inscription_unbound", [][]string{reveal(ord(name, "\x02", "\x01", "\x02", "\x00"))},
			one{is(func(in *inscriptionFields) { in.Pointer = 1 })}},
		{"tag_66_makes_inscriptions_unbound", [][]string{reveal(ord(name, "\x42", "\x01"))}, one{none}},
		{"incomplete_field", [][]string{reveal(ord(name, "\x63"))}, one{none}},
		{"metadata_is_parsed_correctly", [][]string{reveal(ord(name, "\x05", ""))}, one{none}},
		{"metadata_is_parsed_correctly_from_chunks", [][]string{reveal(ord(name, "\x05", "\x00", "\x05", "\x01"))},
			one{is(func(in *inscriptionFields) { in.Metadata = []byte{0, 1} })}},
		{"stuttering, an empty push twice", [][]string{reveal("\x00" + ord(name))}, one{none}},
		{"stuttering, once", [][]string{reveal("\x00\x63" + ord(name))}, one{none}},
		{"stuttering, twice", [][]string{reveal("\x00\x63\x00\x63" + ord(name))}, one{none}},
		{"stuttering, another operation between", [][]string{reveal("\x00\x00\x9a" + ord(name))}, one{none}},

		// Forms that its reader of scripts accepts.
		{"a mark in other pushes", [][]string{reveal("\x4c\x00\x63\x4c\x03ord\x68")}, one{none}},
		{"a mark with 2 bytes of length", [][]string{reveal("\x4d\x00\x00\x63\x4d\x03\x00ord\x68")}, one{none}},
		{"a mark with 4 bytes of length", [][]string{reveal("\x4e\x00\x00\x00\x00\x63\x4e\x03\x00\x00\x00ord\x68")}, one{none}},
		{"an envelope in an invalid one", [][]string{reveal("\x00\x63" + push(name) + ord(name))}, nil},
		{"a cut push in one input", [][]string{reveal(ord(name) + "\x4c"), reveal(ord(name, "", "b"))}, one{at(with("", "b"), 1, 0)}},
		{"another leaf version", [][]string{{ord(name), "\xc2" + strings.Repeat("\x01", 32)}}, one{none}},
	} {
		if got := inscriptionsOf(c.witnesses...); !reflect.DeepEqual(normal(got), normal(c.want)) {
			t.Errorf("%s: %+v, expected %+v", c.name, got, c.want)
		}
	}

	// pushnum_opcodes_are_parsed_correctly
	for op, value := range map[byte]byte{0x4f: 0x81, 0x51: 1, 0x52: 2, 0x53: 3, 0x54: 4, 0x55: 5, 0x56: 6, 0x57: 7, 0x58: 8, 0x59: 9, 0x5a: 10,
		0x5b: 11, 0x5c: 12, 0x5d: 13, 0x5e: 14, 0x5f: 15, 0x60: 16} {
		got := inscriptionsOf(reveal("\x00\x63" + push(name) + "\x00" + string([]byte{op}) + "\x68"))
		if len(got) != 1 || !bytes.Equal(got[0].Body, []byte{value}) {
			t.Errorf("operation %x: %+v", op, got)
		}
	}
}

// TestPointersMatchOrd has the cases of pointer_decode. A pointer of 2^63 and more, which no transaction has room for,
// is ignored.
func TestPointersMatchOrd(t *testing.T) {
	for value, want := range map[string]int{
		"": 0, "\x00": 0,
		"\x01\x02\x03\x04\x05\x06\x07\x08":                     0x0807060504030201,
		"\x01\x02\x03\x04\x05\x06":                             0x0000060504030201,
		"\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00\x00\x00\x00": 0x0807060504030201,
		"\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00\x00\x00\x01": -1,
		"\x01\x02\x03\x04\x05\x06\x07\x08\x01":                 -1,
		"\xff\xff\xff\xff\xff\xff\xff\x7f":                     1<<63 - 1,
		"\x00\x00\x00\x00\x00\x00\x00\x80":                     -1,
	} {
		got := inscriptionsOf([]string{ord("ord", "\x02", value), ""})
		if len(got) != 1 || got[0].Pointer != want {
			t.Errorf("pointer %x: %+v, expected %d", value, got, want)
		}
	}
}

// TestParentIDsMatchOrd has the cases of inscription.rs with tags 3 and 11.
func TestParentIDsMatchOrd(t *testing.T) {
	count := make([]byte, 32)
	for i := range count {
		count[i] = byte(i)
	}
	ones, ff := strings.Repeat("\x01", 32), strings.Repeat("\xff", 32)
	for _, c := range []struct {
		name  string
		value string
		want  string // empty: none
	}{
		{"shorter_than_txid_length", "", ""},
		{"shorter_than_txid_length, by one byte", ones[:31], ""},
		{"longer_than_txid_and_index", ones + "\x01\x01\x01\x01\x01", ""},
		{"index_with_trailing_zeroes_and_fixed_length", ones + "\x01\x01\x01\x00", strings.Repeat("01", 32) + "i65793"},
		{"index_with_trailing_zeroes_and_fixed_length, zero", ones + "\x00\x00\x00\x00", strings.Repeat("01", 32) + "i0"},
		{"index_with_trailing_zeroes_and_variable_length", ones + "\x01\x01\x00", ""},
		{"txid_is_deserialized_correctly", string(count), "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100i0"},
		{"zero_byte_index_field", ones, strings.Repeat("01", 32) + "i0"},
		{"one_byte_index_field", ff + "\x01", strings.Repeat("ff", 32) + "i1"},
		{"two_byte_index_field", ff + "\x01\x02", strings.Repeat("ff", 32) + "i513"},
		{"three_byte_index_field", ff + "\x01\x02\x03", strings.Repeat("ff", 32) + "i197121"},
		{"four_byte_index_field", ff + "\x01\x02\x03\x04", strings.Repeat("ff", 32) + "i67305985"},
	} {
		got := inscriptionsOf([]string{ord("ord", "\x03", c.value, "\x0b", c.value), ""})
		if len(got) != 1 || got[0].Parent != c.want || got[0].Delegate != c.want || (len(got[0].Parents) == 1) != (c.want != "") {
			t.Errorf("%s: %+v, expected %q", c.name, got, c.want)
		}
	}
	got := inscriptionsOf([]string{ord("ord", "\x03", "no id", "\x03", ones, "\x03", ff+"\x01"), ""})
	want := []string{strings.Repeat("01", 32) + "i0", strings.Repeat("ff", 32) + "i1"}
	if len(got) != 1 || !reflect.DeepEqual(got[0].Parents, want) || got[0].Parent != want[0] {
		t.Errorf("three parents, the first invalid: %+v, expected %q", got, want)
	}
}
