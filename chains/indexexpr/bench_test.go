package indexexpr

import (
	"testing"

	"birthmark/model"
)

// BenchmarkOutput measures a definition on one output: a false condition, a true one, and values of several kinds.
func BenchmarkOutput(b *testing.B) {
	for _, c := range []struct{ name, when, value string }{
		{"field", "", `output.data`},
		{"slice", "", `output.data[0:4]`},
		{"number", "", `output.value`},
		{"when/text no", `output.script_type == "pubkey"`, `output.data[0:4]`},
		{"when/text yes", `output.script_type == "op_return"`, `output.data[0:4]`},
		{"when/bytes no", `output.data startsWith "xyz"`, `output.data[0:4]`},
		{"when/in no", `output.data[0:4] in ["abcd", "efgh"]`, `output.data[0:4]`},
		{"when/and no", `output.script_type == "op_return" and output.value > 10000`, `output.data[0:4]`},
		{"list entry", `output.pushes[0] == "x"`, `output.data`},
		{"no entry", `tx.inputs[9].witness[0] == "x"`, `output.data`},
		{"any", `any(tx.inputs, .script == "x")`, `output.data`},
		{"fails", `1 % (output.value - 5000) == 1`, `output.data`},
		{"json", `json(tx.inputs[0].witness[0]).p == "brc-20"`, `json(tx.inputs[0].witness[0]).tick`},
		{"pushes", "", `output.pushes`},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := model.Definition{Name: "own", When: c.when, Value: c.value}
			if c.name == "pushes" {
				d.Kind = model.ManyValued
			}
			x, err := worldLanguage.Define(nil, []model.Definition{d})
			if err != nil {
				b.Fatal(err)
			}
			r := x.Bind([]string{"own"}, example(), func(Set) {})
			r.Block()
			var keys []model.Key
			b.ReportAllocs()
			for b.Loop() {
				r.Tx()
				r.Output()
				keys = r.Keys(keys[:0])
			}
		})
	}
}

// BenchmarkBind measures binding another decoder, with five definitions.
func BenchmarkBind(b *testing.B) {
	var ds []model.Definition
	var names []string
	for i, value := range []string{"output.data[0:4]", "json(tx.inputs[0].witness[0]).tick", "output.address + string(output.index)", "text(output.data)", "hex(output.data)"} {
		d := model.Definition{Name: string(rune('a' + i)), When: "output.script_type == 'op_return' and output.value > 0", Value: value}
		ds, names = append(ds, d), append(names, d.Name)
	}
	x, err := worldLanguage.Define(nil, ds)
	if err != nil {
		b.Fatal(err)
	}
	w := example()
	b.ReportAllocs()
	for b.Loop() {
		x.Bind(names, w, func(Set) {})
	}
}
