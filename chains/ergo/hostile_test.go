package ergo

import (
	"encoding/binary"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// A list in a register has all its values, and a box with the maximum number of tokens has all of them. A list that
// claims more items than it has is invalid.
func TestFullBoxesHaveAllValues(t *testing.T) {
	const longs = 3000
	numbers := binary.AppendUvarint([]byte{0x11}, longs)
	for i := range longs {
		numbers = binary.AppendVarint(numbers, int64(i))
	}
	box := sigma.Box{Value: 1, Tree: aTree, Registers: [][]byte{
		numbers,
		{0x0c, 0x62, 0xff, 0xff, 0x03}, // 65,535 units
		append([]byte{0x0e, 0x80, 0x80, 1}, make([]byte, 5)...), // missing bytes
	}}
	for i := range maxTokens {
		box.Tokens = append(box.Tokens, sigma.Token{ID: sigma.ID{byte(i), 1}, Amount: uint64(1 + i%2)})
	}
	c := defined(t,
		model.Definition{Name: "numbers", Kind: model.ManyValued, Value: "output.values.R4"},
		model.Definition{Name: "units", Kind: model.ManyValued, Value: "output.values.R5"},
		model.Definition{Name: "missing", Value: "output.values.R6"},
		model.Definition{Name: "tokens", Kind: model.ManyValued, Value: "map(output.assets, .id)"},
		model.Definition{Name: "single", Kind: model.ManyValued, Value: "map(filter(output.assets, .amount == 1), .id)"},
		model.Definition{Name: "place", Kind: model.OneToOne, Value: "hex(tx.hash) + ':' + string(output.index)"},
	)
	names := []string{"numbers", "units", "missing", "tokens", "single", "place"}
	d, err := newDecoder(c, names)
	if err != nil {
		t.Fatal(err)
	}
	tx := sigma.Tx{Inputs: []sigma.Input{{Box: sigma.ID{9}}}, Outputs: []sigma.Box{box}}
	b, err := d.block(jsonOf(t, handmade(t, 2, tx)))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int, len(names))
	for _, k := range b.Txs[0].Outputs[0].Keys {
		values[k.Index]++
	}
	for i, want := range []int{longs, 0, 0, maxTokens, (maxTokens + 1) / 2, 1} {
		if values[i] != want {
			t.Errorf("%s has %d values, expected %d", names[i], values[i], want)
		}
	}
}

// FuzzDefined checks that custom indexes do not make a valid block fail, whatever its registers and scripts are.
func FuzzDefined(f *testing.F) {
	c := defined(f, everyField()...)
	d, err := newDecoder(c, c.all())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0x0e, 1, 'a'}, []byte{0x08, 0xcd, 2}, aTree)
	f.Add([]byte{0x0c, 0x62, 0xff, 0x7f}, []byte{0x11, 2, 2, 4}, []byte{0x10, 1, 1, 1, 0xd1, 0x73, 0})
	f.Fuzz(func(t *testing.T, r4, r5, tree []byte) {
		if len(r4) == 0 || len(r5) == 0 || len(tree) == 0 || max(len(r4), len(r5), len(tree)) > maxBytes {
			return
		}
		tx := sigma.Tx{Inputs: []sigma.Input{{Box: sigma.ID{9}}}, Outputs: []sigma.Box{{Value: 1, Tree: tree, Registers: [][]byte{r4, r5, r4}, Tokens: []sigma.Token{{ID: sigma.ID{9}, Amount: 1}}}}}
		b, err := d.block(jsonOf(t, handmade(t, 2, tx)))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range b.Txs[0].Outputs[0].Keys {
			if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize {
				t.Errorf("%s has the value %q", c.Indexes()[k.Index].Name, k.Value)
			}
		}
	})
}
