package details

import (
	"encoding/json"
	"strings"
	"testing"
)

// treeOf returns the texts of a tree, a line per node.
func treeOf(n *Node, indent string) string {
	s := indent + n.Name + ": " + n.Text + "\n"
	for i := range n.Items {
		s += treeOf(&n.Items[i], indent+" ")
	}
	return s
}

func TestValuesAreTrees(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"constructor":1,"fields":[{"constructor":0,"fields":[]},{"int":5},{"bytes":"68656c6c6f"},{"bytes":""},{"list":[]}]}`,
			": constructor 1, 5 values\n 0: constructor 0\n 1: 5\n 2: 68656c6c6f “hello”\n 3: empty bytes\n 4: empty list\n"},
		{`{"map":[{"k":{"int":2},"v":{"int":7}},{"k":{"list":[{"int":1}]},"v":{"bytes":"00ff"}}]}`,
			": map, 2 values\n 2: 7\n 1: list, 2 values\n  0: list, 1 value\n   0: 1\n  1: 00ff\n"},
		{`{"b":["x",null,true],"10":-5,"9":{"int":"text"}}`,
			": map, 3 values\n 9: map, 1 value\n  int: text\n 10: -5\n b: list, 3 values\n  0: x\n  1: null\n  2: true\n"},
		{`{"constructor":1,"fields":"none"}`, ": map, 2 values\n constructor: 1\n fields: none\n"},
		{`{"map":[{"k":1}]}`, ": map, 1 value\n map: list, 1 value\n  0: map, 1 value\n   k: 1\n"},
	} {
		d := json.NewDecoder(strings.NewReader(c.json))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		fields := New(Links{}).Tree(nil, "value", v)
		if len(fields) != 1 || fields[0].Tree == nil {
			t.Errorf("%s: %+v", c.json, fields)
			continue
		}
		if got := treeOf(fields[0].Tree, ""); got != c.want {
			t.Errorf("%s:\n%s, expected\n%s", c.json, got, c.want)
		}
	}
	for _, c := range []struct {
		value any
		want  string
	}{{"text", "text"}, {json.Number("7"), "7"}, {nil, "null"}, {[]any{}, "empty list"}, {map[string]any{"int": json.Number("3")}, "3"}} {
		if fields := New(Links{}).Tree(nil, "value", c.value); len(fields) != 1 || fields[0].Tree != nil || fields[0].Text != c.want {
			t.Errorf("%v: %+v", c.value, fields)
		}
	}
}

// A tree takes at most its room on the page, whatever the value is: wide, deep, or both.
func TestTreesAreBounded(t *testing.T) {
	wide, long := make([]any, 100_000), strings.Repeat("ab", 3000)
	for i := range wide {
		wide[i] = map[string]any{"bytes": long}
	}
	deep, both := any("x"), any("x")
	for range 20_000 {
		deep = []any{deep}
	}
	for range 200 {
		both = map[string]any{"map": []any{map[string]any{"k": both, "v": wide[:3]}, map[string]any{"k": "y", "v": []any{both, wide}}}}
	}
	for name, v := range map[string]any{"wide": wide, "deep": deep, "both": both, "long name": map[string]any{strings.Repeat("n", 1<<20): []any{1}}} {
		d := New(Links{})
		var fields []Field
		for range 10 {
			fields = d.Tree(fields, "value", v)
		}
		size := 0
		for _, f := range fields {
			size += len(f.Name) + len(f.Text)
			if f.Tree != nil {
				size += len(treeOf(f.Tree, "")) + strings.Count(treeOf(f.Tree, ""), "\n")*nodeRoom
			}
		}
		if size > 2*room {
			t.Errorf("%s: %d characters", name, size)
		}
		last, text := fields[len(fields)-1], ""
		if text = last.Name; last.Tree != nil {
			text = treeOf(last.Tree, "")
		}
		if !strings.Contains(text, "more") && !strings.Contains(text, "…") {
			t.Errorf("%s: the page does not state that there is more", name)
		}
	}
}
