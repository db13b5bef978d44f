package ergogen

import (
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/skeleton"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Options configure a chain.
type Options struct {
	Seed        uint64
	TxsPerBlock float64 // mean; 0: 6.85 as on mainnet. From 50 on all blocks are full
	// For tests of unusual parts: Values are serialized values that some registers and variables get, Registers and
	// Variables others that only one of these get, Trees are ErgoTrees, and Descriptions registers of boxes with a new
	// token.
	Values, Registers, Variables, Trees [][]byte
	Descriptions                        [][][]byte
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

// Counts are totals of a block or chain.
type Counts = skeleton.Counts

// Holdings of tokens.
type (
	held     = skeleton.Holding[sigma.ID]
	holdings = skeleton.Holdings[sigma.ID]
)

// Chain makes the blocks of a chain one after the other. Use it from one goroutine.
type Chain struct {
	skeleton.Chain
	options Options
	rng     distribution.Random
	sigma   sigma.Encoder

	first    model.Hash // id of block 1
	time     uint64
	emission coin                       // the remaining rewards of miners
	unspent  distribution.Unspent[coin] // without the emission
	births   uint32                     // scripts so far, including the head's
	scripts  scripts
	entries  float64  // recent mean of tokens per box
	hot      sigma.ID // the token that the most boxes hold
	values   [][]byte // of registers, for reuse
	miners   []miner

	// State of the current block and transaction.
	counts    Counts
	miner     miner
	ids       []sigma.ID
	witnesses [][31]byte
	txs       []byte // their JSON
	txBytes   int    // of their serialization
	fees      []coin
	spent     []coin
	payments  []payment
	bag       holdings
	tokens    []sigma.Token // of its outputs
	tx        sigma.Tx
	memory    []byte // of proofs and registers
	raw       []byte
}

// miner makes blocks.
type miner struct {
	script uint32 // of the miner's rewards
	key    key
}

// coin is an unspent box.
type coin struct {
	id     sigma.ID
	value  uint64
	script uint32
	tokens holdings // immutable: shared by forks of the chain
}

func (c coin) Worth() uint64 { return c.value }

// The emission box of mainnet and testnet: all future rewards of miners.
var (
	emissionID    = sigma.ID(unhex("b69575e11c5c43400bfead5976ee0d6245a1168396b2e2a4f384691f275d501c"))
	emissionValue = uint64(93_409_132_500_000_000)
)

const (
	nanoErgs = 1_000_000_000
	// The first block puts an initial amount into circulation.
	endowedBoxes = 1000
	endowedValue = 40_000_000 * nanoErgs / endowedBoxes
	reward       = 3 * nanoErgs // of a block

	minerCount = 40
	firstTime  = 1_780_000_000_000 // milliseconds since 1970
	blockTime  = 120_000
)

// New returns a chain without blocks.
func New(o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = defaultTxsPerBlock
	}
	c := &Chain{
		options: o, rng: distribution.NewRandom(o.Seed, 0), births: headSize + 1, scripts: newScripts(o.Seed, o.Trees),
		emission: coin{id: emissionID, value: emissionValue}, time: firstTime,
	}
	for i := range minerCount {
		m := miner{c.fresh(), publicKey(distribution.Mix(o.Seed + uint64(i)))}
		c.scripts.set(m.script, slices.Concat(rewardHead, m.key[:], rewardTail))
		c.miners = append(c.miners, m)
	}
	return c
}

// Fork returns a copy of the chain that continues with its own seed; both share the blocks made so far. Forks of the
// same block with the same seed make the same blocks.
func (c *Chain) Fork(seed uint64) *Chain {
	f := *c
	f.rng = distribution.NewRandom(seed, uint64(c.Tip().Height))
	f.unspent = c.unspent.Clone()
	f.scripts = c.scripts.clone()
	f.values = slices.Clone(c.values)
	f.sigma = sigma.Encoder{}
	f.ids, f.witnesses, f.txs, f.fees, f.spent, f.payments, f.bag, f.tokens, f.memory, f.raw = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
	f.tx = sigma.Tx{}
	return &f
}

// HotToken returns the token that the most boxes hold; zero before the first mint.
func (c *Chain) HotToken() model.Hash { return model.Hash(c.hot) }

// Next makes the next block.
func (c *Chain) Next() Block { return c.NextOf(blockTxs(c.rng, c.options.TxsPerBlock)) }

// NextOf makes the next block with n transactions in addition to those of its miner.
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
	if c.Tip().IsOrigin() {
		c.first = b.ID
	}
	c.Add(b.Point(), c.counts)
	return b
}

// height returns the height of the current block.
func (c *Chain) height() uint32 { return uint32(c.Tip().Height) + 1 }

// put adds an unspent box of the current block.
func (c *Chain) put(made coin) {
	c.unspent.Put(made)
	c.entries += (float64(len(made.tokens)) - c.entries) / lately
}
