package csvlist

import (
	"reflect"
	"strings"
	"testing"
)

// written returns a list as CSV.
func written[E any](t *testing.T, entries []E, o Options) string {
	t.Helper()
	var b strings.Builder
	w, err := New(&b, reflect.TypeFor[E](), o)
	for _, e := range entries {
		if err == nil {
			err = w.Write(&e)
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

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
	got := written(t, []entry{
		{Tx: "a", Height: 1, Keys: map[string]any{"address": "x,y", "policy": []string{"p", "q"}}, Items: []spender{{"t", 2}}},
		{Tx: "b\"", Next: &seven, SpentBy: &optional{&spender{"c", 3}}, Hidden: "no"},
		{Tx: "d", SpentBy: &optional{}},
	}, Options{Keys: []string{"address", "policy"}})
	const want = `tx,height,keys.address,keys.policy,items,next,spent_by.tx,spent_by.input
a,1,"x,y",p q,"[{""tx"":""t"",""input"":2}]",,,
"b""",,,,,7,c,3
d,,,,,,,
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

type asset struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount" csv:"amount"`
}

// Details is embedded in entries.
type Details struct {
	Script string `json:"script"`
}

type payment struct {
	Value    string  `json:"value" csv:"amount"`
	Time     int64   `json:"time,omitempty" csv:"time"`
	Assets   []asset `json:"assets,omitempty"`
	*Details `csv:"-"`
}

// Amounts are in units and times are dates, unless the raw values are requested. The entries do not change.
func TestAmountsAreInUnitsAndTimesAreDates(t *testing.T) {
	t.Parallel()
	list := []payment{
		{Value: "-123456789012", Time: 1231731025, Assets: []asset{{"a", "1500"}, {"b", "7"}}, Details: &Details{"00"}},
		{Value: "5"}, {Value: "170141183460469231731687303715884105727", Time: -1},
	}
	o := Options{Coin: 8, Decimals: func(id string) int { return map[string]int{"a": 3}[id] }}
	const inUnits = `value,time,assets
-1234.56789012,2009-01-12T03:30:25Z,"[{""asset"":""a"",""amount"":""1.500""},{""asset"":""b"",""amount"":""7""}]"
0.00000005,,
1701411834604692317316873037158.84105727,1969-12-31T23:59:59Z,
`
	if got := written(t, list, o); got != inUnits {
		t.Errorf("got\n%s\nwant\n%s", got, inUnits)
	}
	o.Raw = true
	const raw = `value,time,assets
-123456789012,1231731025,"[{""asset"":""a"",""amount"":""1500""},{""asset"":""b"",""amount"":""7""}]"
5,,
170141183460469231731687303715884105727,-1,
`
	if got := written(t, list, o); got != raw {
		t.Errorf("got\n%s\nwant\n%s", got, raw)
	}
	if got := written(t, list[1:2], Options{NoAssets: true, Asset: "a", Decimals: o.Decimals}); got != "value,time\n0.005,\n" {
		t.Errorf("amounts of the asset of the list, without assets: got\n%s", got)
	}
}
