package bitcoin

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// realBlock returns a mainnet block of 2025 with 3,713 transactions and outputs of nearly every kind.
func realBlock(b *testing.B) []byte {
	return readData(b, "converted", "redbit_huge_000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357.raw")
}

func BenchmarkDecode(b *testing.B) {
	raw := realBlock(b)
	for _, c := range []struct {
		name    string
		indexes []string
	}{
		{"none", nil},
		{"address", []string{indexAddress}},
		{"address+script_hash", []string{indexAddress, indexScriptHash}},
		{"all", allIndexes},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, err := newDecoder(networks[0], c.indexes)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			txs := 0
			for b.Loop() {
				block, err := d.Block(raw, 0)
				if err != nil {
					b.Fatal(err)
				}
				txs += len(block.Txs)
			}
			b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
		})
	}
}

// BenchmarkWire is the baseline: btcd decodes the same block without a merkle root, addresses or script hashes.
func BenchmarkWire(b *testing.B) {
	raw := realBlock(b)
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

// typical returns a transaction that spends an old and a recent output, with and without a witness, and has three
// outputs.
func typical(from *wire.MsgTx) *wire.MsgTx {
	paid := func(before string, size int, after string) *wire.TxOut {
		return wire.NewTxOut(1, slices.Concat([]byte(before), bytes.Repeat([]byte{3}, size), []byte(after)))
	}
	tx := bitcointest.Spend(from, 0, paid("\x76\xa9\x14", 20, "\x88\xac"), paid("\x00\x14", 20, ""), paid("\x51\x20", 32, ""))
	tx.TxIn[0].SignatureScript = make([]byte, 107)
	hash := from.TxHash()
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, 1), nil, wire.TxWitness{make([]byte, 72), make([]byte, 33)}))
	return tx
}

// BenchmarkFiles opens a folder of block files and reads all headers and blocks: blocks of 2,000 typical transactions,
// and empty blocks.
func BenchmarkFiles(b *testing.B) {
	for _, shape := range []struct {
		name        string
		blocks, txs int
	}{{"full", 60, 2000}, {"empty", 20_000, 0}} {
		b.Run(shape.name, func(b *testing.B) {
			c := bitcointest.NewChain()
			from := c.Tip().Transactions[0]
			for range shape.blocks {
				txs := make([]*wire.MsgTx, shape.txs)
				for i := range txs {
					from = typical(from)
					txs[i] = from
				}
				c.Mine(txs...)
			}
			file := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
			key := []byte("12345678")
			for i := range file {
				file[i] ^= key[i%len(key)]
			}
			dir := write(b, map[string][]byte{"blk00000.dat": file, "xor.dat": key})
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			blocks, txs := 0, 0
			for b.Loop() {
				s := mustOpen(b, "regtest", dir, func(o *model.SourceOptions) { o.Workers, o.Indexes = 0, []string{indexAddress, indexScriptHash} })
				for e, err := range s.Follow(b.Context(), nil) {
					if err != nil {
						b.Fatal(err)
					}
					blocks++
					txs += len(e.Block.Txs)
				}
			}
			b.ReportMetric(float64(blocks)/b.Elapsed().Seconds(), "blocks/s")
			b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
		})
	}
}
