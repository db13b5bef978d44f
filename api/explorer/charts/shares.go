package charts

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Shares is a stacked bar with a table of its parts.
type Shares struct {
	ID    string // unique on its page: letters, digits and hyphens
	Title string
	Name  string // heads the column of names
	Value string // heads the column of values
	Parts []Part // largest first
}

// Part is one share.
type Part struct {
	Name, Link string
	Value      string  // in the table
	Size       float64 // in any unit; negative: 0
	Rest       bool    // all others together
}

// part is the data of the template.
type part struct {
	Part
	Number         string // empty: Rest
	Class          string
	X, Width, Text string // in percent of the bar
	Shown          bool   // the number fits
	Percent        string
	Head, Tail     string // of the name; the browser shortens the head
}

const (
	shortName = 16 // bytes; longest name that is not split
	tailSize  = 6
)

// HTML returns the shares as a figure element.
func (s *Shares) HTML() (template.HTML, error) {
	whole := 0.0
	for _, p := range s.Parts {
		whole += max(0, p.Size)
	}
	f := struct {
		*Shares
		Parts []part
	}{Shares: s}
	at := 0.0
	for i, p := range s.Parts {
		size := max(0, p.Size)
		v := part{Part: p, Percent: "0%"}
		if v.Class = "s" + strconv.Itoa(min(i, 7)); p.Rest {
			v.Class = "rest"
		} else {
			v.Number = strconv.Itoa(i + 1)
		}
		v.Head = p.Name
		if n := len(p.Name) - tailSize; len(p.Name) > shortName && !p.Rest && strings.IndexFunc(p.Name, notPlain) < 0 {
			v.Head, v.Tail = p.Name[:n], p.Name[n:]
		}
		if whole > 0 {
			width := size / whole * 100
			v.X, v.Width, v.Text = percent(at), percent(width), percent(at+width/2)
			v.Shown, v.Percent = width >= 4 && !p.Rest, Share(width)
			at += width
		}
		f.Parts = append(f.Parts, v)
	}
	return execute("shares", f)
}

// notPlain reports whether a character has more than one byte.
func notPlain(r rune) bool { return r >= utf8.RuneSelf }

func percent(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "%" }

// Share formats a percentage; a small share is not 0%, and a share below the whole is not 100%.
func Share(v float64) string {
	switch {
	case v <= 0:
		return "0%"
	case v < 0.01:
		return "< 0.01%"
	case v < 100 && v > 99.99:
		return "> 99.99%"
	case v < 10:
		return fmt.Sprintf("%.2f%%", v)
	}
	return fmt.Sprintf("%.1f%%", v)
}

// Bar returns a bar of length value/most for a table.
func Bar(value, most float64) template.HTML {
	part := 0.0
	if most > 0 {
		part = math.Min(100, math.Max(0, value/most*100))
	}
	if part > 0 {
		part = math.Max(part, 0.5)
	}
	return template.HTML(`<svg class="gauge" width="100%" height="8" aria-hidden="true"><rect width="100%" height="8" rx="2"/><rect class="of" width="` + percent(part) + `" height="8" rx="2"/></svg>`)
}
