package cardano

import (
	"slices"
	"strings"
	"testing"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// defined returns Cardano on a network with custom indexes.
func defined(t testing.TB, network string, ds ...model.Definition) *chain {
	t.Helper()
	c, err := New(network)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Define(ds); err != nil {
		t.Fatal(err)
	}
	return c.(*chain)
}

// decoderOf returns a decoder for the chain's indexes, or for the named ones.
func (c *chain) decoderOf(t testing.TB, names ...string) *ledger.Decoder {
	t.Helper()
	if names == nil {
		for _, x := range c.Indexes() {
			names = append(names, x.Name)
		}
	}
	d, err := c.decoder(names, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// realBlocks are all there are of real blocks, each with its network.
func realBlocks(t testing.TB, each func(name, network string, raw []byte)) {
	t.Helper()
	for _, s := range singles(t) {
		each(s.File, s.network(), realFile(t, s.File))
	}
	chunks(t, func(name, network string, blocks [][]byte) {
		for _, raw := range blocks {
			each(name, network, raw)
		}
	})
}

// Every index that Cardano offers has the values of its expression.
func TestOfferedIndexesAreTheirExpressions(t *testing.T) {
	chains, decoders := map[string]*chain{}, map[string]*ledger.Decoder{}
	values := make([]int, len(valueNames))
	realBlocks(t, func(name, network string, raw []byte) {
		if chains[network] == nil {
			chains[network] = again(t, network)
			decoders[network] = chains[network].decoderOf(t)
		}
		b, _, err := decoders[network].Block(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantAgain(t, chains[network], b.Txs, values)
	})
	for i, n := range values {
		if n == 0 {
			t.Errorf("no output has a value of %s", valueNames[i])
		}
	}
	t.Logf("values of %v: %d", valueNames, values)
	c := chains["mainnet"]
	genesis, err := c.net.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	wantAgain(t, c, c.decoderOf(t).Genesis(genesis), values)
}

// again is a chain with the indexes that are offered, and then definitions that say the same.
func again(t testing.TB, network string) *chain {
	t.Helper()
	var ds []model.Definition
	for _, x := range defined(t, network).Indexes() {
		ds = append(ds, model.Definition{Name: "own_" + x.Name, Kind: x.Kind, When: x.When, Value: x.Value})
	}
	return defined(t, network, ds...)
}

func wantAgain(t testing.TB, c *chain, txs []model.Tx, values []int) {
	t.Helper()
	for i := range txs {
		for j := range txs[i].Outputs {
			var theirs, own []string
			for _, k := range txs[i].Outputs[j].Keys {
				x := &c.Indexes()[k.Index]
				text := strings.TrimPrefix(x.Name, "own_") + " " + x.Format(k.Value)
				if x.Custom {
					own = append(own, text)
				} else {
					values[k.Index]++
					theirs = append(theirs, text)
				}
			}
			slices.Sort(theirs)
			slices.Sort(own)
			if !slices.Equal(theirs, own) {
				t.Fatalf("output %d of %s has %v, by their expressions %v", j, txs[i].Hash, theirs, own)
			}
		}
	}
}

// Indexes that were defined and are not wanted cost nothing.
func TestWhatIsNotWantedIsNotComputed(t *testing.T) {
	raw := realFile(t, "redbit", "avg_block.cbor")
	allocs := func(d *ledger.Decoder) float64 {
		return testing.AllocsPerRun(20, func() {
			if _, _, err := d.Block(raw); err != nil {
				t.Fatal(err)
			}
		})
	}
	c := defined(t, "mainnet", everyField()...)
	plain, not, one := allocs(decodedAs(t, "mainnet", indexAddress)), allocs(c.decoderOf(t, indexAddress)), allocs(c.decoderOf(t, indexAddress, "x0"))
	if not != plain || one <= plain {
		t.Errorf("%v allocations without custom indexes, %v with unused ones, %v with one in use", plain, not, one)
	}
}

// The keys of an output are in the order of the names, for built-in and custom indexes.
func TestKeysAreInTheOrderOfTheNames(t *testing.T) {
	c := defined(t, "mainnet",
		model.Definition{Name: "first", Value: "output.value"},
		model.Definition{Name: "second", Kind: model.ManyValued, Value: "map(output.assets, .id)"})
	for _, names := range [][]string{{"first", indexAddress, "second", indexPolicy, "payment_credential"}, {indexPolicy, indexAddress, "second", "first"}, {indexAddress, "first", "second"}} {
		b, _, err := c.decoderOf(t, names...).Block(realFile(t, "redbit", "avg_block.cbor"))
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				if !slices.IsSortedFunc(o.Keys, func(a, b model.Key) int { return a.Index - b.Index }) {
					t.Fatalf("%v: an output of %s has the keys %v", names, tx.Hash, o.Keys)
				}
			}
		}
	}
}
