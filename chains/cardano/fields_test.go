package cardano

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Every field is made, and its example is what some output of a real block has.
func TestExamplesOfFieldsAreReal(t *testing.T) {
	var ds []model.Definition
	wanted := map[string]string{} // by the names of indexes
	for i, f := range language.Fields() {
		if f.Type == "list of entries" {
			continue // these have examples
		}
		d, want := model.Definition{Name: "x" + strconv.Itoa(i), Value: f.Name}, f.Example
		list, field, nested := strings.Cut(f.Name, "[].")
		switch {
		case nested:
			d.Value, d.Kind = "map("+list+", ."+field+")", model.ManyValued
		case strings.HasPrefix(f.Type, "list of"):
			d.Kind = model.ManyValued
		case strings.HasPrefix(f.Type, "map"):
			var key string
			key, want, _ = strings.Cut(f.Example, ": ")
			d.Value = "get(" + f.Name + ", " + key + ")"
		}
		ds = append(ds, d)
		wanted[d.Name] = want
	}
	var file string
	var c *chain
	var decoder *ledger.Decoder
	realBlocks(t, func(name, network string, raw []byte) {
		if name != file { // evaluates only the fields whose examples the files before did not have
			file = name
			missing := slices.DeleteFunc(slices.Clone(ds), func(d model.Definition) bool { return wanted[d.Name] == "" })
			c = defined(t, network, missing...)
			decoder = c.decoderOf(t)
		}
		if len(wanted) == 0 {
			return
		}
		b, _, err := decoder.Block(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				for _, k := range b.Txs[i].Outputs[j].Keys {
					if x := &c.Indexes()[k.Index]; x.Custom && isExample(wanted[x.Name], x.Format(k.Value)) {
						delete(wanted, x.Name)
					}
				}
			}
		}
	})
	for _, d := range ds {
		if want, missing := wanted[d.Name]; missing {
			t.Errorf("%s: no output has the example %q", d.Value, want)
		}
	}
}

// isExample reports whether a value is the one of an example, or begins with it where more is left out.
func isExample(example, value string) bool {
	beginning, cut := strings.CutSuffix(example, "…")
	return value == example || cut && strings.HasPrefix(value, beginning)
}
