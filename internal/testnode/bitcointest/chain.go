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

// Chain is a regtest chain that begins with the genesis block.
type Chain struct {
	// PayTo is the output script of coinbases: by default a P2PKH that nobody can spend.
	PayTo []byte
	// Start and Step set the times of new blocks: Start + height × Step. Defaults: the time of the genesis block, ten
	// minutes.
	Start time.Time
	Step  time.Duration

	blocks []*wire.MsgBlock
	mined  *uint32 // shared by all chains of one origin, so that no two coinbases are equal
}

// NewChain returns a chain with the genesis block only.
func NewChain() *Chain {
	return &Chain{
		PayTo:  slices.Concat([]byte{0x76, 0xa9, 20}, bytes.Repeat([]byte{0x11}, 20), []byte{0x88, 0xac}),
		Start:  chaincfg.RegressionNetParams.GenesisBlock.Header.Timestamp,
		Step:   10 * time.Minute,
		blocks: []*wire.MsgBlock{chaincfg.RegressionNetParams.GenesisBlock},
		mined:  new(uint32),
	}
}

// Fork returns a chain that shares the blocks up to and including height.
func (c *Chain) Fork(height int) *Chain {
	f := *c
	f.blocks = slices.Clone(c.blocks[:height+1])
	return &f
}

// Blocks returns the blocks by height.
func (c *Chain) Blocks() []*wire.MsgBlock { return slices.Clone(c.blocks) }

// Height returns the height of the tip.
func (c *Chain) Height() int { return len(c.blocks) - 1 }

// Tip returns the last block.
func (c *Chain) Tip() *wire.MsgBlock { return c.blocks[len(c.blocks)-1] }

// MineEmpty adds n blocks that have only a coinbase.
func (c *Chain) MineEmpty(n int) {
	for range n {
		c.Mine()
	}
}

// Mine adds a block with a coinbase and txs. The coinbase claims the subsidy and no fees.
func (c *Chain) Mine(txs ...*wire.MsgTx) *wire.MsgBlock {
	return c.MineCoinbase(func(*wire.MsgTx) {}, txs...)
}

// MineCoinbase is Mine with a function that changes the coinbase.
func (c *Chain) MineCoinbase(change func(coinbase *wire.MsgTx), txs ...*wire.MsgTx) *wire.MsgBlock {
	height := len(c.blocks)
	*c.mined++
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: 0xffffffff},
		SignatureScript:  append(pushNumber(height), 4, byte(*c.mined), byte(*c.mined>>8), byte(*c.mined>>16), byte(*c.mined>>24)),
		Sequence:         0xffffffff,
	})
	coinbase.AddTxOut(wire.NewTxOut(Subsidy(height), c.PayTo))
	change(coinbase)

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

// Spend returns a transaction that spends an output of from and makes outputs.
func Spend(from *wire.MsgTx, output uint32, outputs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	hash := from.TxHash()
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, output), nil, nil))
	for _, o := range outputs {
		tx.AddTxOut(o)
	}
	return tx
}

// Subsidy is the subsidy of a coinbase at a height on regtest.
func Subsidy(height int) int64 {
	return int64(50e8) >> (height / int(chaincfg.RegressionNetParams.SubsidyReductionInterval))
}

// Seal recomputes a block's merkle root and proof of work after a change.
func Seal(b *wire.MsgBlock) {
	ids := make([]chainhash.Hash, len(b.Transactions))
	for i, tx := range b.Transactions {
		ids[i] = tx.TxHash()
	}
	b.Header.MerkleRoot = merkleRoot(ids)
	Work(b)
}

// Work finds a nonce for which the header has the proof of work of its bits.
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

// Bytes returns a serialized block.
func Bytes(b *wire.MsgBlock) []byte {
	var out bytes.Buffer
	if err := b.Serialize(&out); err != nil {
		panic(err) // writing to memory does not fail
	}
	return out.Bytes()
}

// BlockFile returns the blocks as records of a block file.
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
	ids := make([]chainhash.Hash, len(b.Transactions)) // the witness hash of the coinbase is zero
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

// pushNumber returns the script that pushes a height as BIP 34 requires.
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
