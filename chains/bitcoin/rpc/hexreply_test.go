package rpc

import (
	"bytes"
	"encoding/hex"
	"testing"

	"birthmark/chains/bitcoin/block"
)

// Every pair of bytes is decoded as encoding/hex does, at every place.
func TestDigitsAreDecodedAsByTheStandardLibrary(t *testing.T) {
	expected := make([]byte, 3)
	for pair := range 1 << 16 {
		digits := []byte("00Ff0a")
		at := 2 * (pair % 3)
		digits[at], digits[at+1] = byte(pair), byte(pair>>8)
		b := blockBody{Buffer: block.Buffer{Bytes: []byte{9}}}
		_, err := hex.Decode(expected, digits)
		if valid := b.decode(digits); valid != (err == nil) || valid && !bytes.Equal(b.Bytes, append([]byte{9}, expected...)) {
			t.Fatalf("%q: valid %v, %x, expected %x, %v", digits, valid, b.Bytes, expected, err)
		}
	}
}

func TestEndOfDigits(t *testing.T) {
	for _, text := range []string{``, `00`, `00"`, `00\`, `0"\`, `0\"`, `"`, `\`, `0\0\0"0"`, `0"0\0"`} {
		if got, expected := endOfDigits([]byte(text)), bytes.IndexAny([]byte(text), `"\`); got != expected {
			t.Errorf("%q: %d, expected %d", text, got, expected)
		}
	}
}
