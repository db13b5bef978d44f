package ergo

import (
	"encoding/binary"
	"strconv"
	"strings"

	"birthmark/model"
)

// Types of the constants that EIP-4 has in registers.
const (
	constantByte  = 0x02
	constantShort = 0x03
	constantInt   = 0x04
	constantLong  = 0x05
	constantBytes = 0x0e // Coll[Byte]
)

// mostDecimals exceeds the digits of any amount.
const mostDecimals = 255

// describeToken reads [model.Mint.Info] by EIP-4: R4 is the name and R5 the description, both UTF-8; R6 is the number
// of decimals, as digits or, in some tokens, as a number. Invalid registers are ignored.
func describeToken(info []byte) (a model.AssetDescription) {
	var registers [tokenRegisters][]byte
	for i := range registers {
		size, n := binary.Uvarint(info)
		if n <= 0 || size > uint64(len(info)-n) {
			break
		}
		registers[i], info = info[n:n+int(size)], info[n+int(size):]
	}
	a.Name, a.Description = textOf(registers[0]), textOf(registers[1])
	if n, ok := decimalsOf(registers[2]); ok {
		a.Decimals = &n
	}
	return a
}

// textOf returns the text in a constant, with U+FFFD in place of invalid UTF-8.
func textOf(constant []byte) string {
	b, _ := bytesOf(constant)
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// bytesOf returns the content of a constant of type Coll[Byte].
func bytesOf(constant []byte) ([]byte, bool) {
	if len(constant) == 0 || constant[0] != constantBytes {
		return nil, false
	}
	size, n := binary.Uvarint(constant[1:])
	if n <= 0 || size != uint64(len(constant)-1-n) {
		return nil, false
	}
	return constant[1+n:], true
}

func decimalsOf(constant []byte) (int, bool) {
	if digits, ok := bytesOf(constant); ok {
		n, err := strconv.ParseUint(string(digits), 10, 64)
		return int(n), err == nil && n <= mostDecimals
	}
	if len(constant) < 2 {
		return 0, false
	}
	switch constant[0] {
	case constantByte:
		return int(constant[1]), len(constant) == 2 && constant[1] < 0x80
	case constantShort, constantInt, constantLong:
		v, n := binary.Varint(constant[1:])
		return int(v), n == len(constant)-1 && v >= 0 && v <= mostDecimals
	}
	return 0, false
}
