// Package terminal prints answers as text: fields, and tables with aligned columns.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"birthmark/internal/humanize"
	"birthmark/model"
)

// Page is an answer as text. It is written when it is flushed.
type Page struct {
	*bufio.Writer
	Chain model.Chain // nil if the answer has no chain
	Width int         // of the terminal: hashes in wider tables are shortened; 0: never

	// Asset returns the name and the decimals of an asset; nil: unknown.
	Asset func(id string) Asset

	colour bool
}

// NewPage returns an empty page.
func NewPage(w io.Writer, colour bool, chain model.Chain) *Page {
	return &Page{Writer: bufio.NewWriterSize(w, 64<<10), Chain: chain, colour: colour}
}

// Printf prints text without a style.
func (p *Page) Printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// Fields prints a line per pair of a name, which is a string, and a value. Empty values are omitted. [Cells] explains
// values. Hashes are shortened to the width if the value has other words too.
func (p *Page) Fields(pairs ...any) {
	width := 0
	for pair := range slices.Chunk(pairs, 2) {
		if cellOf(pair[1]).text != "" {
			width = max(width, utf8.RuneCountInString(pair[0].(string)))
		}
	}
	for pair := range slices.Chunk(pairs, 2) {
		if value := cellOf(pair[1]); value.text != "" {
			name := Bold(pair[0])
			if p.Width > 0 && strings.Contains(value.text, " ") {
				line := []Cell{{text: strings.Repeat(" ", width)}, value}
				shorten([][]Cell{line}, p.Width)
				value = line[1]
			}
			p.Printf("%s%s  %s\n", p.Styled(name), name.pad(width), p.Styled(value))
		}
	}
}

// Table prints the names of the columns and a row per item. It prints nothing without items.
func Table[T any](p *Page, items []T, columns []string, row func(i int, item T) Cells) {
	if len(items) == 0 {
		return
	}
	rows := make([][]Cell, len(items)+1)
	for _, name := range columns {
		rows[0] = append(rows[0], Bold(name))
	}
	for i, item := range items {
		for _, v := range row(i, item) {
			rows[i+1] = append(rows[i+1], cellOf(v))
		}
	}
	rows = withoutEmptyColumns(rows)
	if p.Width > 0 {
		if widthOf(rows, minLength) > p.Width {
			narrow(rows)
		}
		shorten(rows, p.Width)
	}
	widths, right := make([]int, len(rows[0])), make([]bool, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
			right[i] = right[i] || c.right
		}
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			if cells[i] = p.Styled(c) + c.pad(widths[i]); right[i] {
				cells[i] = c.pad(widths[i]) + p.Styled(c)
			}
		}
		p.Printf("%s\n", strings.TrimRight(strings.Join(cells, "  "), " "))
	}
}

// withoutEmptyColumns removes columns that are empty in all rows but the first.
func withoutEmptyColumns(rows [][]Cell) [][]Cell {
	for i := len(rows[0]) - 1; i >= 0; i-- {
		if slices.ContainsFunc(rows[1:], func(row []Cell) bool { return row[i].text != "" }) {
			continue
		}
		for j := range rows {
			rows[j] = slices.Delete(rows[j], i, i+1)
		}
	}
	return rows
}

// Heading prints a line above a table.
func (p *Page) Heading(text string) { p.Printf("\n%s\n", p.Styled(Bold(text))) }

// IfNone prints text in place of a table with n = 0 rows.
func (p *Page) IfNone(n int, text string) {
	if n == 0 {
		p.Printf("%s\n", text)
	}
}

// More prints the flag for the next page.
func (p *Page) More(next *string) {
	if next != nil {
		p.Printf("\n%s --after %s\n", p.Styled(Faint("there is more:")), *next)
	}
}

// Asset describes an asset.
type Asset struct {
	Name     string // not verified; empty: none
	Decimals int
}

// AssetAmount returns an amount of an asset with its decimals.
func (p *Page) AssetAmount(id, amount string) Cell {
	if p.Asset == nil {
		return Number(amount)
	}
	return Right(humanize.Unit{Decimals: p.Asset(id).Decimals}.Amount(amount))
}

// AssetName returns the name of an asset, empty if it is unknown.
func (p *Page) AssetName(id string) string {
	if p.Asset == nil {
		return ""
	}
	return Foreign(p.Asset(id).Name)
}

// Amount returns an amount of the chain's coin with its unit.
func (p *Page) Amount(n string) string {
	if p.Chain == nil {
		return humanize.Thousands(n)
	}
	return humanize.UnitOf(p.Chain).Amount(n)
}
