package terminal

import (
	"slices"
	"strings"
	"testing"
)

func TestHashesAreShortenedToTheTerminal(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123456789abcdef", 4)
	table := func(width int) string {
		var b strings.Builder
		p := NewPage(&b, false, nil)
		p.Width = width
		Table(p, []string{hash + ":1", "short"}, []string{"n", "output", "empty", "note"}, func(i int, s string) Cells {
			return Cells{i, s, "", "a longer note"}
		})
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := "n  output" + strings.Repeat(" ", 60) + "  note\n0  " + hash + ":1  a longer note\n1  short" + strings.Repeat(" ", 61) + "  a longer note\n"
	for _, width := range []int{0, 84, 200} {
		if got := table(width); got != whole {
			t.Errorf("width %d:\n%s\nwant\n%s", width, got, whole)
		}
	}
	if got, want := table(40), "n  output                  note\n0  0123456789…789abcdef:1  a longer note\n1  short                   a longer note\n"; got != want {
		t.Errorf("width 40:\n%s\nwant\n%s", got, want)
	}
	var b strings.Builder
	p := NewPage(&b, false, nil)
	p.Width = 40
	p.Fields("hash", hash, "first seen", "block 9, "+hash)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "hash        " + hash + "\nfirst seen  block 9, 012345678…789abcdef\n"; b.String() != want {
		t.Errorf("fields:\n%s\nwant\n%s", b.String(), want)
	}
	if got := table(10); !strings.Contains(got, " 012345…abcdef:1 ") {
		t.Errorf("width 10:\n%s", got)
	}
}

// A table that is too wide with short hashes has times without seconds, and the units of amounts in its heading.
func TestWideTablesAreNarrowed(t *testing.T) {
	t.Parallel()
	rows := func() [][]Cell {
		return [][]Cell{
			{{text: "time"}, {text: "received"}, {text: "sent"}, {text: "other"}},
			{{text: "2009-01-09 03:54:39 UTC"}, {text: "50.00000000 BTC"}, {text: "-"}, {text: "1.5 A"}},
			{{text: ""}, {text: "1,040.00000000 BTC"}, {text: "50.00000000 BTC"}, {text: "2 B"}},
		}
	}
	got := rows()
	narrow(got)
	want := [][]Cell{
		{{text: "time UTC"}, {text: "received BTC"}, {text: "sent BTC"}, {text: "other"}},
		{{text: "2009-01-09 03:54"}, {text: "50.00000000"}, {text: "-"}, {text: "1.5 A"}},
		{{text: ""}, {text: "1,040.00000000"}, {text: "50.00000000"}, {text: "2 B"}},
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]Cell]) {
		t.Errorf("%v, expected %v", got, want)
	}
	var b strings.Builder
	p := NewPage(&b, false, nil)
	p.Width = 60
	Table(p, rows()[1:], []string{"time", "received", "sent", "other"}, func(_ int, r []Cell) Cells { return Cells{r[0], r[1], r[2], r[3]} })
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "time UTC          received BTC    sent BTC     other\n") {
		t.Errorf("width 60:\n%s", b.String())
	}
}
