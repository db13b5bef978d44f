// Package suggest finds the known word closest to a misspelled one.
package suggest

import (
	"fmt"
	"maps"
	"slices"
)

// Hint returns a suffix for an error about an unknown word, with the closest key of known, or nothing.
func Hint[V any](word string, known map[string]V) string {
	if best, ok := Word(word, slices.Sorted(maps.Keys(known))); ok {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Word returns the word of known with the smallest edit distance to word, the first one on a tie. ok is false if the
// distance exceeds both 2 and a third of word's length.
func Word(word string, known []string) (best string, ok bool) {
	least := max(2, len(word)/3) + 1
	for _, k := range known {
		if d := distance(word, k); d < least && d < max(len(k), len(word)) {
			best, least, ok = k, d, true
		}
	}
	return best, ok
}

// distance returns the number of insertions, deletions, replacements and swaps of neighbouring bytes between a and b
// (optimal string alignment).
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
