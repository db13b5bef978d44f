package ergo

import (
	"strconv"
	"strings"
	"testing"

	"birthmark/model"
)

// Every field is made, and its example is what some box of a real block has.
func TestExamplesOfFieldsAreReal(t *testing.T) {
	var ds []model.Definition
	wanted := map[string]string{} // by the names of indexes
	for i, f := range language.Fields() {
		d := model.Definition{Name: "x" + strconv.Itoa(i), Value: f.Name}
		list, field, nested := strings.Cut(f.Name, "[].")
		expression, value, computed := strings.Cut(f.Example, " = ")
		switch {
		case computed:
			d.Value = expression
		case nested:
			d.Value, d.Kind, value = "map("+list+", ."+field+")", model.ManyValued, f.Example
		case strings.HasPrefix(f.Type, "list of"):
			d.Kind, value = model.ManyValued, f.Example
		default:
			value = f.Example
		}
		ds = append(ds, d)
		wanted[d.Name] = value
	}
	c := defined(t, ds...)
	c.real(t, func(_ string, b *model.Block) {
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				for _, k := range b.Txs[i].Outputs[j].Keys {
					if x := &c.indexes[k.Index]; x.Own && wanted[x.Name] == x.Format(k.Value) {
						delete(wanted, x.Name)
					}
				}
			}
		}
	})
	for i, d := range ds {
		if value, missing := wanted[d.Name]; missing {
			t.Errorf("%s: no box has the example %s", language.Fields()[i].Name, value)
		}
	}
}
