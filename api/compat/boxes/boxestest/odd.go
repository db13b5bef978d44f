package boxestest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"birthmark/chains/ergo/sigma"
	"birthmark/chains/ergo/sigma/sigmatest"
)

// OddValues returns unusual values of registers and variables that nodes accept: those of [sigmatest.Small], and random
// ones.
func OddValues(rng *rand.Rand) [][]byte {
	values := sigmatest.Small()
	for range len(values) {
		values = append(values, sigmatest.Random(rng, 4))
	}
	return values
}

// Unreadable returns values of registers that no node accepts. APIs show them with the bytes of the registers after them.
func Unreadable() [][]byte { return [][]byte{{0xff, 1}, {0xa3}, {0x81, 4, 2}, {0x6e}, {0x0b, 1}} }

// readable moves the bytes after the first unreadable register into that register.
func readable(registers map[string]any) {
	unread := ""
	for n := sigma.FirstRegister; n < 10; n++ {
		name := fmt.Sprintf("R%d", n)
		digits, ok := registers[name].(string)
		if !ok {
			return
		}
		if unread != "" {
			registers[unread] = registers[unread].(string) + digits
			delete(registers, name)
			continue
		}
		raw, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		if size, err := sigma.ValueSize(raw); err != nil || size != len(raw) {
			unread = name
		}
	}
}
