package rocks

import "testing"

// With little memory few families are compacted concurrently, for any number of processors.
func TestMergesFitTheMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		cache, buffers int64
		want           int
	}{
		{0, 0, 2}, {13 * mib, 7 * mib, 2}, {51 * mib, 30 * mib, 3}, {410 * mib, 245 * mib, 12},
	} {
		o := Options{BlockCache: c.cache, WriteBuffers: c.buffers}
		if got := o.maxMerges(); got != c.want {
			t.Errorf("a cache of %d MiB and buffers of %d MiB: %d merges, expected %d", c.cache/mib, c.buffers/mib, got, c.want)
		}
	}
}
