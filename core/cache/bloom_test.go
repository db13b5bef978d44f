package cache

import (
	"fmt"
	"testing"
)

// Added values are always present, others rarely seem to be, and memory stays within the bound, beyond which the filter
// is disabled.
func TestFilterNeverMissesAValue(t *testing.T) {
	for _, most := range []int64{0, 8 << 10, 1 << 20, 16 << 20} {
		f, fp := newBloom(most), newFingerprinter()
		f.complete = true
		key := func(n int) Fingerprint { return fp.Value(n%3, fmt.Append(nil, n)) }
		const values = 200_000
		for n := range values {
			f.Add(key(n))
			if f.bytes > most {
				t.Fatalf("%d bytes of %d", f.bytes, most)
			}
		}
		for n := range values {
			if !f.Has(key(n)) {
				t.Fatalf("within %d bytes value %d is missing", most, n)
			}
		}
		wrong := 0
		for n := values; n < 2*values; n++ {
			if f.Has(key(n)) {
				wrong++
			}
		}
		if f.complete && wrong > values/30 {
			t.Errorf("within %d bytes %d of %d new values are thought to be there", most, wrong, values)
		}
		if want := most >= 1<<20; f.complete != want {
			t.Errorf("within %d bytes, %d values: still asked is %t", most, values, f.complete)
		}
		if !f.complete && (wrong != values || f.layers != nil) {
			t.Errorf("within %d bytes it was given up and still says something", most)
		}
	}
}
