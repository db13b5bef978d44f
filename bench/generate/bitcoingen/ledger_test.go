package bitcoingen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testseed"
)

// unspent is an unspent output in the ledger.
type unspent struct {
	value    int64
	height   int
	coinbase bool
}

// ledger checks the blocks of a regtest chain against a node's rules, except scripts.
type ledger struct {
	height  int // height of the next block
	tip     chainhash.Hash
	unspent map[wire.OutPoint]unspent
}

func newLedger() *ledger { return &ledger{unspent: map[wire.OutPoint]unspent{}} }

// add checks a block and returns it as parsed by btcd.
func (l *ledger) add(t *testing.T, b Block) *wire.MsgBlock {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("block %d: %s", l.height, fmt.Sprintf(format, args...))
	}
	if magic, n := binary.LittleEndian.Uint32(b.Record), binary.LittleEndian.Uint32(b.Record[4:]); magic != uint32(wire.TestNet) || int(n) != len(b.Raw()) {
		fail("its record begins with %x", b.Record[:8])
	}
	var block wire.MsgBlock
	in := bytes.NewReader(b.Raw())
	if err := block.Deserialize(in); err != nil || in.Len() > 0 {
		fail("%v, %d bytes follow", err, in.Len())
	}
	if int(b.Height) != l.height || block.Header.PrevBlock != l.tip || chainhash.Hash(b.Hash) != block.BlockHash() {
		fail("height %d, parent %s, expected %s", b.Height, block.Header.PrevBlock, l.tip)
	}
	whole := btcutil.NewBlock(&block)
	if err := blockchain.CheckBlockSanity(whole, regtest.PowLimit, blockchain.NewMedianTime()); err != nil {
		fail("%v", err)
	}
	if err := blockchain.ValidateWitnessCommitment(whole); err != nil {
		fail("%v", err)
	}
	if w := blockchain.GetBlockWeight(whole); w > blockchain.MaxBlockWeight {
		fail("it weighs %d", w)
	}
	counts := Counts{Blocks: 1, Txs: len(block.Transactions), Bytes: len(b.Raw())}
	fees, claimed := int64(0), int64(0)
	for i, tx := range whole.Transactions() {
		spent := int64(0)
		if i > 0 {
			counts.Inputs += len(tx.MsgTx().TxIn)
			for _, in := range tx.MsgTx().TxIn {
				at := in.PreviousOutPoint
				o, ok := l.unspent[at]
				if !ok {
					fail("transaction %d spends %s, which is not there or spent", i, at)
				}
				if o.coinbase && l.height-o.height < int(regtest.CoinbaseMaturity) {
					fail("transaction %d spends what a coinbase made in block %d", i, o.height)
				}
				delete(l.unspent, at)
				spent += o.value
			}
			if !blockchain.IsFinalizedTransaction(tx, int32(l.height), block.Header.Timestamp) {
				fail("transaction %d is not final", i)
			}
		}
		counts.Outputs += len(tx.MsgTx().TxOut)
		paid := int64(0)
		for j, o := range tx.MsgTx().TxOut {
			paid += o.Value
			if txscript.IsUnspendable(o.PkScript) {
				if o.Value > 0 {
					fail("output %d of transaction %d burns %d", j, i, o.Value)
				}
			} else if l.height > 0 { // outputs of genesis are unspendable
				l.unspent[wire.OutPoint{Hash: *tx.Hash(), Index: uint32(j)}] = unspent{o.Value, l.height, i == 0}
			}
		}
		if i == 0 {
			claimed = paid
		} else if fees += spent - paid; paid > spent {
			fail("transaction %d spends %d and pays %d", i, spent, paid)
		}
	}
	if allowed := blockchain.CalcBlockSubsidy(int32(l.height), regtest) + fees; claimed != allowed {
		fail("its coinbase claims %d, expected %d", claimed, allowed)
	}
	if l.height > 0 {
		if err := blockchain.CheckSerializedHeight(whole.Transactions()[0], int32(l.height)); err != nil {
			fail("%v", err)
		}
	}
	if b.Counts != counts {
		fail("counted %+v, it has %+v", b.Counts, counts)
	}
	l.height, l.tip = l.height+1, block.BlockHash()
	return &block
}

func TestBlocksPassConsensusChecks(t *testing.T) {
	for _, o := range []Options{
		{Txs: 1}, {Txs: 100}, {Txs: 102}, {Txs: 300, TxsPerBlock: 1}, {Txs: 3000, TxsPerBlock: 10}, {Txs: 20_000, TxsPerBlock: 300}, {Txs: 40_000},
		{Txs: 30_000, TxsPerBlock: 50_000}, // more than the weight allows
	} {
		t.Run(fmt.Sprint(o.Txs, "of", o.TxsPerBlock), func(t *testing.T) {
			o.Seed = testseed.New(t)
			l, c, last := newLedger(), New(o), Block{}
			for c.Made().Txs < o.Txs {
				last = c.nextOf(o.Txs - c.Made().Txs)
				l.add(t, last)
			}
			if m := c.Made(); m.Txs != o.Txs || m.Blocks != l.height || c.Tip().Hash != last.Hash || c.Tip().Height != last.Height {
				t.Errorf("made %+v, the tip is %v", m, c.Tip())
			}
		})
	}
}

// The time of the last block must not be in the future, or nodes reject the chain.
func TestLongChainDoesNotEndInTheFuture(t *testing.T) {
	end := regtest.GenesisBlock.Header.Timestamp.Add(4_000_000 * blockTime * time.Second)
	if end.After(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("four million blocks end at %s", end)
	}
}

// Regtest's subsidy is zero after 5,000 blocks. Fees remain.
func TestChainWithoutSubsidies(t *testing.T) {
	c, l := New(Options{Seed: testseed.New(t), Txs: 30_000, TxsPerBlock: 2}), newLedger()
	for c.Made().Blocks < 10_000 {
		l.add(t, c.Next())
	}
	if m := c.Made(); m.Txs < m.Blocks*5/4 {
		t.Errorf("%+v", m)
	}
}
