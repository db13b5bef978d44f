package bitcoingen

import (
	"math"

	"github.com/btcsuite/btcd/address/v2/base58"

	"birthmark/bench/generate/distribution"
	"birthmark/model"
)

// Options say what chain is made.
type Options struct {
	Seed        uint64
	Txs         int     // in all, coinbases included: eras of the chain are shares of it
	TxsPerBlock float64 // in the mean; 0: 2,000. Blocks that would weigh too much have fewer
}

const defaultTxsPerBlock = 2000

// Block is a block of a generated chain.
type Block struct {
	Record []byte // as block files hold it: regtest's magic, the length, the block; the caller's
	Height model.HeightPk
	Hash   model.Hash
	Counts
}

// Raw is the block by itself.
func (b *Block) Raw() []byte { return b.Record[recordHead:] }

// Counts are how many there are of what a block or chain has.
type Counts struct {
	Blocks, Txs, Outputs int
	Inputs               int // but for those of coinbases, which spend nothing
	Bytes                int // of blocks, without what a block file has beside them
}

func (c *Counts) add(d Counts) {
	c.Blocks += d.Blocks
	c.Txs += d.Txs
	c.Inputs += d.Inputs
	c.Outputs += d.Outputs
	c.Bytes += d.Bytes
}

// Chain makes the blocks of a chain one after the other. It is for one goroutine.
type Chain struct {
	options    Options
	names      uint64 // what scripts are made of
	rng        distribution.Random
	shape      *Shape
	recipients *Recipients
	coins      Coins[coin]
	immature   [maturity][]coin // what the last coinbases made, by their height

	tip    model.Point
	made   Counts
	births []uint64 // by era: how many addresses there were when it began
	era    *era
	next   size // of the transaction to come

	// Of the block and the transaction under way.
	counts          Counts
	ids, witnessIDs []model.Hash // the coinbase's is zero until the others are made
	body            []byte
	weight          int
	fees            uint64
	witnesses       bool // some transaction has one
	base, witness   []byte
	hasWitness      bool
	spent           []coin
	payments        []payment
	values          []uint64 // of the payments that pay somebody
}

// New is a chain before its first block, which is regtest's genesis.
func New(o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = defaultTxsPerBlock
	}
	return &Chain{
		options: o, names: distribution.Mix(o.Seed), rng: distribution.NewRandom(o.Seed, 0),
		shape: NewShape(), recipients: NewRecipients(), births: []uint64{0},
	}
}

// opening is how many transactions come before any can spend something: genesis and the coinbases of 100 blocks.
const opening = 1 + maturity

// endowment is how many outputs the first hundred coinbases have together, for the others to begin with.
func (c *Chain) endowment() int {
	return int(min(10*c.options.TxsPerBlock, float64(c.options.Txs)/10, 200_000))
}

// Tip is the newest block; the origin before the first.
func (c *Chain) Tip() model.Point { return c.tip }

// Made is what the blocks made so far have together.
func (c *Chain) Made() Counts { return c.made }

// HotAddress is the address that more outputs pay than any other, as people write it.
func (c *Chain) HotAddress() string {
	return base58.CheckEncode(filled(nil, hash160Size, c.names+HotAddress), regtest.PubKeyHashAddrID)
}

// Next makes the next block.
func (c *Chain) Next() Block { return c.nextOf(math.MaxInt) }

// nextOf is the next block, with so many transactions at most.
func (c *Chain) nextOf(most int) Block {
	var b Block
	if c.made.Blocks == 0 {
		b = genesis()
	} else {
		b = c.mine(min(most, max(1, c.rng.Around(c.options.TxsPerBlock)), 1+c.coins.Len()/2))
	}
	c.made.add(b.Counts)
	c.tip = model.Point{Height: b.Height, Hash: b.Hash}
	return b
}

// mine makes a block of a coinbase and up to n-1 transactions.
func (c *Chain) mine(n int) Block {
	height := model.HeightPk(c.made.Blocks)
	c.counts = Counts{Blocks: 1}
	c.ids, c.witnessIDs = append(c.ids[:0], model.Hash{}), append(c.witnessIDs[:0], model.Hash{})
	c.body, c.fees, c.witnesses, c.weight = c.body[:0], 0, false, c.coinbaseRoom(height)
	c.advance()
	if height == 1 || height > maturity {
		c.recipients.Begin() // the opening is as one block: its addresses are paid again no more than those of others
	}
	for range n - 1 {
		if c.next == (size{}) {
			c.next = size{c.shape.Inputs(c.rng), c.shape.Outputs(c.rng)}
		}
		if c.weight+c.next.mostWeight() > mostWeight {
			break
		}
		c.transaction(c.next)
		c.next = size{}
	}
	b := c.assemble(height)
	c.counts.Bytes = len(b.Raw())
	b.Counts = c.counts

	c.coins.Put(c.immature[(height+1)%maturity]...) // what may be spent in the next block
	c.coins.End()
	return b
}
