package csvlist

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
	err := Write(&b, []entry{
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
