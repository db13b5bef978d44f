package jsonappend

import (
	"bytes"
	"encoding/json"
	"testing"
)

// digits appends itself.
type digits uint8

func (d digits) AppendJSON(b []byte) []byte {
	return append(append(append(b, '"'), "0123456789"[:d]...), '"')
}

func (d digits) MarshalText() ([]byte, error) { return []byte("0123456789"[:d]), nil }

// even is a number whose zero values are even ones.
type even int

func (e even) IsZero() bool { return e%2 == 0 }

type tree struct {
	Name   string  `json:"name"`
	Few    digits  `json:"few"`
	Maybe  *digits `json:"maybe"`
	Hidden int     `json:"-"`
	hidden string
	Plain  bool
	Zero   struct {
		A int `json:"a"`
	} `json:"zero,omitzero"`
	Even   even      `json:"even,omitzero"`
	Any    any       `json:"any"`
	Pair   [2]uint64 `json:"pair"`
	Bytes  []byte    `json:"bytes"`
	Leaves []tree    `json:"leaves,omitempty"`
	Sum    int64     `json:"sum,string"`
	Part   *uint8    `json:"part,string"`
	Rest   *uint64   `json:"rest,string,omitempty"`
}

// Values of all kinds, and types that contain themselves, are those of encoding/json.
func TestOutputMatchesEncodingJSON(t *testing.T) {
	three := digits(3)
	whole := tree{hidden: "h", Plain: true,
		Name: "<a>", Few: 2, Maybe: &three, Any: []any{1.5, "x", nil, json.Number("7"), map[string]any{"b": 1, "a": digits(1)}}, Pair: [2]uint64{1, 2},
		Bytes: []byte{1, 2}, Leaves: []tree{{Name: "leaf", Any: &three, Even: 2}, {Even: 3}},
	}
	part, rest := uint8(7), uint64(1<<63)
	whole.Leaves[0].Zero.A, whole.Sum, whole.Part, whole.Rest = 1, -5, &part, &rest
	for _, v := range []any{nil, whole, &whole, []tree{}, []*tree{nil, &whole}, three, &three, (*digits)(nil), map[string]any{}} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got := append(Append(nil, v), '\n'); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%T:\n%s, expected\n%s", v, got, want.Bytes())
		}
	}
}

// Members of an object are in the order of the list.
func TestObjectsKeepTheOrderOfTheirMembers(t *testing.T) {
	type member = Member[Hex]
	for want, o := range map[string]*Object[Hex]{
		`{}`:                           {},
		`{"b":"00ff","a\n":"","b":""}`: {member{"b", Hex{0, 255}}, member{"a\n", nil}, member{"b", nil}},
	} {
		if got := string(Append(nil, o)); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// For each byte at each position, isPlain agrees with its definition.
func TestPlainStringsNeedNoEscape(t *testing.T) {
	for length := 1; length <= 20; length++ {
		for at := range length {
			for c := range 256 {
				s := []byte("abcdefghijklmnopqrstuvwxyz"[:length])
				s[at] = byte(c)
				if want := c >= ' ' && c < 0x80 && c != '"' && c != '\\'; plain(string(s)) != want {
					t.Fatalf("%q is plain: %t, expected %t", s, !want, want)
				}
			}
		}
	}
}
