package help

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	margin    = 3
	nameWidth = 26 // of the names of flags and commands; longer names have a line of their own
)

// Print writes the help as text with lines of at most width characters, except for words that are longer.
func (p *Page) Print(w io.Writer, width int) error {
	t := &text{width: width}
	t.lines(p.Synopsis, 0, margin)
	t.WriteByte('\n')
	t.lines(p.Usage, margin, margin)
	for _, paragraph := range p.Paragraphs {
		t.WriteByte('\n')
		t.paragraph(paragraph)
	}
	if len(p.Groups) > 0 {
		t.WriteString("\nCOMMANDS:\n")
	}
	for i, g := range p.Groups {
		if g.Name != "" && i > 0 {
			t.WriteByte('\n')
		}
		if g.Name != "" {
			t.lines(g.Name+":", margin, margin)
		}
		var names, usages []string
		for _, c := range g.Commands {
			names, usages = append(names, c.Name), append(usages, c.Usage)
		}
		t.pairs(names, usages)
	}
	for _, group := range []struct {
		title    string
		database bool
	}{{"FLAGS", false}, {"DATABASE FLAGS", true}} {
		var names, usages []string
		for _, f := range p.Flags {
			values := ""
			if f.Topic != "" {
				values = "birthmark help " + f.Topic
			}
			if f.Database == group.database {
				names, usages = append(names, f.Text), append(usages, f.note(values))
			}
		}
		if len(names) > 0 {
			t.WriteString("\n" + group.title + ":\n")
			t.pairs(names, usages)
		}
	}
	if len(p.Examples) > 0 {
		t.WriteString("\nEXAMPLES:\n")
	}
	for _, example := range p.Examples {
		t.example(example)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// text is wrapped text.
type text struct {
	strings.Builder
	width int
}

// lines writes words between an indentation of the first line and one of the following lines, and the width.
func (t *text) lines(words string, first, next int) {
	t.WriteString(strings.Repeat(" ", first))
	t.words(words, first, next, "")
}

// words continues a line at a column. Lines that continue end with more.
func (t *text) words(words string, column, next int, more string) {
	began := false
	for word := range strings.FieldsSeq(words) {
		n := utf8.RuneCountInString(word)
		if began && column+1+n+len(more) > t.width {
			t.WriteString(more + "\n" + strings.Repeat(" ", next))
			column, began = next, false
		}
		if began {
			t.WriteByte(' ')
			column++
		}
		t.WriteString(word)
		column, began = column+n, true
	}
	t.WriteByte('\n')
}

// paragraph writes a paragraph. Lines that begin with a space are list entries: each stays on a line of its own.
func (t *text) paragraph(paragraph string) {
	var words []string
	flush := func() {
		if len(words) > 0 {
			t.lines(strings.Join(words, " "), margin, margin)
		}
		words = nil
	}
	for line := range strings.Lines(paragraph) {
		entry := strings.TrimLeft(line, " ")
		if indent := len(line) - len(entry); indent > 0 {
			flush()
			t.lines(entry, margin+indent, margin+2*indent)
		} else {
			words = append(words, strings.TrimSpace(line))
		}
	}
	flush()
}

// pairs writes names and their descriptions in two columns.
func (t *text) pairs(names, descriptions []string) {
	column := 0
	for _, name := range names {
		if n := utf8.RuneCountInString(name); n <= min(nameWidth, t.width/2) {
			column = max(column, n)
		}
	}
	for i, name := range names {
		at := margin + column + 2
		pad := column - utf8.RuneCountInString(name)
		if pad < 0 {
			fmt.Fprintf(t, "%*s%s\n%*s", margin, "", name, at, "")
		} else {
			fmt.Fprintf(t, "%*s%s%*s", margin, "", name, pad+2, "")
		}
		t.words(descriptions[i], at, at, "")
	}
}

// example writes a command line so that it can be copied: a line that continues ends with a backslash.
func (t *text) example(line string) {
	t.WriteString(strings.Repeat(" ", margin))
	t.words(line, margin, 2*margin, " \\")
}
