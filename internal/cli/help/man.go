package help

import (
	"fmt"
	"strings"
)

// Man returns the help as a man page in the format of man(7). Also names related pages.
func (p *Page) Man(version string, also ...string) string {
	var b strings.Builder
	name := strings.ReplaceAll(p.Name, " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"birthmark %s\" \"Birthmark\"\n", strings.ToUpper(roff(name)), roff(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(p.Usage))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(p.Synopsis))
	for i, paragraph := range p.Paragraphs {
		if i == 0 {
			b.WriteString(".SH DESCRIPTION\n")
		} else {
			b.WriteString(".PP\n")
		}
		listed := false
		for line := range strings.Lines(paragraph) {
			if strings.HasPrefix(line, " ") || listed {
				b.WriteString(".br\n")
			}
			listed = strings.HasPrefix(line, " ")
			b.WriteString(roffLine(strings.TrimSpace(line)))
		}
	}
	for i, g := range p.Groups {
		if i == 0 {
			b.WriteString(".SH COMMANDS\n")
		}
		if g.Name != "" {
			fmt.Fprintf(&b, ".SS %s\n", roff(g.Name))
		}
		for _, c := range g.Commands {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s", roff(c.Name), roffLine(c.Usage))
		}
	}
	b.WriteString(".SH OPTIONS\n")
	for _, f := range p.Flags {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s", roff(f.Text), roffLine(f.note(f.Values)))
	}
	if len(p.Examples) > 0 {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for _, example := range p.Examples {
			b.WriteString(roffLine(example))
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, s := range statuses {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s", s.status, roffLine(s.means))
	}
	for i, page := range also {
		if i == 0 {
			b.WriteString(".SH SEE ALSO\n")
		}
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(page), comma)
	}
	return b.String()
}

// statuses explains the exit statuses.
var statuses = []struct {
	status int
	means  string
}{
	{0, "success"},
	{1, "unknown hash or asset, or problems were found"},
	{2, "invalid usage or value"},
	{3, "the database refuses: wrong chain or network, newer format, damaged, locked by another process"},
	{4, "the source failed"},
	{5, "the machine failed: full disk, no permission, too many open files; repeat the command after mending it"},
}

// roff escapes text: hyphens of flags are not typographic hyphens.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
}

// roffLine returns a line of text. A first character that would begin a request is escaped.
func roffLine(text string) string {
	text = roff(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text + "\n"
}
