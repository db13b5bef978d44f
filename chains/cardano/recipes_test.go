package cardano

import (
	"fmt"
	"slices"
	"testing"

	"birthmark/chains/cardano/ledger"
	"birthmark/chains/indexexpr/recipes"
	"birthmark/internal/testrun"
)

// Every recipe of docs/indexes.md finds the documented number of values in real blocks, and a known value at a known
// output.
func TestRecipesFindTheirValues(t *testing.T) {
	testrun.Slow(t)
	const (
		orcfax = "55766ee81536d8c2af155d84c0c4c68079126e6b1419ad2c4dc8468cf22474c8:0"
		kidz   = "11663bec0781ff09550ff3c32694e3d144a9cf91fc231692e4b756d7a50a6418:0" // mints Cardano Kidz
	)
	type found struct {
		values    int
		value, at string
	}
	want := map[string]found{
		"contract":         {2_358, "script1rylwv5s3hva5ur497aglg9fxjd26v58zudcx7cjumudykqkleap", orcfax},
		"nft_policy":       {3_185, "5d2c310ba30ee79a9139defb690af87a110444492c9caf4b2038e0f1", kidz},
		"asset_name":       {17_993, "57454544", "c5c1cb2a443831e0c93fab7ddccba98b09ecf4e7b409e9829ec851bc59001c85:0"},
		"cip68_reference":  {26, "0df03e726bb329f8ba9ce709a03b2c033ef5687a337c2ba17d229e9a000643b0537472616e67654567673232", "4c369861baa70c711d253f554d44e26b4b12d734da0d7d431a85eb0cf8858aa0:0"},
		"feed":             {1, "CER/ADA-iUSD/3", orcfax},
		"feed_datum":       {1, "fc13c2736db58258418825776a472dc9c58d25e0fc6499c01c55826b398af19d", orcfax},
		"reference_script": {193, "plutus_v2", "148563e41db5a0abe40363c1d6b3386289b8cbaab35fdc1b7563fe69e341e824:0"},
		"metadata_label":   {5_976, "721", kidz},
		"message":          {45_908, "It's Samstag - 18 Juni 2022 - 15:59:43 in Austria", "3fad302595665b004971a6b76909854a39a0a7ecdbff3692f37b77ae37dbe882:0"},
		"described_mint":   {889, "5d2c310ba30ee79a9139defb690af87a110444492c9caf4b2038e0f143617264616e6f4b69647a303033384643323237", kidz},
	}
	own, offered := recipes.Of(t, "Cardano")
	for _, d := range own {
		if _, known := want[d.Name]; !known {
			t.Errorf("the recipe %s is not tested", d.Name)
		}
	}
	for _, name := range offered {
		if !slices.Contains(valueNames, name) {
			t.Errorf("cardano lacks the index %s", name)
		}
	}
	got := map[string]int{}
	chains, decoders := map[string]*chain{}, map[string]*ledger.Decoder{}
	realBlocks(t, func(file, network string, raw []byte) {
		c := chains[network]
		if c == nil {
			c = defined(t, network, own...)
			chains[network], decoders[network] = c, c.decoderOf(t)
		}
		b, _, err := decoders[network].Block(raw)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range b.Txs {
			tx := &b.Txs[i]
			for j := range tx.Outputs {
				for _, k := range tx.Outputs[j].Keys {
					x := &c.Indexes()[k.Index]
					if !x.Custom {
						continue
					}
					got[x.Name]++
					if w, text := want[x.Name], x.Format(k.Value); w.at == fmt.Sprintf("%s:%d", tx.Hash, tx.OutputIndex(j)) && w.value == text {
						want[x.Name] = found{values: w.values}
					}
				}
			}
		}
	})
	for name, w := range want {
		if w.value != "" {
			t.Errorf("%s does not find %s at %s", name, w.value, w.at)
		}
		if w.values != got[name] {
			t.Errorf("%s finds %d values, expected %d", name, got[name], w.values)
		}
	}
}
