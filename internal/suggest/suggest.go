// Package suggest finds the known word closest to a misspelled one.
package suggest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// Hint returns a suffix for an error about an unknown word, with the closest key of known, or nothing.
func Hint[V any](word string, known map[string]V) string {
	if best, ok := Word(word, slices.Sorted(maps.Keys(known))); ok {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Name returns a suffix for an error about an unknown name, with the name of known that it can mean, or nothing. A name
// can be shortened, and in upper case.
func Name(word string, known []string) string {
	word = strings.ToLower(word)
	best, ok := Word(word, known)
	for _, k := range known {
		if k == word || !ok && len(word) > 2 && strings.HasPrefix(k, word) {
			best, ok = k, true
		}
	}
	if !ok {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// Word returns the word of known with the smallest Levenshtein distance to word, the first one on a tie. ok is false if the
// distance exceeds both 2 and a third of word's length.
func Word(word string, known []string) (best string, ok bool) {
	least := max(2, len(word)/3) + 1
	for _, k := range known {
		if d := smetrics.WagnerFischer(word, k, 1, 1, 1); d < least && d < max(len(k), len(word)) {
			best, least, ok = k, d, true
		}
	}
	return best, ok
}
