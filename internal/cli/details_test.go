package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testblocks"
)

// An output has the same details in its own answer as in the answer of its transaction, for real blocks of every chain.
func TestOutputsHaveTheDetailsOfTheirTransactions(t *testing.T) {
	slow(t)
	for name, open := range map[string]func(t *testing.T) *core.DB{
		"script": func(t *testing.T) *core.DB { return syncedRaw(t, "bitcoin", "mainnet", "file://"+realBlocks(t), 300) },
		"datum_hash": func(t *testing.T) *core.DB {
			return syncedRaw(t, "cardano", "preview", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), 37_000)
		},
		"ergo_tree": func(t *testing.T) *core.DB {
			return syncedRaw(t, "ergo", "mainnet", "file://"+testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), 300)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			outputs, detailed := 0, 0
			blocks, err := db.Blocks(t.Context(), query.Range{}, query.Page{Limit: 10_000, Descending: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range blocks.Blocks {
				if b.TxCount == 0 || outputs > 2000 {
					continue
				}
				block, err := db.Block(t.Context(), fmt.Sprint(b.Height))
				if err != nil {
					t.Fatal(err)
				}
				for _, hash := range block.Txs {
					tx, err := db.Tx(t.Context(), hash)
					if err != nil {
						t.Fatal(err)
					}
					for i := range tx.Outputs {
						o, err := db.Output(t.Context(), query.OutputRef(hash, tx.Outputs[i].Index))
						if err != nil {
							t.Fatal(err)
						}
						got, want := marshal(t, o), marshal(t, &tx.Outputs[i])
						if got != want {
							t.Fatalf("output %s:%d is %s, in its transaction %s", hash, i, got, want)
						}
						outputs++
						var fields map[string]any
						if err := json.Unmarshal([]byte(got), &fields); err != nil {
							t.Fatal(err)
						}
						if fields[name] != nil {
							detailed++
						}
					}
				}
			}
			if outputs < 300 || detailed < 30 {
				t.Errorf("%d outputs, %d have %s", outputs, detailed, name)
			}
		})
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Assets and mints of Cardano in transactions have the parts of their ids (CIP-14, CIP-67).
func TestAssetsOfTransactionsHaveTheirParts(t *testing.T) {
	slow(t)
	db := synced(t, "cardano", "preview", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), 35_840, core.Options{})
	tx, err := db.Tx(t.Context(), "ce5a6f2496277b4cc1ecde1ec5d0b65334de9147295ab44a413001a1d309357a")
	if err != nil {
		t.Fatal(err)
	}
	const parts = `"policy":"065270479316f1d92e00f7f9f095ebeaac9d009c878dc35ce36d3404","name":"4d454c4474","name_text":"MELDt",` +
		`"fingerprint":"asset1hggyyr4p00vhpgq6hzaumjftg75yqgkl44sasm"`
	for what, got := range map[string]string{"mints": marshal(t, tx.Mints), "outputs": marshal(t, tx.Outputs)} {
		if !strings.Contains(got, parts) {
			t.Errorf("%s are %s, expected %s", what, got, parts)
		}
	}
}
