package cardanogen

import (
	"math"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/immutabledb"
	"birthmark/bench/generate/skeleton"
	"birthmark/model"
)

// Options configure a chain.
type Options struct {
	Seed        uint64
	TxsPerBlock float64 // mean; 0: 6.5 as on mainnet. From 50 on all blocks are full
	Magic       uint32  // of the network; 0: [DefaultMagic]

	// Holders are new addresses that hold the hot asset: the first blocks after its first mint have one more transaction
	// each, which mints it for some of them. These outputs stay unspent.
	Holders int

	// AllParts adds parts that the chain lacks otherwise: an epoch of each era from Shelley to Babbage, certificates,
	// withdrawals, votes, proposals, and scripts with the hashes that addresses and policies have, their redeemers and
	// datums, in odd but valid encodings. It is for tests: the shape is not that of mainnet.
	AllParts bool

	// Crowded, with AllParts, sets all votes on the first governance action, and gives new committees 500 members.
	Crowded bool
}

// DefaultMagic is the network magic of generated chains. No public network has it.
const DefaultMagic = 0x42495254

// Block is a block of a generated chain. Its memory is the caller's.
type Block struct {
	immutabledb.Block
	Height model.HeightPk
	Counts
}

// Point of the block.
func (b *Block) Point() model.Point { return model.Point{Height: b.Height, Hash: b.Hash, Slot: b.Slot} }

// Counts are totals of a block or chain.
type Counts = skeleton.Counts

// Chain makes the blocks of a chain one after the other. Use it from one goroutine.
type Chain struct {
	skeleton.Chain
	options Options
	names   uint64 // number from which the next hash is made
	rng     distribution.Random

	unspent distribution.Unspent[coin]
	births  uint32 // addresses so far, including the head's; the number of an address is the count before it
	genesis Genesis

	universe
	registry
	references
	scripts map[uint64]*script // by number, as far as they were made

	entries float64 // recent mean of assets per output
	holders int     // that are still to be made

	// State of the current block and transaction.
	counts                 Counts
	era                    int
	slot                   uint64
	bodies, witnesses, aux []byte
	metadata               int      // transactions with metadata
	failed                 []uint64 // transactions with failed scripts
	spent                  []coin
	payments               []payment
	bag                    holdings
	minted                 []change
	parts                  extras
	content                []byte // of a byte string
}

// coin is an unspent output.
type coin struct {
	tx      model.Hash
	index   uint32
	address uint32
	value   uint64
	assets  holdings // immutable: shared by forks of the chain
	datum   []byte   // of which the output has the hash; only with [Options.AllParts]
}

// Worth returns the value.
func (c coin) Worth() uint64 { return c.value }

// New returns a chain without blocks.
func New(o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = defaultTxsPerBlock
	}
	if o.Magic == 0 {
		o.Magic = DefaultMagic
	}
	c := &Chain{options: o, names: distribution.Mix(o.Seed), rng: distribution.NewRandom(o.Seed, 0), births: headSize + 1, holders: o.Holders}
	c.unspent.Begin()
	if o.AllParts {
		c.references = references{}
	}
	c.era = c.eraAt(0)
	c.endow()
	return c
}

// Fork returns a copy of the chain that continues with its own seed; both share the blocks made so far. Forks of the
// same block with the same seed make the same blocks.
func (c *Chain) Fork(seed uint64) *Chain {
	f := *c
	f.rng = distribution.NewRandom(seed, uint64(c.Made().Blocks)+1)
	f.unspent = c.unspent.Clone()
	f.universe, f.registry, f.references, f.scripts = c.universe.clone(), c.registry.clone(), c.references.clone(), nil
	f.bodies, f.witnesses, f.aux, f.failed = nil, nil, nil, nil
	f.spent, f.payments, f.bag, f.minted, f.content = nil, nil, nil, nil, nil
	return &f
}

// Next makes the next block.
func (c *Chain) Next() Block { return c.NextOf(blockTxs(c.rng, c.options.TxsPerBlock)) }

// NextOf makes the next block with n transactions, and another one while [Options.Holders] are missing.
func (c *Chain) NextOf(txs int) Block {
	drops := c.holders > 0 && len(c.universe.assets) > 0
	if drops {
		txs++
	}
	c.counts = Counts{Blocks: 1, Txs: txs}
	c.bodies, c.witnesses, c.aux = c.bodies[:0], c.witnesses[:0], c.aux[:0]
	c.metadata, c.failed = 0, c.failed[:0]

	slot, height := c.nextSlot(), model.HeightPk(0)
	if c.Made().Blocks > 0 {
		height = c.Tip().Height + 1
	}
	c.slot, c.era = slot, c.eraAt(slot)
	for i := range txs {
		if drops && i == txs-1 {
			c.drop(uint64(i), slot)
		} else {
			c.transaction(uint64(i), slot)
		}
	}
	b := c.assemble(height, slot, txs)
	c.counts.Bytes = len(b.Raw)
	b.Counts = c.counts
	c.Add(b.Point(), c.counts)
	c.unspent.Begin()
	return b
}

// nextSlot returns the slot of the next block: one slot in twenty has one.
func (c *Chain) nextSlot() uint64 {
	ahead := uint64(math.Log(1-c.rng.Float64()) / math.Log(1-1.0/slotsPerBlock))
	if c.Made().Blocks == 0 {
		return ahead
	}
	return c.Tip().Slot + 1 + ahead
}

// put adds an unspent output of the current block.
func (c *Chain) put(made coin) {
	c.unspent.Put(made)
	c.entries += (float64(len(made.assets)) - c.entries) / lately
}
