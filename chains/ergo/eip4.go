package ergo

import (
	"encoding/binary"
	"strconv"
	"strings"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// maxDecimals exceeds the digits of any amount.
const maxDecimals = 255

// describeToken reads [model.Mint.Info] by EIP-4: R4 is the name and R5 the description, both UTF-8; R6 is the number
// of decimals, as digits or, in some tokens, as a number. Invalid registers are ignored.
func describeToken(info []byte) (a model.AssetDescription) {
	registers := infoRegisters(info)
	a.Name, a.Description = textOf(registers[0]), textOf(registers[1])
	if n, ok := decimalsOf(registers[2]); ok {
		a.Decimals = &n
	}
	return a
}

// infoRegisters returns R4 to R6 of [model.Mint.Info]; nil for a missing one.
func infoRegisters(info []byte) (registers [tokenRegisters][]byte) {
	for i := range registers {
		size, n := binary.Uvarint(info)
		if n <= 0 || size > uint64(len(info)-n) {
			break
		}
		registers[i], info = info[n:n+int(size)], info[n+int(size):]
	}
	return registers
}

// collByte is the code of the type Coll[Byte].
const collByte = 0x0e

// bytesOf returns the content of a constant of type Coll[Byte], nil if it has another type.
func bytesOf(constant []byte) []byte {
	if len(constant) == 0 || constant[0] != collByte {
		return nil
	}
	value, _ := sigma.Value(constant)
	b, _ := value.([]byte)
	return b
}

// textOf returns the text in a constant, with U+FFFD in place of invalid UTF-8.
func textOf(constant []byte) string { return strings.ToValidUTF8(string(bytesOf(constant)), "\uFFFD") }

func decimalsOf(constant []byte) (int, bool) {
	value, _ := sigma.Value(constant)
	if n, ok := value.(int); ok {
		return n, n >= 0 && n <= maxDecimals
	}
	n, err := strconv.ParseUint(string(bytesOf(constant)), 10, 64)
	return int(n), err == nil && n <= maxDecimals
}
