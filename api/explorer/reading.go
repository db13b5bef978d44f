package explorer

import (
	"encoding/hex"
	"strings"
	"time"

	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// Values formatted for templates.

// link is a text with the URL of its page; URL can be empty.
type link struct{ URL, Text string }

const (
	linkTail  = 6    // characters that are always visible
	linkShort = 16   // longest text that is not shortened
	linkLong  = 1024 // characters of a longer text in lists
)

// Head is the part that the browser shortens to the available width; Tail is always visible. Together they are the whole
// text, so that copying works.
func (l link) Head() string {
	text := l.shown()
	return text[:len(text)-len(l.Tail())]
}

// Tail is the end of a long ASCII text.
func (l link) Tail() string {
	text := l.shown()
	if len(text) <= linkShort || l.Cut() {
		return ""
	}
	tail := text[len(text)-linkTail:]
	for i := range len(tail) {
		if tail[i] >= 0x80 {
			return ""
		}
	}
	return tail
}

// Cut reports whether the text is too long for a list.
func (l link) Cut() bool { return len(l.Text) > linkLong }

func (l link) shown() string {
	if l.Cut() {
		return strings.ToValidUTF8(l.Text[:linkLong], "")
	}
	return l.Text
}

// amount is a number in a unit, in parts: trailing zeros have a faint color.
type amount struct {
	Sign, Whole     string
	Fraction, Zeros string // after the decimal point
	Symbol          string
}

func amountOf(u humanize.Unit, n string) amount {
	sign, whole, fraction, ok := u.Parts(n)
	if !ok {
		return amount{Whole: n}
	}
	digits := strings.TrimRight(fraction, "0")
	return amount{sign, whole, digits, fraction[len(digits):], u.Symbol}
}

// Groups returns the digits before the decimal point in groups, between which a long amount can be broken.
func (a amount) Groups() []string { return strings.SplitAfter(a.Whole, ",") }

// String returns the whole amount.
func (a amount) String() string {
	text := a.Sign + a.Whole
	if a.Fraction != "" || a.Zeros != "" {
		text += "." + a.Fraction + a.Zeros
	}
	if a.Symbol != "" {
		text += " " + a.Symbol
	}
	return text
}

// coarse returns a large amount without decimals.
func (a amount) coarse() amount {
	if len(a.Whole) > len("999") {
		a.Fraction, a.Zeros = "", ""
	}
	return a
}

// moment is a time in several formats.
type moment struct {
	ISO, Clock, Ago string
	Minute          string // in UTC; templates append the zone
	Recent          bool   // show the age instead of the date
}

func momentOf(unix int64, now time.Time) moment {
	t := time.Unix(unix, 0).UTC()
	return moment{
		ISO: t.Format(time.RFC3339), Clock: humanize.Clock(unix), Ago: humanize.Ago(unix, now),
		Minute: t.Format("2006-01-02 15:04"), Recent: now.Sub(t) < 48*time.Hour,
	}
}

type field struct{ Name, Value string }

// Hex reports whether the value is a hash or a key.
func (f field) Hex() bool {
	_, err := hex.DecodeString(f.Value)
	return err == nil && len(f.Value) >= 16
}

// pager has the links to other pages of a list; empty: none.
type pager struct {
	First, Newer, Older  string
	NewerText, OlderText string // empty: Newer, Older
	Here                 string // range of this page
}

// cursorPager returns the pager of a list with cursors; base is the path of its first page.
func cursorPager(base string, p query.Page, next *string) pager {
	var pg pager
	if p.After != "" {
		pg.First = base
	}
	if next != nil {
		separator := "?"
		if strings.Contains(base, "?") {
			separator = "&"
		}
		pg.Older = base + separator + "after=" + *next
	}
	return pg
}

// at adds a fragment to the links.
func (p pager) at(id string) pager {
	for _, url := range []*string{&p.First, &p.Newer, &p.Older} {
		if *url != "" {
			*url += "#" + id
		}
	}
	return p
}
