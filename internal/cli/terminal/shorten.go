package terminal

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	gap       = 2  // characters between columns
	minLength = 13 // of a shortened word
)

// long matches hashes, addresses and ids, also in references to outputs, and long names, which have no digits.
var long = regexp.MustCompile(`\b[0-9A-Za-z_]{24,}\b`)

// shorten shortens hashes, addresses and ids in the middle, all to the same length, so that rows fit a width if possible.
func shorten(rows [][]Cell, width int) {
	length := 0
	for _, row := range rows {
		for _, c := range row {
			for _, word := range long.FindAllString(c.text, -1) {
				length = max(length, len(word))
			}
		}
	}
	if length <= minLength || widthOf(rows, length) <= width {
		return
	}
	for length > minLength && widthOf(rows, length) > width {
		length--
	}
	for _, row := range rows {
		for i := range row {
			row[i].text = shortened(row[i].text, length)
		}
	}
}

// widthOf returns the width of a table with words of at most a length.
func widthOf(rows [][]Cell, length int) int {
	total := -gap
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, utf8.RuneCountInString(shortened(row[i].text, length)))
		}
		total += gap + widest
	}
	return total
}

// shortened returns a text with words of at most a length: the beginning and the end of each.
func shortened(text string, length int) string {
	return long.ReplaceAllStringFunc(text, func(word string) string {
		if len(word) <= length || !strings.ContainsAny(word, "0123456789") {
			return word
		}
		end := (length - 1) / 2
		return word[:length-1-end] + "…" + word[len(word)-end:]
	})
}
