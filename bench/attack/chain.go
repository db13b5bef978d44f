package attack

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

// lanes is the number of transactions of a block. Each spends an output of the transaction at the same place in the
// block before.
const lanes = 2000

// payment is the value of an output to the hot script.
const payment = 600

// payee returns the i-th P2WPKH script. The hot one is payee 0.
func payee(i int) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{0, 20}, make([]byte, 12)...), uint64(i))
}

// bitcoinChain is a regtest chain whose transactions pay to one script, and unconfirmed transactions that do too.
type bitcoinChain struct {
	*bitcointest.Chain
	pool []*wire.MsgTx
}

// makeBitcoin returns a chain with at least txs transactions that pay to the hot script, and unconfirmed others.
func makeBitcoin(txs, unconfirmed int) *bitcoinChain {
	c := &bitcoinChain{Chain: bitcointest.NewChain()}
	width := min(lanes, max(1, txs))
	before := c.share(width).Transactions[:1]
	for made := 0; made < txs; made += width {
		block := make([]*wire.MsgTx, width)
		for i := range block {
			from, output := before[0], uint32(i)
			if len(before) > 1 {
				from, output = before[1+i], 1
			}
			block[i] = pay(from, output, i)
		}
		before = c.Mine(block...).Transactions
	}
	for left := unconfirmed; left > 0; left -= mostShares {
		n := min(left, mostShares)
		coinbase := c.share(n).Transactions[0]
		for i := range n {
			c.pool = append(c.pool, pay(coinbase, uint32(i), i))
		}
	}
	return c
}

// mostShares is the number of outputs of a coinbase that fits into a block.
const mostShares = 20_000

// share mines a block whose coinbase has n outputs.
func (c *bitcoinChain) share(n int) *wire.MsgBlock {
	return c.MineCoinbase(func(tx *wire.MsgTx) {
		value := tx.TxOut[0].Value / int64(n)
		tx.TxOut = nil
		for i := range n {
			tx.AddTxOut(wire.NewTxOut(value, payee(1+i)))
		}
	})
}

// pay returns a transaction that spends an output, and pays to the hot script and to payee 1+i.
func pay(from *wire.MsgTx, output uint32, i int) *wire.MsgTx {
	rest := from.TxOut[output].Value - payment - 100
	return bitcointest.Spend(from, output, wire.NewTxOut(payment, payee(0)), wire.NewTxOut(rest, payee(1+i)))
}

// write writes the blocks as a file in a folder, and returns the URI of the folder.
func (c *bitcoinChain) write(dir string) (uri string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, c.Blocks()...), 0o644); err != nil {
		return "", err
	}
	return "file://" + strings.TrimSuffix(dir, "/"), nil
}
