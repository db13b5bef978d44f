package bitcoin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
)

// benchBlock is a block of 3,713 transactions of 2025, with every kind of output.
func benchBlock(b *testing.B) []byte {
	raw, err := os.ReadFile(filepath.Join("../../../shared/data/bitcoin", "converted/redbit_huge_000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357.raw"))
	if err != nil {
		b.Skip(err)
	}
	return raw
}

func BenchmarkDecode(b *testing.B) {
	raw := benchBlock(b)
	for name, indexes := range map[string][]string{
		"none":    nil,
		"address": {indexAddress},
		"both":    {indexAddress, indexScriptHash},
		"all":     {indexAddress, indexScriptHash, indexScriptType, indexOpReturn},
	} {
		b.Run(name, func(b *testing.B) {
			d, err := newDecoder(networks[0], indexes)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			txs := 0
			for b.Loop() {
				block, err := d.block(raw, 0)
				if err != nil {
					b.Fatal(err)
				}
				txs += len(block.Txs)
			}
			b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
		})
	}
}

func BenchmarkWire(b *testing.B) {
	raw := benchBlock(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	txs := 0
	for b.Loop() {
		var m wire.MsgBlock
		if err := m.Deserialize(bytes.NewReader(raw)); err != nil {
			b.Fatal(err)
		}
		for _, tx := range m.Transactions {
			tx.TxHash()
		}
		txs += len(m.Transactions)
	}
	b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
}
