package rocks

import "math/bits"

const (
	insertionSortMax = 24 // so many are sorted faster by moving each to its place
	maxDigitBits     = 11 // bits; with more, the places that a round writes to would not stay in the processor's caches
)

// sortByPrefix sorts records by their prefix; those with the same stay in the order they had. spare is as long.
func sortByPrefix(records, spare []record) { radixSort(records, spare, true) }

// spread sorts from, by the highest bits in which its prefixes differ first, and leaves them in from where stay is set and
// in other if not. So bits that do not vary cost nothing, and hashes one or two rounds, whatever the number.
func radixSort(from, other []record, stay bool) {
	if len(from) <= insertionSortMax {
		insertionSort(from)
		if !stay {
			copy(other, from)
		}
		return
	}
	first, differ := from[0].prefix, uint64(0)
	for i := range from {
		differ |= from[i].prefix ^ first
	}
	if differ == 0 {
		if !stay {
			copy(other, from)
		}
		return
	}
	high := bits.Len64(differ)
	digit := min(high, maxDigitBits, max(4, bits.Len(uint(len(from)))-3))
	shift, mask := high-digit, uint64(1)<<digit-1

	var ends [1 << maxDigitBits]int32
	for i := range from {
		ends[from[i].prefix>>shift&mask]++
	}
	sum := int32(0)
	for d := range mask + 1 {
		n := ends[d]
		ends[d] = sum
		sum += n
	}
	for i := range from {
		d := from[i].prefix >> shift & mask
		other[ends[d]] = from[i]
		ends[d]++
	}
	begin := int32(0)
	for d := range mask + 1 {
		if end := ends[d]; end > begin {
			radixSort(other[begin:end], from[begin:end], !stay)
			begin = end
		}
	}
}

// insert sorts few records.
func insertionSort(records []record) {
	for i := 1; i < len(records); i++ {
		r, j := records[i], i
		for ; j > 0 && records[j-1].prefix > r.prefix; j-- {
			records[j] = records[j-1]
		}
		records[j] = r
	}
}
