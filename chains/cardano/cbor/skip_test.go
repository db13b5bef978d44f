package cbor

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestSkip distinguishes items, malformed items and incomplete items according to RFC 8949.
func TestSkip(t *testing.T) {
	deep := bytes.Repeat([]byte{0x9f}, maxOpen+1)
	for _, c := range []struct {
		raw  string
		size int // 0 if malformed, -1 if incomplete
	}{
		{"\x00", 1}, {"\x17\x00", 1}, {"\x18\x18", 2}, {"\x1b12345678", 9}, {"\x38\xff", 2}, {"\xf6", 1}, {"\xf9\x00\x00", 3}, {"\xfb12345678", 9},
		{"\x40", 1}, {"\x43abc", 4}, {"\x58\x03abc", 5}, {"\x5f\x41a\x42bc\xff", 7}, {"\x7f\x61a\xff", 4}, {"\x5f\xff", 2},
		{"\x80", 1}, {"\x82\x00\x41a", 4}, {"\x9f\x00\x9f\xff\xff", 5}, {"\xa1\x00\x80", 3}, {"\xbf\x00\x01\xff", 4}, {"\xd8\x18\x41a", 4}, {"\xc2\xc2\x00", 3},
		{"", -1}, {"\x18", -1}, {"\x43ab", -1}, {"\x5b\xff\xff\xff\xff\xff\xff\xff\xff", -1}, {"\x82\x00", -1}, {"\xa1\x00", -1}, {"\x9f", -1}, {"\x5f\x41", -1}, {"\xc2", -1},
		{"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x00", -1}, {"\xbb\x80\x00\x00\x00\x00\x00\x00\x00\x00", -1},
		{"\xff", 0}, {"\x1c", 0}, {"\x1f", 0}, {"\xdf\x00", 0}, {"\x3f", 0}, {"\x5f\x61a\xff", 0}, {"\x5f\x5f\xff\xff", 0}, {"\x81\xff", 0}, {"\xbf\x00\xff", 0},
		{string(deep[1:]), -1}, {string(deep), 0}, {strings.Repeat("\x81", 1<<20) + "\x00", 1<<20 + 1},
	} {
		size, err := new(Skipper).Skip([]byte(c.raw))
		switch {
		case c.size > 0 && (err != nil || size != c.size):
			t.Errorf("%x: %d bytes, %v; expected %d", c.raw, size, err, c.size)
		case c.size <= 0 && (err == nil || errors.Is(err, ErrShort) != (c.size < 0)):
			t.Errorf("%x: %d bytes, %v; expected an error", c.raw, size, err)
		}
	}
}

// TestSkipInPieces: the end of an item does not depend on how its bytes arrive, and every byte is read once.
func TestSkipInPieces(t *testing.T) {
	for _, raw := range []string{"\x83\x43abc\x9f\x00\x5f\x41a\x42bc\xff\xff\xbf\x00\x19\x12\x34\xff\x07", "\x9f\x9f\x58\x03abc\xff\xff"} {
		var s Skipper
		want, err := new(Skipper).Skip([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		for n := range want {
			at := s.at
			if size, err := s.Skip([]byte(raw[:n])); err != ErrShort || size <= n || size > want || s.at < at {
				t.Fatalf("%d bytes of %x: %d, %v", n, raw, size, err)
			}
		}
		if size, err := s.Skip([]byte(raw)); size != want || err != nil {
			t.Errorf("%x: %d, %v; expected %d", raw, size, err, want)
		}
	}
}
