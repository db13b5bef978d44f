package chaintest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// expressions checks that a custom index with the expression of a built-in index has the same values.
func (f *Fixture) expressions(t *testing.T) {
	for _, in := range slices.Concat(f.Inputs, f.Examples) {
		var ds []model.Definition
		for _, x := range f.chain(t, in.Network).Indexes() {
			if x.Value == "" {
				continue // no field has its values
			}
			ds = append(ds, model.Definition{Name: "own_" + x.Name, Kind: x.Kind, When: x.When, Value: x.Value})
		}
		c := f.chain(t, in.Network, ds...)
		all := c.Indexes()
		for _, b := range decode(t, c, in, names(c)) {
			outputs(b, func(tx *model.Tx, i int, o *model.Output) {
				var builtin, custom []string
				for _, k := range o.Keys {
					x := &all[k.Index]
					if text := x.Format(k.Value); x.Custom {
						custom = append(custom, strings.TrimPrefix(x.Name, "own_")+" "+text)
					} else if x.Value != "" {
						builtin = append(builtin, x.Name+" "+text)
					}
				}
				slices.Sort(builtin)
				slices.Sort(custom)
				if !slices.Equal(builtin, custom) {
					t.Fatalf("%s: output %s:%d has %q, by expressions %q", in.Name, c.FormatHash(tx.Hash), i, builtin, custom)
				}
			})
		}
	}
}

// fieldIndexes defines an index for each field and returns the fields by the names of the indexes.
func (f *Fixture) fieldIndexes(t *testing.T) (ds []model.Definition, examples map[string]string) {
	t.Helper()
	examples = map[string]string{}
	for _, field := range f.chain(t, "").(interface{ Fields() []indexexpr.Field }).Fields() {
		if field.Type == "list of entries" {
			continue // their fields have examples
		}
		d, example := model.Definition{Name: fmt.Sprintf("field_%d", len(ds)), Value: field.Name}, field.Example
		list, entry, nested := strings.Cut(field.Name, "[].")
		isList := strings.HasPrefix(field.Type, "list of")
		switch {
		case nested && isList:
			d.Kind, d.Value = model.ManyValued, "flatten(map("+list+", ."+entry+"))"
		case nested:
			d.Kind, d.Value = model.ManyValued, "map("+list+", ."+entry+")"
		case isList:
			d.Kind = model.ManyValued
		case strings.HasPrefix(field.Type, "map"):
			var key string
			key, example, _ = strings.Cut(field.Example, ": ")
			if _, err := strconv.Atoi(key); err != nil {
				key = strconv.Quote(key)
			}
			d.Value = fmt.Sprintf("get(%s, %s)", field.Name, key)
		}
		ds = append(ds, d)
		if example != "" && !slices.ContainsFunc(f.NoExample, func(prefix string) bool { return strings.HasPrefix(field.Name, prefix) }) {
			examples[d.Name] = example
		}
	}
	return ds, examples
}

// fields checks that every field evaluates and that its example is a value in a real block.
func (f *Fixture) fields(t *testing.T) {
	ds, examples := f.fieldIndexes(t)
	for i, in := range f.Examples {
		c := f.chain(t, in.Network, slices.DeleteFunc(slices.Clone(ds), func(d model.Definition) bool {
			_, missing := examples[d.Name]
			return i > 0 && !missing
		})...)
		all := c.Indexes()
		for _, b := range decode(t, c, in, names(c)) {
			outputs(b, func(_ *model.Tx, _ int, o *model.Output) {
				for _, k := range o.Keys {
					x := &all[k.Index]
					want, wanted := examples[x.Name]
					if !wanted {
						continue
					}
					start, cut := strings.CutSuffix(want, "…")
					if text := x.Format(k.Value); text == want || cut && strings.HasPrefix(text, start) {
						delete(examples, x.Name)
					}
				}
			})
		}
	}
	for _, d := range ds {
		if want, missing := examples[d.Name]; missing {
			t.Errorf("%s never has its example %q", d.Value, want)
		}
	}
}

// selection checks that keys are in the order of the selected names, and that the selection does not change values.
func (f *Fixture) selection(t *testing.T) {
	in := f.Inputs[0]
	c := f.chain(t, in.Network, model.Definition{Name: "first", Value: "output.value"}, model.Definition{Name: "second", Value: "output.value + 1"})
	all := names(c)
	want := shown(decode(t, c, in, all), all)
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		selected := all[:r.IntN(len(all)+1)]
		blocks := decode(t, c, in, selected)
		for _, b := range blocks {
			outputs(b, func(_ *model.Tx, _ int, o *model.Output) {
				if !slices.IsSortedFunc(o.Keys, func(a, b model.Key) int { return a.Index - b.Index }) {
					t.Fatalf("selected %v: keys %v", selected, o.Keys)
				}
			})
		}
		got := shown(blocks, selected)
		for i := range want {
			kept := slices.DeleteFunc(slices.Clone(want[i]), func(v string) bool {
				name, _, _ := strings.Cut(v, " ")
				return !slices.Contains(selected, name)
			})
			if !slices.Equal(got[i], kept) {
				t.Fatalf("selected %v: output %d has %q, expected %q", selected, i, got[i], kept)
			}
		}
	}
	for _, bad := range [][]string{{"adress"}, {all[0], all[0]}} {
		for _, err := range c.Decode(t.Context(), bytes.NewReader(in.Data), bad, 0) {
			refused(t, fmt.Sprint(bad), err, model.Usage, "unknown_index")
		}
	}
}

// shown lists the values of all outputs, sorted per output.
func shown(blocks []*model.Block, selected []string) (values [][]string) {
	for _, b := range blocks {
		outputs(b, func(_ *model.Tx, _ int, o *model.Output) {
			var vs []string
			for _, k := range o.Keys {
				vs = append(vs, fmt.Sprintf("%s %x", selected[k.Index], k.Value))
			}
			slices.Sort(vs)
			values = append(values, vs)
		})
	}
	return values
}
