package explorer

import (
	"encoding/hex"
	"strings"
	"time"

	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// What follows is made for reading: templates print it, tests look at it.

// link is a thing and where its page is; one without a URL is only named.
type link struct{ URL, Text string }

const (
	linkTail  = 6    // characters that are always seen
	linkShort = 16   // texts up to here are never shortened
	linkLong  = 1024 // what lists show of a longer text
)

// Head is what is seen of the text as far as there is room, Tail what is always seen. Together they are all of it, so that
// what is copied is whole.
func (l link) Head() string {
	text := l.shown()
	return text[:len(text)-len(l.Tail())]
}

// Tail is the end of a long text, as far as it is plain ASCII: a letter is not cut in two.
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

// amount is a number in a unit, in pieces: the zeros at its end are printed faint.
type amount struct {
	Sign, Whole     string
	Fraction, Zeros string // behind the point
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

// String is the amount in one piece.
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

// coarse is a large amount without what stands behind its point.
func (a amount) coarse() amount {
	if len(a.Whole) > len("999") {
		a.Fraction, a.Zeros = "", ""
	}
	return a
}

// moment is a time as machines, careful readers and hurried ones want it.
type moment struct {
	ISO, Clock, Ago string
	Minute          string // in UTC, which templates write after it
	Recent          bool   // its age says more than its date
}

func momentOf(unix int64, now time.Time) moment {
	t := time.Unix(unix, 0).UTC()
	return moment{
		ISO: t.Format(time.RFC3339), Clock: humanize.Clock(unix), Ago: humanize.Ago(unix, now),
		Minute: t.Format("2006-01-02 15:04"), Recent: now.Sub(t) < 48*time.Hour,
	}
}

// field is a line of a list of facts.
type field struct{ Name, Value string }

// Hex reports whether the value is a hash or a key.
func (f field) Hex() bool {
	_, err := hex.DecodeString(f.Value)
	return err == nil && len(f.Value) >= 16
}

// pager is the links around a part of a list. Empty ones are not there.
type pager struct {
	First, Newer, Older  string
	NewerText, OlderText string // empty: Newer, Older
	Here                 string // which part this is
}

// cursorPager pages through a list that goes on with a cursor: base is the path of its first part, with a query.
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

// at leads to a place of the page.
func (p pager) at(id string) pager {
	for _, url := range []*string{&p.First, &p.Newer, &p.Older} {
		if *url != "" {
			*url += "#" + id
		}
	}
	return p
}
