package bitcointest

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Chain is a chain of regtest from genesis on.
type Chain struct {
	// PayTo is the output script of coinbases: a P2PKH to nobody's key unless changed.
	PayTo []byte
	// Start and Step are the clock of the blocks to come: one at height h is of Start and h times Step. They are the
	// time of the genesis block and ten minutes unless changed.
	Start time.Time
	Step  time.Duration

	blocks []*wire.MsgBlock
	mined  *uint32 // of all chains with the same origin, so that no two coinbases are alike
}

// NewChain is a chain of the genesis block.
func NewChain() *Chain {
	return &Chain{
		PayTo:  slices.Concat([]byte{0x76, 0xa9, 20}, bytes.Repeat([]byte{0x11}, 20), []byte{0x88, 0xac}),
		Start:  chaincfg.RegressionNetParams.GenesisBlock.Header.Timestamp,
		Step:   10 * time.Minute,
		blocks: []*wire.MsgBlock{chaincfg.RegressionNetParams.GenesisBlock},
		mined:  new(uint32),
	}
}

// Fork is a chain that shares the blocks up to and including height, and goes its own way from there.
func (c *Chain) Fork(height int) *Chain {
	f := *c
	f.blocks = slices.Clone(c.blocks[:height+1])
	return &f
}

// Blocks are the blocks by height.
func (c *Chain) Blocks() []*wire.MsgBlock { return slices.Clone(c.blocks) }

// Height of the tip.
func (c *Chain) Height() int { return len(c.blocks) - 1 }

// Tip is the last block.
func (c *Chain) Tip() *wire.MsgBlock { return c.blocks[len(c.blocks)-1] }

// MineEmpty adds n blocks with nothing but their coinbase.
func (c *Chain) MineEmpty(n int) {
	for range n {
		c.Mine()
	}
}

// Mine adds a block with the transactions behind its coinbase. The coinbase claims the subsidy and no fees.
func (c *Chain) Mine(txs ...*wire.MsgTx) *wire.MsgBlock {
	height := len(c.blocks)
	*c.mined++
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: 0xffffffff},
		SignatureScript:  append(pushNumber(height), 4, byte(*c.mined), byte(*c.mined>>8), byte(*c.mined>>16), byte(*c.mined>>24)),
		Sequence:         0xffffffff,
	})
	coinbase.AddTxOut(wire.NewTxOut(Subsidy(height), c.PayTo))

	b := wire.NewMsgBlock(&wire.BlockHeader{
		Version:   0x20000000,
		PrevBlock: c.Tip().BlockHash(),
		Timestamp: c.Start.Add(time.Duration(height) * c.Step),
		Bits:      chaincfg.RegressionNetParams.PowLimitBits,
	})
	b.Transactions = append([]*wire.MsgTx{coinbase}, txs...)
	if slices.ContainsFunc(txs, (*wire.MsgTx).HasWitness) {
		commit(b)
	}
	Seal(b)
	c.blocks = append(c.blocks, b)
	return b
}

// Spend is a transaction that spends an output of from and makes outputs.
func Spend(from *wire.MsgTx, output uint32, outputs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	hash := from.TxHash()
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, output), nil, nil))
	for _, o := range outputs {
		tx.AddTxOut(o)
	}
	return tx
}

// Subsidy is what the coinbase at a height may claim on regtest.
func Subsidy(height int) int64 {
	return int64(50e8) >> (height / int(chaincfg.RegressionNetParams.SubsidyReductionInterval))
}

// Seal makes a block's merkle root and proof of work right again after a change.
func Seal(b *wire.MsgBlock) {
	ids := make([]chainhash.Hash, len(b.Transactions))
	for i, tx := range b.Transactions {
		ids[i] = tx.TxHash()
	}
	b.Header.MerkleRoot = merkleRoot(ids)
	Work(b)
}

// Work looks for a nonce that gives the header the proof of work it states, whatever else is in it.
func Work(b *wire.MsgBlock) {
	exponent, mantissa := uint(b.Header.Bits>>24), int64(b.Header.Bits&0x7fffff)
	target := new(big.Int).Lsh(big.NewInt(mantissa), 8*(exponent-3))
	for b.Header.Nonce = 0; ; b.Header.Nonce++ {
		hash := b.BlockHash()
		slices.Reverse(hash[:])
		if new(big.Int).SetBytes(hash[:]).Cmp(target) <= 0 {
			return
		}
	}
}

// Bytes is a block serialized.
func Bytes(b *wire.MsgBlock) []byte {
	var out bytes.Buffer
	if err := b.Serialize(&out); err != nil {
		panic(err) // memory takes what is written
	}
	return out.Bytes()
}

// BlockFile is blocks in the records of a block file.
func BlockFile(magic wire.BitcoinNet, blocks ...*wire.MsgBlock) []byte {
	var out []byte
	for _, b := range blocks {
		raw := Bytes(b)
		out = binary.LittleEndian.AppendUint32(out, uint32(magic))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(raw)))
		out = append(out, raw...)
	}
	return out
}

// commit adds the witness commitment to a block's coinbase (BIP 141).
func commit(b *wire.MsgBlock) {
	ids := make([]chainhash.Hash, len(b.Transactions)) // the coinbase counts as zeros
	for i, tx := range b.Transactions[1:] {
		ids[i+1] = tx.WitnessHash()
	}
	root := merkleRoot(ids)
	reserved := make([]byte, 32)
	commitment := chainhash.DoubleHashB(append(root[:], reserved...))
	coinbase := b.Transactions[0]
	coinbase.TxIn[0].Witness = wire.TxWitness{reserved}
	coinbase.AddTxOut(wire.NewTxOut(0, append([]byte{0x6a, 36, 0xaa, 0x21, 0xa9, 0xed}, commitment...)))
}

func merkleRoot(level []chainhash.Hash) chainhash.Hash {
	for len(level) > 1 {
		var above []chainhash.Hash
		for i := 0; i < len(level); i += 2 {
			left, right := level[i], level[min(i+1, len(level)-1)]
			above = append(above, chainhash.DoubleHashH(append(left[:], right[:]...)))
		}
		level = above
	}
	return level[0]
}

// pushNumber is the script that pushes a height as BIP 34 wants it.
func pushNumber(n int) []byte {
	if n >= 1 && n <= 16 {
		return []byte{0x50 + byte(n)}
	}
	var le []byte
	for ; n > 0; n >>= 8 {
		le = append(le, byte(n))
	}
	if le[len(le)-1]&0x80 != 0 {
		le = append(le, 0)
	}
	return append([]byte{byte(len(le))}, le...)
}
