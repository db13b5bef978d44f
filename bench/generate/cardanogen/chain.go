package cardanogen

import (
	"math"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/immutabledb"
	"birthmark/model"
)

// Options say what chain is made.
type Options struct {
	Seed        uint64
	TxsPerBlock float64 // in the mean; 0: 6.5 as on mainnet. Blocks of 50 and more are full ones
	Magic       uint32  // of the network; 0: [DefaultMagic]
}

// DefaultMagic is the network magic of generated chains: of no public network.
const DefaultMagic = 0x42495254

// Block is a block of a generated chain. Its memory is the caller's.
type Block struct {
	immutabledb.Block
	Height model.HeightPk
	Counts
}

// Point of the block.
func (b *Block) Point() model.Point { return model.Point{Height: b.Height, Hash: b.Hash, Slot: b.Slot} }

// Counts are how many there are of what a block or chain has. Of transactions whose scripts failed only what they did
// is counted.
type Counts struct {
	Blocks, Txs, Inputs, Outputs int
	Assets                       int // entries of outputs
	Mints                        int // assets that a transaction minted or burned
	Failed                       int // transactions whose scripts failed
	Bytes                        int
}

func (c *Counts) add(d Counts) {
	c.Blocks += d.Blocks
	c.Txs += d.Txs
	c.Inputs += d.Inputs
	c.Outputs += d.Outputs
	c.Assets += d.Assets
	c.Mints += d.Mints
	c.Failed += d.Failed
	c.Bytes += d.Bytes
}

// Chain makes the blocks of a chain one after the other. It is for one goroutine.
type Chain struct {
	options Options
	names   uint64 // what hashes of keys, scripts and policies are made of
	rng     distribution.Random

	tip     model.Point // zero before the first block
	made    Counts
	unspent distribution.Unspent[coin]
	births  uint32 // addresses used so far, the head's included; an address's number is how many there were before it
	genesis Genesis

	universe
	entries float64 // assets that outputs lately hold in the mean

	// Of the block and the transaction under way.
	counts                 Counts
	bodies, witnesses, aux []byte
	metadata               int      // transactions with some
	failed                 []uint64 // transactions whose scripts failed
	spent                  []coin
	payments               []payment
	bag                    []held
	minted                 []change
	content                []byte // of a byte string
}

// coin is an unspent output.
type coin struct {
	tx      model.Hash
	index   uint32
	address uint32
	value   uint64
	assets  []held // never changed: copies of a chain have them in common
}

// New is a chain before its first block.
func New(o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = defaultTxsPerBlock
	}
	if o.Magic == 0 {
		o.Magic = DefaultMagic
	}
	c := &Chain{options: o, names: distribution.Mix(o.Seed), rng: distribution.NewRandom(o.Seed, 0), births: headSize + 1}
	c.unspent.Begin()
	c.endow()
	return c
}

// Fork is a copy of the chain that goes on with a seed of its own: both have the blocks made so far in common. With
// the seed of another fork from the same block it makes the same blocks.
func (c *Chain) Fork(seed uint64) *Chain {
	f := *c
	f.rng = distribution.NewRandom(seed, uint64(c.made.Blocks)+1)
	f.unspent = c.unspent.Clone()
	f.universe = c.universe.clone()
	f.bodies, f.witnesses, f.aux, f.failed = nil, nil, nil, nil
	f.spent, f.payments, f.bag, f.minted, f.content = nil, nil, nil, nil, nil
	return &f
}

// Tip is the newest block; the origin before the first.
func (c *Chain) Tip() model.Point { return c.tip }

// Made is what the blocks made so far have together.
func (c *Chain) Made() Counts { return c.made }

// Next makes the next block.
func (c *Chain) Next() Block { return c.NextOf(blockTxs(c.rng, c.options.TxsPerBlock)) }

// NextOf makes the next block, with so many transactions.
func (c *Chain) NextOf(txs int) Block {
	c.counts = Counts{Blocks: 1, Txs: txs}
	c.bodies, c.witnesses, c.aux = c.bodies[:0], c.witnesses[:0], c.aux[:0]
	c.metadata, c.failed = 0, c.failed[:0]

	slot, height := c.nextSlot(), model.HeightPk(0)
	if c.made.Blocks > 0 {
		height = c.tip.Height + 1
	}
	for i := range txs {
		c.transaction(uint64(i), slot)
	}
	b := c.assemble(height, slot, txs)
	c.counts.Bytes = len(b.Raw)
	b.Counts = c.counts
	c.made.add(c.counts)
	c.tip = b.Point()
	c.unspent.Begin()
	return b
}

// nextSlot is that of the next block: one slot in twenty has one.
func (c *Chain) nextSlot() uint64 {
	ahead := uint64(math.Log(1-c.rng.Float64()) / math.Log(1-1.0/slotsPerBlock))
	if c.made.Blocks == 0 {
		return ahead
	}
	return c.tip.Slot + 1 + ahead
}

// put adds an unspent output of the block under way.
func (c *Chain) put(made coin) {
	c.unspent.Put(made)
	c.entries += (float64(len(made.assets)) - c.entries) / lately
}
