package script

import (
	"math"
	"strconv"

	"birthmark/api/jsonappend"
	"birthmark/model"
)

// Values of Bitcoin's protocols in JSON: see [birthmark/api/jsonappend.Value].
type (
	Hash model.Hash // in display order
	Hex  = jsonappend.Hex
	Asm  []byte // a disassembled script
)

// AppendJSON appends the hash.
func (h *Hash) AppendJSON(b []byte) []byte {
	return append(AppendHash(append(b, '"'), model.Hash(*h)), '"')
}

// AppendJSON appends the text of the script.
func (s Asm) AppendJSON(b []byte) []byte { return append(AppendAsm(append(b, '"'), s), '"') }

// Hashes returns hashes for JSON.
func Hashes(all []model.Hash) []Hash {
	hashes := make([]Hash, len(all))
	for i, h := range all {
		hashes[i] = Hash(h)
	}
	return hashes
}

// Difficulty returns how much harder a compact target is than the easiest one of mainnet.
func Difficulty(bits uint32) Float {
	mantissa, exponent := float64(bits&0xffffff), int(bits>>24)
	if mantissa == 0 {
		return 0
	}
	return Float(math.Ldexp(0xffff/mantissa, 8*(29-exponent)))
}

// Float is a number as programs in Rust write it: it has a decimal point, also if it is whole, because strict clients
// read 1 as an integer.
type Float float64

// AppendJSON appends the digits.
func (f Float) AppendJSON(b []byte) []byte {
	format := byte('f')
	if a := math.Abs(float64(f)); a != 0 && (a < 1e-5 || a >= 1e16) {
		format = 'e'
	}
	start := len(b)
	b = strconv.AppendFloat(b, float64(f), format, -1, 64)
	for _, c := range b[start:] {
		if c == '.' || c == 'e' {
			return b
		}
	}
	return append(b, ".0"...)
}
