package ergogen

import (
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Options say what chain is made.
type Options struct {
	Seed        uint64
	TxsPerBlock float64 // in the mean; 0: 6.85 as on mainnet. Blocks of 50 and more are full ones
}

// Block is a full block of a generated chain. Its memory is the caller's.
type Block struct {
	Height model.HeightPk
	ID     model.Hash
	Parent model.Hash
	JSON   []byte
	Counts
}

// Point of the block.
func (b *Block) Point() model.Point { return model.Point{Height: b.Height, Hash: b.ID} }

// Counts are how many there are of what a block or chain has.
type Counts struct {
	Blocks, Txs, Inputs, Outputs int
	Tokens                       int // entries of boxes
	Registers                    int
	Mints                        int // tokens that were made
	Burns                        int // tokens of which a transaction burned some or all
	Bytes                        int // of JSON
}

func (c *Counts) add(d Counts) {
	c.Blocks += d.Blocks
	c.Txs += d.Txs
	c.Inputs += d.Inputs
	c.Outputs += d.Outputs
	c.Tokens += d.Tokens
	c.Registers += d.Registers
	c.Mints += d.Mints
	c.Burns += d.Burns
	c.Bytes += d.Bytes
}

// Chain makes the blocks of a chain one after the other. It is for one goroutine.
type Chain struct {
	options Options
	rng     distribution.Random
	sigma   sigma.Encoder

	tip      model.Point // the origin before the first block
	first    model.Hash  // id of block 1
	time     uint64
	made     Counts
	emission coin                       // what miners are still to be paid out of
	unspent  distribution.Unspent[coin] // but for the emission
	births   uint32                     // scripts used so far, the head's included
	scripts  scripts
	entries  float64  // tokens that boxes lately hold in the mean
	hot      sigma.ID // the token held by more boxes than any other
	values   [][]byte // of registers, to be used again
	miners   []miner

	// Of the block and the transaction under way.
	counts    Counts
	miner     miner
	ids       []sigma.ID
	witnesses [][31]byte
	txs       []byte // their JSON
	txBytes   int    // of their serialization
	fees      []coin
	spent     []coin
	payments  []payment
	bag       []sigma.Token
	tx        sigma.Tx
	memory    []byte // of proofs and registers
	raw       []byte
}

// miner makes blocks.
type miner struct {
	script uint32 // that guards what he is paid
	key    key
}

// coin is an unspent box.
type coin struct {
	id     sigma.ID
	value  uint64
	script uint32
	tokens []sigma.Token // never changed: copies of a chain have them in common
}

// The emission box of mainnet and testnet: all that miners will ever be paid.
var (
	emissionID    = sigma.ID(unhex("b69575e11c5c43400bfead5976ee0d6245a1168396b2e2a4f384691f275d501c"))
	emissionValue = uint64(93_409_132_500_000_000)
)

const (
	nanoErgs = 1_000_000_000
	// The first block puts as much into circulation as trading needs.
	endowedBoxes = 1000
	endowedValue = 40_000_000 * nanoErgs / endowedBoxes
	reward       = 3 * nanoErgs // of a block

	minerCount = 40
	firstTime  = 1_780_000_000_000 // milliseconds since 1970
	blockTime  = 120_000
)

// New is a chain before its first block.
func New(o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = defaultTxsPerBlock
	}
	c := &Chain{
		options: o, rng: distribution.NewRandom(o.Seed, 0), births: headSize + 1, scripts: newScripts(o.Seed),
		emission: coin{id: emissionID, value: emissionValue}, time: firstTime,
	}
	for i := range minerCount {
		m := miner{c.fresh(), publicKey(distribution.Mix(o.Seed + uint64(i)))}
		c.scripts.set(m.script, slices.Concat(rewardHead, m.key[:], rewardTail))
		c.miners = append(c.miners, m)
	}
	return c
}

// Fork is a copy of the chain that goes on with a seed of its own: both have the blocks made so far in common. With
// the seed of another fork from the same block it makes the same blocks.
func (c *Chain) Fork(seed uint64) *Chain {
	f := *c
	f.rng = distribution.NewRandom(seed, uint64(c.tip.Height))
	f.unspent = c.unspent.Clone()
	f.scripts = c.scripts.clone()
	f.values = slices.Clone(c.values)
	f.sigma = sigma.Encoder{}
	f.ids, f.witnesses, f.txs, f.fees, f.spent, f.payments, f.bag, f.memory, f.raw = nil, nil, nil, nil, nil, nil, nil, nil, nil
	f.tx = sigma.Tx{}
	return &f
}

// Tip is the newest block; the origin before the first.
func (c *Chain) Tip() model.Point { return c.tip }

// Made is what the blocks made so far have together.
func (c *Chain) Made() Counts { return c.made }

// HotToken is the token that more boxes hold than any other; zero before the first was minted.
func (c *Chain) HotToken() model.Hash { return model.Hash(c.hot) }

// Next makes the next block.
func (c *Chain) Next() Block { return c.NextOf(blockTxs(c.rng, c.options.TxsPerBlock)) }

// NextOf makes the next block, with so many transactions besides those of its miner.
func (c *Chain) NextOf(txs int) Block {
	c.counts = Counts{Blocks: 1}
	c.ids, c.witnesses, c.txs, c.txBytes, c.fees = c.ids[:0], c.witnesses[:0], c.txs[:0], 0, c.fees[:0]
	c.unspent.Begin()
	c.miner = c.miners[min(c.rng.IntN(minerCount), c.rng.IntN(minerCount))]

	c.emit()
	for i := range txs {
		c.transaction(i == 0 && c.height()%fullEvery == firstFull)
	}
	c.gatherFees()
	b := c.assemble()
	c.counts.Bytes = len(b.JSON)
	b.Counts = c.counts
	c.made.add(c.counts)
	if c.tip.IsOrigin() {
		c.first = b.ID
	}
	c.tip = b.Point()
	return b
}

// height of the block under way.
func (c *Chain) height() uint32 { return uint32(c.tip.Height) + 1 }

// put adds an unspent box of the block under way.
func (c *Chain) put(made coin) {
	c.unspent.Put(made)
	c.entries += (float64(len(made.tokens)) - c.entries) / lately
}
