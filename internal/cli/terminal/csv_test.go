package terminal

import (
	"strings"
	"testing"
)

func TestCSVHasTheFieldsOfTheJSON(t *testing.T) {
	t.Parallel()
	type spender struct {
		Tx    string `json:"tx"`
		Input int    `json:"input"`
	}
	type optional struct{ Value *spender }
	type entry struct {
		Tx      string         `json:"tx"`
		Height  uint32         `json:"height,omitempty"`
		Keys    map[string]any `json:"keys"`
		Items   []spender      `json:"items,omitempty"`
		Next    *int           `json:"next"`
		SpentBy *optional      `json:"spent_by"`
		Hidden  string         `json:"-"`
	}
	seven := 7
	var b strings.Builder
	err := CSV(&b, []entry{
		{Tx: "a", Height: 1, Keys: map[string]any{"address": "x,y", "policy": []string{"p", "q"}}, Items: []spender{{"t", 2}}},
		{Tx: "b\"", Next: &seven, SpentBy: &optional{&spender{"c", 3}}, Hidden: "no"},
		{Tx: "d", SpentBy: &optional{}},
	}, []string{"address", "policy"})
	const want = `tx,height,keys.address,keys.policy,items,next,spent_by.tx,spent_by.input
a,1,"x,y",p q,"[{""tx"":""t"",""input"":2}]",,,
"b""",,,,,7,c,3
d,,,,,,,
`
	if err != nil || b.String() != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, b.String(), want)
	}
}

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
	if got := table(10); !strings.Contains(got, " 012345…abcdef:1 ") {
		t.Errorf("width 10:\n%s", got)
	}
}
