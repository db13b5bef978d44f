package rocks

import "math/bits"

const (
	insertionSortMax = 24 // insertion sort is faster for up to this many records
	maxDigitBits     = 11 // with more bits, the buckets that a round writes to would not fit the processor's caches
)

// sortByPrefix sorts records by prefix. It is stable. spare is scratch space of the same length.
func sortByPrefix(records, spare []record) { radixSort(records, spare, true) }

// radixSort sorts from by its most significant differing bits first, into from if inPlace is set and into other if not.
// Bits that do not differ cost nothing; hashes take one or two rounds regardless of their number.
func radixSort(from, other []record, inPlace bool) {
	if len(from) <= insertionSortMax {
		insertionSort(from)
		if !inPlace {
			copy(other, from)
		}
		return
	}
	first, differ := from[0].prefix, uint64(0)
	for i := range from {
		differ |= from[i].prefix ^ first
	}
	if differ == 0 {
		if !inPlace {
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
			radixSort(other[begin:end], from[begin:end], !inPlace)
			begin = end
		}
	}
}

// insertionSort is stable and meant for few records.
func insertionSort(records []record) {
	for i := 1; i < len(records); i++ {
		r, j := records[i], i
		for ; j > 0 && records[j-1].prefix > r.prefix; j-- {
			records[j] = records[j-1]
		}
		records[j] = r
	}
}
