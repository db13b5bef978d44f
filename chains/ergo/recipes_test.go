package ergo

import (
	"fmt"
	"slices"
	"testing"

	"birthmark/chains/indexexpr/recipes"
	"birthmark/model"
)

// Every recipe of docs/indexes.md finds the expected number of values in real blocks, and the value of a known box.
func TestRecipesOnRealBlocks(t *testing.T) {
	type found struct {
		values    int
		value, at string
	}
	const (
		bank = "434b2c0a9fd92da1f812359005d00da1c42c5d10e9299a56005b32bfc3307f8e:0" // SigmaUSD's
		nft  = "271fe8a685fe47ab977d3fcec9d49da17bf059e447fe7d3b458b0e008a443093:0"
	)
	want := map[string]found{
		"register_text":      {7, "Adventurer #019", nft},
		"owner":              {3, "0272eef9f3de497d5f76e15c9d7f8a91bfc87610899196f8677989876e83e354d1", "6fed50ecd6e8b0fda3004baaef0d278a42f5d7ca9f85bcd3bc188ed846023ad0:0"},
		"register_id":        {1_137, "ce97b903a7b4f78f8a596f8b0eed2d4995b0d07d23581da5a6d07d96b5f1eedb", nft},
		"banked":             {12, "03faf2cb329f2e90d6d23b58d91bbb6c046aa143261cc21f52fbe2824bfcbf04", bank},
		"sigusd_circulating": {4, "99461385", bank},
		"rate":               {24, "3934473704", "e5d893f8fca691b6fd03808bb1a885e8966385ce43b7c98546aad8b628a059cc:0"},
		"token_name":         {5, "Adventurer #019", nft},
	}
	own, offered := recipes.Of(t, "Ergo")
	for _, d := range own {
		if _, known := want[d.Name]; !known {
			t.Errorf("the recipe %s is not tested", d.Name)
		}
	}
	for _, name := range offered {
		if !slices.Contains(valueNames, name) {
			t.Errorf("ergo lacks the index %s", name)
		}
	}
	got := map[string]int{}
	c := defined(t, own...)
	c.real(t, func(_ string, b *model.Block) {
		for i := range b.Txs {
			for j, o := range b.Txs[i].Outputs {
				for _, k := range o.Keys {
					x := &c.Indexes()[k.Index]
					if !x.Custom {
						continue
					}
					got[x.Name]++
					if w := want[x.Name]; w.at == fmt.Sprintf("%s:%d", b.Txs[i].Hash, j) && w.value == x.Format(k.Value) {
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
