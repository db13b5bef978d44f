package distribution

import "slices"

// Sum sorts asset entries of several outputs and merges equal ones in place. amount returns the address of an entry's
// amount.
func Sum[E any](entries []E, compare func(a, b E) int, amount func(*E) *uint64) []E {
	slices.SortFunc(entries, compare)
	sums := entries[:0]
	for i := range entries {
		if n := len(sums); n > 0 && compare(sums[n-1], entries[i]) == 0 {
			*amount(&sums[n-1]) += *amount(&entries[i])
		} else {
			sums = append(sums, entries[i])
		}
	}
	return sums
}
