package indexexpr

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"birthmark/model"
)

// run returns a run of one definition over w, whose fields are all filled.
func run(t testing.TB, w *world, d model.Definition) *Run {
	t.Helper()
	d.Name = "own"
	x, err := worldLanguage.Define(nil, []model.Definition{d})
	if err != nil {
		t.Fatal(err)
	}
	return x.Bind([]string{"own"}, w, func(Set) {})
}

// The author of a transaction determines the number of loop steps: the loop ends, the index has no values in the rest
// of that transaction, and works again in the next.
func TestWorkIsBoundedInEveryTransaction(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 1<<20)
	for _, value := range []string{
		`any(tx.inputs, any(tx.inputs, any(tx.inputs, .number == -1)))`,
		`count(tx.inputs, # != nil and sum(tx.inputs, .number) == 1 and count(tx.inputs, .number == 3) > 0)`,
		`len(join(map(tx.inputs, hex(.script))))`,
		`len(flatten(map(tx.inputs, map(tx.inputs, .number))))`,
		`count(tx.inputs, sha256(.script) == "x")`,
		`count(tx.inputs, .script matches "x*y")`,
		`count(tx.inputs, .script contains "y")`,
		`count(tx.inputs, len(split(.script, "x")) > 0)`,
		`count(tx.inputs, replace(text(.script), "x", "yyyyyyyyyyyyyyyyyyyyyyyy") == "")`,
		`count(tx.inputs, trim(text(.script), text(.script)) == "a")`,
		`count(tx.inputs, .script + .script + .script + .script == "a")`,
		`count(tx.inputs, json(.script) == 5)`,
		`count(tx.inputs, lower(.script) == upper(.script))`,
		`count(tx.inputs, .script in output.pushes)`,
	} {
		w := example()
		for range 2000 {
			w.Tx.Inputs = append(w.Tx.Inputs, &worldInput{Script: long})
		}
		w.Output.Pushes = make([][]byte, 50_000)
		r := run(t, w, model.Definition{Value: value})
		r.Block()
		r.Tx()
		for i := range 3 {
			r.Output()
			if got := r.Keys(nil); len(got) > 0 {
				t.Errorf("%s: output %d: %v", value, i, got)
			}
		}
		if left := r.programs[0].meter.left; left >= 0 {
			t.Errorf("%s: has %d left", value, left)
			continue
		}
		w.Tx.Inputs, w.Output.Pushes = example().Tx.Inputs, nil
		r.Tx()
		r.Output()
		if got := r.Keys(nil); len(got) != 1 {
			t.Errorf("%s: in the next transaction: %v", value, got)
		}
	}
}

// A value that exceeds the maximum length is found by the whole value, and its shown form parses to itself.
func TestLongValuesAreFoundByFullValue(t *testing.T) {
	for _, size := range []int{model.MaxValueSize - 1, model.MaxValueSize, model.MaxValueSize + 1, 100_000} {
		for _, letter := range []string{"a", "é", "€"} {
			text := strings.Repeat(letter, size/len(letter)+1)
			w := example()
			w.Output.Data, w.Output.Address = []byte(text), text
			for _, value := range []string{"output.data", "output.address"} {
				x, err := worldLanguage.Define(nil, []model.Definition{{Name: "own", Value: value}})
				if err != nil {
					t.Fatal(err)
				}
				index := x.Indexes()[0]
				whole := text
				if value == "output.data" {
					whole = fmt.Sprintf("%x", text)
				}
				want, err := index.Parse(whole)
				if err != nil || len(want) > model.MaxValueSize || (len(text) <= model.MaxValueSize) != (string(want) == text) {
					t.Fatalf("%s of %d bytes is stored as %d: %v", value, len(text), len(want), err)
				}
				if again, err := index.Parse(index.Format(want)); err != nil || string(again) != string(want) {
					t.Errorf("%s of %d bytes: the formatted value does not parse to the same value: %v", value, len(text), err)
				}
				r := x.Bind([]string{"own"}, w, func(Set) {})
				r.Block()
				r.Tx()
				r.Output()
				if keys := r.Keys(nil); len(keys) != 1 || string(keys[0].Value) != string(want) {
					t.Errorf("%s of %d bytes is not found by the complete value", value, len(text))
				}
			}
		}
	}
}

func TestAnOutputHasAsManyValuesAsBirthsHaveNumbers(t *testing.T) {
	w := example()
	w.Output.Pushes = nil
	for i := range maxValues + 10 {
		w.Output.Pushes = append(w.Output.Pushes, fmt.Append(nil, i), fmt.Append(nil, i/2))
	}
	r := run(t, w, model.Definition{Value: "output.pushes", Kind: model.ManyValued})
	r.Block()
	r.Tx()
	r.Output()
	keys := r.Keys(nil)
	seen := map[string]bool{}
	for _, k := range keys {
		seen[string(k.Value)] = true
	}
	if len(keys) != maxValues || len(seen) != maxValues {
		t.Errorf("%d values, %d different ones, expected %d", len(keys), len(seen), maxValues)
	}
}

// Each output of a transaction can have the values of the transaction.
func TestValuesOfATransactionAreBounded(t *testing.T) {
	long := bytes.Repeat([]byte("x"), model.MaxValueSize)
	w := example()
	w.Tx.Inputs = nil
	for i := range 2000 {
		w.Tx.Inputs = append(w.Tx.Inputs, &worldInput{Script: fmt.Append(nil, i)})
	}
	w.Output.Data = long
	for _, d := range []model.Definition{
		{Value: "map(tx.inputs, .script)", Kind: model.ManyValued},
		{Value: "output.data"},
		{Value: "output.data + 'y'"},
	} {
		r := run(t, w, d)
		r.Block()
		r.Tx()
		values, size := 0, 0
		outputs := func(n int) {
			for range n {
				r.Output()
				for _, k := range r.Keys(nil) {
					values++
					size += len(k.Value)
				}
			}
		}
		outputs(3000)
		if values == 0 || values > 1<<19 || size > 32<<20 {
			t.Errorf("%s: %d values of %d bytes", d.Value, values, size)
		}
		before := values
		if outputs(10); values > before {
			t.Errorf("%s: it continues after the budget is used up", d.Value)
		}
		r.Tx()
		if outputs(1); values == before {
			t.Errorf("%s: the next transaction has no values", d.Value)
		}
	}
}

// If an index of the chain comes after a custom one, the keys of an output are sorted in the order of both.
func TestKeysAreInTheOrderOfTheirIndexes(t *testing.T) {
	x, err := worldLanguage.Define(nil, []model.Definition{{Name: "own", Value: "output.value"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"own", "chains", "other"}, {"chains", "own", "other"}, {"chains", "other", "own"}} {
		r := x.Bind(names, example(), func(Set) {})
		r.Block()
		r.Tx()
		r.Output()
		var keys []model.Key
		for i, name := range names {
			if name != "own" {
				keys = append(keys, model.Key{Index: i, Value: []byte(name)})
			}
		}
		keys = r.Keys(keys)
		r.InOrder(keys)
		for i, k := range keys {
			if k.Index != i || names[i] != "own" && string(k.Value) != names[i] {
				t.Errorf("%v: the keys are %v", names, keys)
			}
		}
	}
}

func TestValuesBelongToTheirBlock(t *testing.T) {
	w := example()
	r := run(t, w, model.Definition{Value: "output.data"})
	var kept []model.Key
	var want []string
	for i := range 300 {
		if i%100 == 0 {
			r.Block()
		}
		w.Output.Data = bytes.Repeat([]byte{byte(i)}, 1+i*7)
		r.Tx()
		r.Output()
		kept, want = r.Keys(kept), append(want, string(w.Output.Data))
	}
	for i, k := range kept {
		if string(k.Value) != want[i] {
			t.Fatalf("value %d was overwritten", i)
		}
	}
}

func TestNamesOfIndexes(t *testing.T) {
	offered := []model.Index{{Name: "address"}}
	for name, want := range map[string]string{
		"memo": "", "a": "", "a_1": "", strings.Repeat("a", maxName): "",
		"":                               "invalid name: expected at most",
		"Memo":                           "invalid name: expected at most",
		"1st":                            "invalid name: expected at most",
		"me-mo":                          "invalid name: expected at most",
		"_memo":                          "invalid name: expected at most",
		strings.Repeat("a", maxName+1):   "invalid name: expected at most",
		"mémo":                           "invalid name: expected at most",
		"address":                        "world has a built-in index of that name",
		"asset":                          "the name is reserved",
		"asset_id":                       "the name is reserved",
		strings.Repeat("a", 1000) + "\n": "invalid name: expected at most",
	} {
		_, err := worldLanguage.Define(offered, []model.Definition{{Name: name, Value: "output.data"}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", name, err, want)
		}
	}
	if _, err := worldLanguage.Define(nil, []model.Definition{{Name: "a", Value: "output.data"}, {Name: "a", Value: "output.data"}}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("defined twice: %v", err)
	}
	if _, err := worldLanguage.Define(nil, []model.Definition{{Name: "a", Value: "output.data", Kind: 9}}); err == nil || !strings.Contains(err.Error(), "expected one-to-many, one-to-one, many-valued") {
		t.Errorf("of an unknown kind: %v", err)
	}
	if _, err := worldLanguage.Define(nil, []model.Definition{{Name: "a", Value: " "}}); err == nil || !strings.Contains(err.Error(), "no expression") {
		t.Errorf("without a value: %v", err)
	}
}

func TestTextsThatAreNoValueOfAnIndex(t *testing.T) {
	for _, c := range []struct{ value, text, want string }{
		{"output.data", "6f6D", "6f6d"}, {"output.data", "6f6", ""}, {"output.data", "", ""},
		{"output.address", "1abc", "1abc"}, {"output.address", "", ""}, {"output.address", "\xff", ""},
		{"output.value", "5000", "5000"}, {"output.value", "-1", "-1"}, {"output.value", "many", ""}, {"output.value", "NaN", ""},
		{"tx.coinbase", "true", "true"}, {"tx.coinbase", "yes", ""},
		{"json(output.data).x", "anything", "anything"}, {"json(output.data).x", "", ""},
	} {
		x, err := worldLanguage.Define(nil, []model.Definition{{Name: "own", Value: c.value}})
		if err != nil {
			t.Fatal(err)
		}
		index := x.Indexes()[0]
		value, err := index.Parse(c.text)
		if _, code := model.KindOf(err); (err == nil) != (c.want != "") || err != nil && code != "bad_value" || err == nil && index.Format(value) != c.want {
			t.Errorf("%s: %q is %q, %v", c.value, c.text, value, err)
		}
	}
}

// FuzzExpression: no input makes compiling or running panic, and results are reproducible.
func FuzzExpression(f *testing.F) {
	for _, c := range []string{
		`output.data[0:4]`, `json(tx.inputs[0].witness[0]).list[1]`, `let j = json(output.data); j.p == "x" ? j.tick : nil`,
		`any(tx.inputs, .script == "second")`, `map(flatten(map(tx.inputs, .witness)), json(#).tick)`, `output.pushes[9] ?? output.pushes[0]`,
		`output.data matches "^o"`, `{"a": output.data}["a"]`, `[1, "a", b"x", nil][output.index]`, `output.registers.R4[0] + 1`, `-output.value ** 2`,
		`if output.value > 3 { "a" } else { nil }`, `output.names | filter(# != "") | first()`, `not (1 in [1.5])`, `output?.data`, `1; output.data`,
		`tx.inputs[:1][0].witness[0:1]`, `sum(tx.inputs, .number) / 0`, `9223372036854775807 + 1`, `uint(output.data)`, `$env["output"]`, `#`, `.a`, `1..2`,
		`hex("x")`, `len(json("[1]"))`, `find([1,2], # == 2)`, `output.data == b"\x00"`, `get(output.names, -1)`, `min([])`, `int("9999999999999999999999")`,
	} {
		f.Add(c, "", uint8(2))
		f.Add("output.data", c, uint8(0))
	}
	f.Fuzz(func(t *testing.T, value, when string, kind uint8) {
		d := model.Definition{Name: "own", Value: value, When: when, Kind: model.Kind(kind % 3)}
		x, err := worldLanguage.Define(nil, []model.Definition{d})
		if err != nil {
			if _, code := model.KindOf(err); code != "bad_definition" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", d, err)
			}
			return
		}
		w := example()
		r, again := x.Bind([]string{"own"}, w, func(Set) {}), x.Bind([]string{"own"}, w, func(Set) {})
		first := keys(r)
		if second := keys(r); first != second || keys(again) != first {
			t.Errorf("%q: %s, then %s", d, first, second)
		}
		r.Tx()
		r.Output()
		for _, k := range r.Keys(nil) {
			text := x.Indexes()[0].Format(k.Value)
			if back, err := x.Indexes()[0].Parse(text); err != nil || string(back) != string(k.Value) {
				t.Errorf("%q: %q is shown as %q, which is %q, %v", d, k.Value, text, back, err)
			}
		}
	})
}
