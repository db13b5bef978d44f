package explorer

import (
	"regexp"
	"strings"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
)

type (
	amount = format.Amount
	moment = format.Moment

	syncing = format.Syncing
	failed  = format.Failed
)

var (
	amountOf = format.AmountOf
	momentOf = format.MomentOf

	syncingOf = format.SyncingOf
	failedOf  = format.FailedOf
)

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
	text := l.Shown()
	return text[:len(text)-len(l.Tail())]
}

// Tail is the end of a long ASCII text.
func (l link) Tail() string {
	text := l.Shown()
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

// Shown is the text, at most its first 1,024 bytes.
func (l link) Shown() string {
	if l.Cut() {
		return strings.ToValidUTF8(l.Text[:linkLong], "")
	}
	return l.Text
}

type field struct{ Name, Value, URL, Label string } // URL and Label can be empty

// key matches hashes, keys and ids.
var key = regexp.MustCompile(`^\w*[a-z]\w*$`)

// Key reports whether the value is a hash, a key or an id, which are worth copying.
func (f field) Key() bool { return len(f.Value) >= 16 && key.MatchString(f.Value) }

// pager has the links to other pages of a list; empty: none.
type pager struct {
	First, Newer, Older  string
	NewerText, OlderText string // empty: Newer, Older
	Here                 string // range of this page
	Label                string // of the navigation; empty: Pages of the list
}

// cursorPager returns the pager of a list with cursors; base is the path of its first page.
func cursorPager(base string, p query.Page, next *string) pager {
	var pg pager
	if p.After != "" {
		pg.First = base
	}
	if next != nil {
		pg.Older = withQuery(base, "after="+*next)
	}
	return pg
}

// withQuery adds a parameter to a path, which may have a query.
func withQuery(path, parameter string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameter
	}
	return path + "?" + parameter
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
