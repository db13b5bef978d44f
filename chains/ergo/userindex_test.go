package ergo

import (
	"context"
	"os"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/model"
)

// defined returns Ergo's mainnet with custom indexes.
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

// real yields the available real blocks, decoded with every index of the chain.
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

// Custom indexes that are not selected cost nothing.
func TestUnusedIndexesAreNotComputed(t *testing.T) {
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
		t.Errorf("%v allocations without custom indexes, %v with disabled ones, %v with an enabled one", plain, not, one)
	}
}
