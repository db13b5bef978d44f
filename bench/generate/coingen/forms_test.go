package coingen_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/internal/testseed"
)

// A node refuses a count that is not in its shortest form (ReadCompactSize of Bitcoin Core, CompactSize64 of Zebra), so that a
// transaction has one serialization. Here each byte that can be a count is written in the longer forms: either the
// transaction is refused, or the byte is no count, and the rest is read with other bytes in its place.
func TestCountsHaveOneForm(t *testing.T) {
	seed := testseed.Of(t, 7)
	for _, c := range coingen.Coins {
		format := c.Spec.Format
		made := coingen.New(c, coingen.Options{Seed: seed, TxsPerBlock: 4})
		for range 6 {
			made.Next()
		}
		refused := 0
		for _, raw := range made.Blocks()[1:] {
			for i := 0; ; i++ {
				tx, err := format.TxAt(raw, i)
				if err != nil {
					break
				}
				for at, count := range tx[:min(len(tx), 600)] {
					for _, long := range [][]byte{
						binary.LittleEndian.AppendUint16([]byte{0xfd}, uint16(count)),
						binary.LittleEndian.AppendUint32([]byte{0xfe}, uint32(count)),
						binary.LittleEndian.AppendUint64([]byte{0xff}, uint64(count)),
					} {
						other := slices.Concat(tx[:at], long, tx[at+1:])
						size, err := format.TxSize(other)
						if err == nil && size == len(other) {
							t.Errorf("%s: a transaction whose byte %d, %02x, is written as %x is read: %x", c.Spec.Name, at, count, long, tx)
						}
						refused++
					}
				}
			}
		}
		if refused < 1000 {
			t.Errorf("%s: %d forms were tried", c.Spec.Name, refused)
		}
	}
}
