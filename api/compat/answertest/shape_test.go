package answertest_test

import (
	"slices"
	"testing"

	"birthmark/api/compat/answertest"
)

func TestSameShape(t *testing.T) {
	for _, c := range []struct {
		got, real string
		errors    []string
	}{
		{`{"a":1,"b":[{"c":"x"}]}`, `{"a":2.5,"b":[{"c":"y"},{"c":null}]}`, nil},
		{`{"a":1}`, `{"a":"1"}`, []string{"x: .a is a number, at the original a text"}},
		{`{}`, `{"a":1}`, []string{"x:  has no a"}},
		{`{"a":1,"b":2}`, `{"a":1}`, []string{"x:  has b, which the original does not have"}},
		{`[{"a":1},{"a":true}]`, `[{"a":1}]`, []string{"x: [].a is a boolean, at the original a number"}},
		{`{"open":{"R4":1}}`, `{"open":{"R5":2}}`, nil},
		{`{"open":{"R4":1}}`, `{"open":{"R5":"2"}}`, []string{"x: .open.* is a number, at the original a text"}},
		{`0e2d`, `00ff`, nil}, // plain texts
		{`7`, `00ff`, []string{"x:  is a number, at the original a text"}},
	} {
		f := &failing{TB: t}
		answertest.SameShape(f, "x", []byte(c.got), []byte(c.real), "open")
		if !slices.Equal(f.errors, c.errors) {
			t.Errorf("%s against %s: %q, expected %q", c.got, c.real, f.errors, c.errors)
		}
	}
}

func TestShapesWithValuesAndOptionalKeys(t *testing.T) {
	shape := answertest.Shape{Values: true, Optional: []string{"vin.hex"}, Differ: []string{"size"}}
	for _, c := range []struct {
		got, real string
		errors    []string
	}{
		{`{"vin":[{"hex":"00","n":1}],"size":1}`, `{"vin":[{"n":1}],"size":2}`, nil},
		{`{"vin":[{"n":1}]}`, `{"vin":[{"hex":"00","n":1}]}`, nil},
		{`{"hex":"00"}`, `{}`, []string{"x:  has hex, which the original does not have"}}, // of no input
		{`{"n":1}`, `{"n":2}`, []string{"x: .n is 1, at the original 2"}},
		{`["a","b"]`, `["b","a"]`, []string{"x: [] is a, at the original b", "x: [] is b, at the original a"}},
		{`["a"]`, `[]`, []string{"x:  has 1 members, at the original 0"}},
		{`{"size":[1,2]}`, `{"size":[3]}`, nil},
		{`{"size":"1"}`, `{"size":1}`, []string{"x: .size is a text, at the original a number"}},
	} {
		f := &failing{TB: t}
		shape.Compare(f, "x", []byte(c.got), []byte(c.real))
		if !slices.Equal(f.errors, c.errors) {
			t.Errorf("%s against %s: %q, expected %q", c.got, c.real, f.errors, c.errors)
		}
	}
}
