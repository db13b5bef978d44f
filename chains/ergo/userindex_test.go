package ergo

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/model"
)

// defined is Ergo's mainnet with indexes of one's own.
func defined(t testing.TB, ds ...model.Definition) *chain {
	t.Helper()
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Define(ds); err != nil {
		t.Fatal(err)
	}
	return c.(*chain)
}

// all are the names of the chain's indexes.
func (c *chain) all() (names []string) {
	for _, x := range c.Indexes() {
		names = append(names, x.Name)
	}
	return names
}

// real yields the real blocks there are, decoded with every index of the chain.
func (c *chain) real(t testing.TB, each func(file string, b *model.Block)) {
	t.Helper()
	for _, file := range realFiles {
		f, err := os.Open(testblocks.Path(t, file.path...))
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range c.Decode(context.Background(), f, c.all(), 0) {
			if err != nil {
				t.Fatalf("%v: %v", file.path, err)
			}
			each(file.path[len(file.path)-1], b)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Every index that Ergo offers has the values of its expression.
func TestOfferedIndexesAreTheirExpressions(t *testing.T) {
	var ds []model.Definition
	for _, x := range networks[0].indexes() {
		ds = append(ds, model.Definition{Name: "own_" + x.Name, Kind: x.Kind, When: x.When, Value: x.Value})
	}
	c := defined(t, ds...)
	values := map[string]int{}
	want := func(txs []model.Tx) {
		for i := range txs {
			for j := range txs[i].Outputs {
				var theirs, own []string
				for _, k := range txs[i].Outputs[j].Keys {
					x := &c.Indexes()[k.Index]
					text := strings.TrimPrefix(x.Name, "own_") + " " + x.Format(k.Value)
					if x.Custom {
						own = append(own, text)
					} else {
						values[x.Name]++
						theirs = append(theirs, text)
					}
				}
				slices.Sort(theirs)
				slices.Sort(own)
				if !slices.Equal(theirs, own) {
					t.Fatalf("box %d of %s has %v, by their expressions %v", j, txs[i].Hash, theirs, own)
				}
			}
		}
	}
	c.real(t, func(_ string, b *model.Block) { want(b.Txs) })
	d, err := newDecoder(c, c.all())
	if err != nil {
		t.Fatal(err)
	}
	genesis, err := c.net.genesisTxs(d)
	if err != nil {
		t.Fatal(err)
	}
	want(genesis)
	for _, x := range networks[0].indexes() {
		if values[x.Name] == 0 {
			t.Errorf("no box has a value of %s", x.Name)
		}
	}
	t.Logf("values: %v", values)
}

// Indexes that were defined and are not wanted cost nothing.
func TestWhatIsNotWantedIsNotComputed(t *testing.T) {
	raw := modernBlocks(t)[0]
	allocs := func(c *chain, names ...string) float64 {
		d, err := newDecoder(c, names)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(20, func() {
			if _, err := d.block(raw); err != nil {
				t.Fatal(err)
			}
		})
	}
	c := defined(t, everyField()...)
	plain, not, one := allocs(defined(t), indexBoxID), allocs(c, indexBoxID), allocs(c, indexBoxID, "x0")
	if not != plain || one <= plain {
		t.Errorf("%v allocations without indexes of one's own, %v with some that are not wanted, %v with one that is", plain, not, one)
	}
}

// The keys of a box are in the order of the names, whoever's the indexes are.
func TestKeysAreInTheOrderOfTheNames(t *testing.T) {
	c := defined(t,
		model.Definition{Name: "first", Value: "output.value"},
		model.Definition{Name: "second", Kind: model.ManyValued, Value: "map(output.assets, .id)"})
	for _, names := range [][]string{{"first", indexBoxID, "second", indexRegister, indexAddress}, {indexRegister, "second", indexBoxID, "first"}, {indexBoxID, "first", "second"}} {
		d, err := newDecoder(c, names)
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.block(modernBlocks(t)[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				if !slices.IsSortedFunc(o.Keys, func(a, b model.Key) int { return a.Index - b.Index }) {
					t.Fatalf("%v: a box of %s has the keys %v", names, tx.Hash, o.Keys)
				}
			}
		}
	}
}
