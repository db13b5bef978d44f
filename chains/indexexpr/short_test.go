package indexexpr

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// randomWorld is an output whose fields are often empty, and often equal to literals.
func randomWorld(r *rand.Rand) *world {
	some := func() []byte {
		return bytes.Clone(pick(r, nil, []byte{}, []byte("o"), []byte("omni"), []byte("omni\x00tail"), []byte("tail"), []byte{0xff}))
	}
	w := &world{
		Output: worldOutput{
			Index: r.IntN(3), Value: pick(r, 0, 1, 5000), Data: some(), Address: pick(r, "", "1abc", "omni"), ScriptType: pick(r, "pubkey", "nulldata"),
		},
		Tx:    worldTx{Hash: pick(r, "", "ff00"), Coinbase: r.IntN(2) == 0},
		Block: worldBlock{Height: r.IntN(3)},
	}
	for range r.IntN(4) {
		w.Output.Pushes = append(w.Output.Pushes, some())
	}
	return w
}

// randomSimple is a random expression, usually of the kinds that run without the machine.
func randomSimple(r *rand.Rand, depth int) string {
	data := func() string {
		s := pick(r, "output.data", "output.pushes[0]", "output.pushes[1]", "output.pushes[-1]", `b"omni"`)
		if r.IntN(2) == 0 {
			s += pick(r, "[0:4]", "[1:]", "[:2]", "[-4:]", "[2:-1]", "[7:3]", "[-9:-5]", "[0:0]")
		}
		return s
	}
	literal := func() string {
		return pick(r, `""`, `"o"`, `"omni"`, `b"\xff"`, `unhex("ff")`, `"tail"`, "output.address")
	}
	if depth > 0 {
		a, b := randomSimple(r, depth-1), randomSimple(r, depth-1)
		return pick(r, "("+a+" and "+b+")", "("+a+" or "+b+")", "not ("+a+")", "("+a+")")
	}
	return pick(r,
		data()+pick(r, " == ", " != ", " startsWith ", " endsWith ", " contains ")+literal(),
		data()+pick(r, " in ", " not in ")+`["omni", b"\xff", ""]`,
		"output.address"+pick(r, " in ", " not in ")+`["omni", ""]`,
		data()+pick(r, " == ", " != ")+"nil",
		"output.address"+pick(r, " == ", " != ", " contains ", " startsWith ", " endsWith ")+pick(r, `"omni"`, `"1"`, "tx.hash"),
		pick(r, "output.value", "output.index", "len(output.data)", "len(output.pushes)", "block.height")+pick(r, " == ", " != ", " < ", " <= ", " > ", " >= ")+pick(r, "0", "1", "output.index", "len("+data()+")"),
		pick(r, "tx.coinbase", "true", "output.script_type == 'op_return'"),
	)
}

// keys returns the values of the run on an output.
func keys(r *Run) string {
	r.Block()
	r.Tx()
	r.Output()
	return fmt.Sprint(r.Keys(nil))
}

// The short form has the same result as expr's machine.
func TestFastPathMatchesInterpreter(t *testing.T) {
	testrun.Slow(t)
	r := rand.New(rand.NewPCG(testseed.Of(t, 1), 0))
	short := 0
	for range 3000 {
		d := model.Definition{Name: "own", When: randomSimple(r, r.IntN(3)), Value: pick(r, "output.data", "output.pushes[0]", "output.data[1:3]", "output.value", "output.address", "tx.coinbase", "len(output.pushes[1])")}
		if r.IntN(3) == 0 {
			d.When, d.Value = "", d.When
		}
		x, err := worldLanguage.Define(nil, []model.Definition{d})
		if err != nil {
			t.Fatalf("%+v: %v", d, err)
		}
		var w world
		quick, slow := x.Bind([]string{"own"}, &w, func(Set) {}), x.Bind([]string{"own"}, &w, func(Set) {})
		for _, p := range []*program{slow.programs[0].when, slow.programs[0].value} {
			if p == nil {
				continue
			}
			for i := range p.parts {
				if p.parts[i].short != nil {
					short++
				}
				p.parts[i].short = nil
			}
		}
		for range 20 {
			w = *randomWorld(r)
			if got, want := keys(quick), keys(slow); got != want {
				t.Fatalf("when %s value %s of %+v: %s, expected from the machine %s", d.When, d.Value, w, got, want)
			}
		}
	}
	if short < 2000 {
		t.Errorf("only %d expressions have a short form", short)
	}
}

// A run fills every field that an expression reads: with all other fields poisoned the result is the same.
func TestExpressionsReadWhatTheyAskFor(t *testing.T) {
	const poison = "nobody asked for this"
	full := example()
	poisoned := func() *world {
		w := &world{}
		w.Output = worldOutput{Index: -7, Value: -7, Data: []byte(poison), Address: poison, ScriptType: poison, Pushes: [][]byte{[]byte(poison)}, Names: []string{poison}, Registers: map[string][]byte{"R4": []byte(poison)}}
		w.Tx = worldTx{Hash: poison, Coinbase: true, Inputs: []*worldInput{{Number: -7, Script: []byte(poison)}}}
		w.Block.Height = -7
		return w
	}
	for _, c := range []struct {
		when, value string
		asks        string
		nested      string
	}{
		{"output.script_type == 'nulldata'", "output.data", "output.script_type output.data", ""},
		{"output.script_type == 'pubkey'", "output.data", "output.script_type", ""},
		{"output.value == 1 and output.data == 'x'", "tx.hash", "output.value", ""},
		{"output.value == 5000 and output.data == 'x'", "tx.hash", "output.value output.data", ""},
		{"", "let o = output; o.address + o.script_type", "output.address output.script_type", ""},
		{"", "find(tx.inputs, .number == 300).script", "tx.inputs", "tx.inputs.number tx.inputs.script"},
		{"", "first(tx.inputs).script", "tx.inputs", "tx.inputs.script"},
		{"", "last(take(tx.inputs, 1)).script", "tx.inputs", "tx.inputs.script"},
		{"", "filter(tx.inputs, .number == 300)[0].script", "tx.inputs", "tx.inputs.number tx.inputs.script"},
		{"", "[tx.inputs[0], tx.inputs[1]][1].script", "tx.inputs", "tx.inputs.script"},
		{"", "(tx.coinbase ? tx.inputs[0] : tx.inputs[1]).script", "tx.coinbase tx.inputs", "tx.inputs.script"},
		{"", "map(tx.inputs, {let i = #; i.number})[1]", "tx.inputs", "tx.inputs.number"},
		{"", `output.registers["R4"]`, "output.registers", ""},
		{"", `output.names[0] + string(block.height)`, "output.names block.height", ""},
		{"", `(tx["hash"])`, "tx.hash", ""},
		{"", `any(tx.inputs, any(output.pushes, # == "tail")) ? "yes" : "no"`, "tx.inputs output.pushes", ""},
	} {
		x, err := worldLanguage.Define(nil, []model.Definition{{Name: "own", When: c.when, Value: c.value}})
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		w := poisoned()
		asked := map[string]bool{}
		run := x.Bind([]string{"own"}, w, func(need Set) {
			to, from := reflect.ValueOf(w).Elem(), reflect.ValueOf(full).Elem()
			for i, level := range levelNames {
				for j, name := range names(to.Field(i).Type()) {
					if need.Has(worldLanguage.Bit(level + "." + name)) {
						to.Field(i).Field(j).Set(from.Field(i).Field(j))
						asked[level+"."+name] = true
					}
				}
			}
		})
		got := keys(run)
		if want := keys(x.Bind([]string{"own"}, full, func(Set) {})); got != want {
			t.Errorf("%s: %s, with all fields filled %s", c.value, got, want)
		}
		want := map[string]bool{}
		for _, name := range strings.Fields(c.asks) {
			want[name] = true
		}
		if !reflect.DeepEqual(asked, want) {
			t.Errorf("when %s value %s requested %v, expected %s", c.when, c.value, asked, c.asks)
		}
		for _, name := range []string{"script", "witness", "number"} {
			name = "tx.inputs." + name
			if got, want := run.Uses(worldLanguage.Bit(name)), strings.Contains(c.nested, name); got != want {
				t.Errorf("%s uses %s: %t", c.value, name, got)
			}
		}
	}
}
