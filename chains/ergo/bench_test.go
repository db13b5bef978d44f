package ergo

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"birthmark/chains/ergo/jsonstream"
	"birthmark/internal/testblocks"
	"birthmark/model"
)

// modernBlocks returns 96 full blocks of mainnet, as a node returns them.
func modernBlocks(t testing.TB) (blocks [][]byte) {
	t.Helper()
	f, err := os.Open(testblocks.Path(t, "ergo", "derived-node-json", "mainnet_1795968_1796063.ndjson.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	for s := jsonstream.New(z, maxBlockJSON); ; {
		raw, err := s.Next()
		if err == io.EOF {
			return blocks
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, append([]byte(nil), raw...))
	}
}

func BenchmarkDecodeModernBlocks(b *testing.B) {
	blocks := modernBlocks(b)
	for name, indexes := range map[string][]string{"address": {indexBoxID, indexAddress}, "all": valueNames} {
		b.Run(name, func(b *testing.B) {
			d := decoderOf(b, indexes...)
			txs, bytes := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				for _, raw := range blocks {
					block, err := d.block(raw)
					if err != nil {
						b.Fatal(err)
					}
					txs += len(block.Txs)
					bytes += len(raw)
				}
			}
			b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
			b.ReportMetric(float64(bytes)/1e6/b.Elapsed().Seconds(), "MB/s")
		})
	}
}

// BenchmarkDefined decodes the same blocks with one custom index at a time, in addition to box_id.
func BenchmarkDefined(b *testing.B) {
	blocks := modernBlocks(b)
	for name, d := range map[string]model.Definition{
		"none":      {},
		"number":    {Value: "output.value"},
		"hash":      {Value: "output.ergo_tree_hash"},
		"address":   {Value: "output.address"},
		"condition": {When: "any(output.assets, .id == unhex('011d3364de07e5a26f0c4eef0852cddb387039a921b7154ef3cab22c6eda887f'))", Value: "output.values.R4"},
		"registers": {Value: "output.register_texts", Kind: model.ManyValued},
		"values":    {Value: "text(output.values.R4)"},
	} {
		b.Run(name, func(b *testing.B) {
			names := []string{indexBoxID}
			c := defined(b)
			if d.Value != "" {
				d.Name = "mine"
				c, names = defined(b, d), append(names, d.Name)
			}
			made, err := newDecoder(c, names)
			if err != nil {
				b.Fatal(err)
			}
			outputs := 0
			b.ReportAllocs()
			for b.Loop() {
				for _, raw := range blocks {
					block, err := made.block(raw)
					if err != nil {
						b.Fatal(err)
					}
					for i := range block.Txs {
						outputs += len(block.Txs[i].Outputs)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(outputs), "ns/output")
		})
	}
}
