package terminal

import (
	"regexp"
	"slices"
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

// clock matches a time with its seconds, and withUnit an amount with its unit.
var (
	clock    = regexp.MustCompile(`^(\d{4}-\d\d-\d\d \d\d:\d\d):\d\d UTC$`)
	withUnit = regexp.MustCompile(`^(-?[\d.,]+) ([A-Za-z]+)$`)
)

// narrow shortens the columns of a table in which every value is a time, to minutes, or an amount in the same unit,
// which moves to the name of the column.
func narrow(rows [][]Cell) {
	for i := range rows[0] {
		suffix := ""
		fits := func(text string) bool { return text == "" || text == "-" }
		for _, row := range rows[1:] {
			if clock.MatchString(row[i].text) {
				suffix = "UTC"
				fits = func(text string) bool { return clock.MatchString(text) || text == "" || text == "-" }
			} else if m := withUnit.FindStringSubmatch(row[i].text); m != nil {
				suffix = m[2]
				fits = func(text string) bool { return strings.HasSuffix(text, " "+suffix) || text == "" || text == "-" }
			}
			if suffix != "" {
				break
			}
		}
		if suffix == "" || slices.ContainsFunc(rows[1:], func(row []Cell) bool { return !fits(row[i].text) }) {
			continue
		}
		rows[0][i].text += " " + suffix
		for _, row := range rows[1:] {
			row[i].text = withUnit.ReplaceAllString(clock.ReplaceAllString(row[i].text, "$1"), "$1")
		}
	}
}
