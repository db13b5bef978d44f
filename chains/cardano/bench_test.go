package cardano

import (
	"slices"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// benchBlocks are real blocks of three eras with many transactions.
func benchBlocks(b *testing.B) map[string][]byte {
	return map[string][]byte{
		"alonzo":  realFile(b, "pallas", "alonzo21.block"),
		"babbage": realFile(b, "pallas", "babbage9.block"),
		"conway":  realFile(b, "redbit", "avg_block.cbor"),
	}
}

func BenchmarkDecode(b *testing.B) {
	blocks := benchBlocks(b)
	for _, c := range []struct {
		name    string
		indexes []string
	}{
		{"none", nil},
		{"address", []string{indexAddress}},
		{"all", valueNames},
	} {
		for _, era := range []string{"alonzo", "babbage", "conway"} {
			b.Run(c.name+"/"+era, func(b *testing.B) {
				d := decodedAs(b, "mainnet", c.indexes...)
				measured(b, blocks[era], func(raw []byte) int {
					block, _, err := d.Block(raw)
					if err != nil {
						b.Fatal(err)
					}
					return len(block.Txs)
				})
			})
		}
	}
}

// BenchmarkDefined decodes a real block with one custom index at a time.
func BenchmarkDefined(b *testing.B) {
	raw := benchBlocks(b)["conway"]
	for name, d := range map[string]model.Definition{
		"none":     {},
		"number":   {Value: "output.value"},
		"hash":     {Value: "output.datum_hash"},
		"address":  {Value: "output.address"},
		"policies": {Value: "output.policies", Kind: model.ManyValued},
		"nft":      {Value: "map(filter(output.assets, .amount == 1), .policy)", Kind: model.ManyValued},
		"label":    {When: "674 in tx.metadata_labels", Value: "tx.hash"},
		"message":  {Value: "tx.metadata[674].msg", Kind: model.ManyValued},
		"datum":    {Value: "output.datum_value.constructor"},
	} {
		b.Run(name, func(b *testing.B) {
			c, names := defined(b, "mainnet"), []string{}
			if d.Value != "" {
				d.Name = "mine"
				c, names = defined(b, "mainnet", d), []string{d.Name}
			}
			decoder := c.decoderOf(b, names...)
			outputs := 0
			b.ReportAllocs()
			for b.Loop() {
				block, _, err := decoder.Block(raw)
				if err != nil {
					b.Fatal(err)
				}
				for i := range block.Txs {
					outputs += len(block.Txs[i].Outputs)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(outputs), "ns/output")
		})
	}
}

// BenchmarkGouroboros decodes the same blocks with gouroboros, including the parts of a transaction that the model has.
func BenchmarkGouroboros(b *testing.B) {
	blocks := benchBlocks(b)
	for _, era := range []string{"alonzo", "babbage", "conway"} {
		b.Run(era, func(b *testing.B) {
			tag := slices.Index(ledger.EraNames[:], era)
			measured(b, blocks[era], func(raw []byte) int {
				block, err := gouroboros.NewBlockFromCbor(uint(tag), raw[2:])
				if err != nil {
					b.Fatal(err)
				}
				txs := block.Transactions()
				for _, tx := range txs {
					tx.Hash()
					tx.Consumed()
					for _, p := range tx.Produced() {
						p.Output.Assets()
					}
					tx.AssetMint()
				}
				return len(txs)
			})
		})
	}
}

func measured(b *testing.B, raw []byte, decode func([]byte) (txs int)) {
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	txs := 0
	for b.Loop() {
		txs += decode(raw)
	}
	b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
}
