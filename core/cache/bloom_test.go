package cache

import (
	"fmt"
	"testing"

	"birthmark/core/cache/run"
)

// Added values are always present, others rarely seem to be, and memory stays within the bound, beyond which values are
// not added.
func TestFilterNeverMissesAValue(t *testing.T) {
	for _, most := range []int64{0, 8 << 10, 1 << 20, 16 << 20} { // the first layer has room for half of the values
		f, fp := bloom{maxBytes: most}, newFingerprinter()
		tag := func(n int) uint64 { return fp.Value(n%3, fmt.Append(nil, n)).a }
		const values = 200_000
		added := 0
		f.grow(values / 2 * run.FilterBits / (run.FilterBlockSize * 8))
		for added < values && f.add(tag(added)) {
			if added++; f.bytes > most {
				t.Fatalf("%d bytes of %d", f.bytes, most)
			}
		}
		for n := range added {
			if !f.has(tag(n)) {
				t.Fatalf("within %d bytes value %d is missing", most, n)
			}
		}
		wrong := 0
		for n := values; n < 2*values; n++ {
			if f.has(tag(n)) {
				wrong++
			}
		}
		if wrong > values/30 {
			t.Errorf("within %d bytes %d of %d absent values were found", most, wrong, values)
		}
		if all := added == values; all != (most >= 1<<20) {
			t.Errorf("within %d bytes %d of %d values were added", most, added, values)
		}
		if f.clear(); f.bytes != 0 || f.layers != nil {
			t.Errorf("the empty filter has %d bytes", f.bytes)
		}
	}
}
