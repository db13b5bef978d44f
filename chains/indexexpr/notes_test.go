package indexexpr

import (
	"slices"
	"testing"

	"birthmark/model"
)

// An expression without a value has a note with the reason.
func TestNotesExplainWhatHasNoValue(t *testing.T) {
	for _, c := range []struct {
		value, when string
		want        Note
	}{
		{`json(output.registers).x`, "", Note{"json() expects bytes or text, got a map", 2}},
		{`json(output.pushes[9])`, "", Note{"json() got nil", 2}},
		{`json(output.data).x`, "", Note{"json() is nil: it returns " + functions["json"].doc, 2}},
		{`output.pushes[9]`, "", Note{noValue, 2}},
		{`output.data`, "output.value > 5000", Note{"the condition is not true", 2}},
	} {
		x, err := worldLanguage.Define(nil, []model.Definition{{Name: "own", Value: c.value, When: c.when}})
		if c.value == `json(output.registers).x` && err != nil {
			continue // known before it runs
		}
		if err != nil {
			t.Fatal(c.value, err)
		}
		notes := x.Explain()
		r := x.Bind([]string{"own"}, example(), func(Set) {})
		r.Block()
		r.Tx()
		for range 2 {
			r.Output()
			if keys := r.Keys(nil); len(keys) > 0 {
				t.Errorf("%s has the values %v", c.value, keys)
			}
		}
		if got := notes.List(); !slices.Contains(got, c.want) {
			t.Errorf("%s: %v, expected %v", c.value, got, c.want)
		}
	}
	m := &meter{left: budget, notes: &Notes{times: map[string]int{}}}
	if v, err := m.functions()["json"].call(map[string]any{"msg": 1}); v != nil || err != nil {
		t.Errorf("json of a map is %v, %v", v, err)
	}
	if got := m.notes.List(); !slices.Equal(got, []Note{{"json() expects bytes or text, got a map", 1}}) {
		t.Errorf("json of a map: %v", got)
	}
}
