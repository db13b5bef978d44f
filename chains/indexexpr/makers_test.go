package indexexpr

import (
	"slices"
	"testing"
)

// Each field is filled by its own function, block fields only in a block, and no field is missing.
func TestFieldsAreMadeByTheirMakers(t *testing.T) {
	var made []string
	makers := func(level string, names ...string) map[string]func(*[]string) {
		all := map[string]func(*[]string){}
		for _, name := range names {
			all[name] = func(made *[]string) { *made = append(*made, level+"."+name) }
		}
		return all
	}
	output := makers("output", "index", "value", "data", "address", "script_type", "pushes", "names", "registers")
	tx, block := makers("tx", "hash", "coinbase", "inputs"), makers("block", blockNames()...)
	m := NewMakers(worldLanguage, output, tx, block)
	set := func(names ...string) (s Set) {
		for _, name := range names {
			s |= 1 << worldLanguage.Bit(name)
		}
		return s
	}
	one := "block." + blockNames()[0]
	m.Make(&made, set("output.data", "tx.hash", one), true)
	slices.Sort(made)
	if want := []string{one, "output.data", "tx.hash"}; !slices.Equal(made, want) {
		t.Errorf("the filled fields are %v, expected %v", made, want)
	}
	made = nil
	if m.Make(&made, set("tx.inputs", one), false); !slices.Equal(made, []string{"tx.inputs"}) {
		t.Errorf("without a block %v", made)
	}
	delete(tx, "hash")
	for name, tx := range map[string]map[string]func(*[]string){"one too few": tx, "an unknown one": makers("tx", "hash", "coinbase", "inputs", "other")} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			NewMakers(worldLanguage, output, tx, block)
		}()
	}
}

// blockNames are the fields of the world's blocks.
func blockNames() (all []string) {
	for _, f := range worldLanguage.Fields() {
		if len(f.Name) > 6 && f.Name[:6] == "block." {
			all = append(all, f.Name[6:])
		}
	}
	return all
}
