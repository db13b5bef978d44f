package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"birthmark/internal/humanize"
	"birthmark/internal/progress"
	"birthmark/model"
)

// page prints an answer as text: fields, and tables with aligned columns.
type page struct {
	w      *bufio.Writer
	colour bool
	unit   humanize.Unit
	chain  model.Chain // nil if the answer has no chain
}

// style is an ANSI attribute for terminals with colour; 0 is plain.
type style int

const (
	plainStyle style = 0
	bold       style = 1
	faint      style = 2
	red        style = 31
	green      style = 32
	yellow     style = 33
)

// cell is a styled text in a table.
type cell struct {
	text  string
	style style
}

func text(s string) cell { return cell{text: s} }

// column is a column of a table; right aligns it to the right.
type column struct {
	name  string
	right bool
}

func (p *page) styled(s string, as style) string {
	if !p.colour || as == plainStyle || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", as, s)
}

// field is a line with a name and a value. Fields without a value are omitted.
type field struct {
	name  string
	value cell
}

func (p *page) fields(fields ...field) {
	width := 0
	for _, f := range fields {
		if f.value.text != "" {
			width = max(width, utf8.RuneCountInString(f.name))
		}
	}
	for _, f := range fields {
		if f.value.text != "" {
			p.printf("%s%s  %s\n", p.styled(f.name, bold), pad(f.name, width), p.styled(f.value.text, f.value.style))
		}
	}
}

// table prints rows under the column names; without rows it prints nothing.
func (p *page) table(columns []column, rows [][]cell) {
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.name)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	head := make([]cell, len(columns))
	for i, c := range columns {
		head[i] = cell{c.name, bold}
	}
	for _, row := range append([][]cell{head}, rows...) {
		var line strings.Builder
		for i, c := range row {
			space := pad(c.text, widths[i])
			if i > 0 {
				line.WriteString("  ")
			}
			if columns[i].right {
				line.WriteString(space)
			}
			line.WriteString(p.styled(c.text, c.style))
			if !columns[i].right {
				line.WriteString(space)
			}
		}
		p.printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

// heading prints a line above a table.
func (p *page) heading(s string) { p.printf("\n%s\n", p.styled(s, bold)) }

// more prints the flag for the next page.
func (p *page) more(next *string) {
	if next != nil {
		p.printf("\n%s --after %s\n", p.styled("there is more:", faint), *next)
	}
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

func pad(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// answer prints an answer: v as JSON, or the text that show prints.
func (p *program) answer(chain model.Chain, v any, show func(*page)) error {
	if p.json {
		return p.document(v)
	}
	pg := &page{w: bufio.NewWriter(p.stdout), colour: p.colourful(p.stdout), chain: chain}
	if chain != nil {
		pg.unit = humanize.UnitOf(chain)
	}
	show(pg)
	return pg.w.Flush()
}

// colourful reports whether w is a terminal and colour is not disabled (https://no-color.org).
func (p *program) colourful(w io.Writer) bool {
	if v, _ := p.lookup("NO_COLOR"); v != "" {
		return false
	}
	if v, _ := p.lookup("TERM"); v == "dumb" {
		return false
	}
	return progress.Terminal(w) != nil
}
