package cardano

import (
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

// realBlocks returns all available real blocks, each with its network.
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

// Custom indexes that are not used cost nothing.
func TestUnusedIndexesAreNotComputed(t *testing.T) {
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
