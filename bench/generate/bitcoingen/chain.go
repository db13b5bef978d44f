package bitcoingen

import (
	"cmp"
	"math"

	"github.com/btcsuite/btcd/address/v2/base58"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/skeleton"
	"birthmark/model"
)

// Options configure a chain.
type Options struct {
	Seed        uint64
	Txs         int     // in total, coinbases included; eras are shares of it
	TxsPerBlock float64 // mean; 0: 2,000. Blocks that would exceed the maximum weight have fewer

	// Shares of the outputs; 0: as on mainnet. A large one takes the place of the others.
	HotOutputs, NewOutputs float64 // to the hot address, to new addresses

	// AllParts adds inscriptions as ord reads them, in every form, which take the place of half of the taproot signatures.
	AllParts bool
}

const defaultTxsPerBlock = 2000

// Block is a block of a generated chain.
type Block struct {
	Record []byte // as in block files: regtest's magic, the length, the block; owned by the caller
	Height model.HeightPk
	Hash   model.Hash
	Counts
}

// Raw is the block without the head of the record.
func (b *Block) Raw() []byte { return b.Record[recordHead:] }

// Counts are totals of a block or chain.
type Counts = skeleton.Counts

// Chain makes the blocks of a chain one after the other. Use it from one goroutine.
type Chain struct {
	skeleton.Chain
	options    Options
	names      uint64 // number from which the next script is made
	rng        distribution.Random
	shape      *Shape
	recipients *Recipients
	coins      Coins[coin]
	immature   [maturity][]coin // outputs of the last coinbases by height

	births []uint64 // by era: number of addresses at its beginning
	era    *era
	next   size // of the next transaction

	// State of the current block and transaction.
	counts          Counts
	ids, witnessIDs []model.Hash // the coinbase's is zero until the others are known
	body            []byte
	weight          int
	fees            uint64
	witnesses       bool // a transaction has a witness
	base, witness   []byte
	hasWitness      bool
	spent           []coin
	payments        []payment
	values          []uint64 // of payments to addresses
	inscribing      []Inscription

	inscriptions []Inscription
}

// New returns a chain that has only regtest's genesis block.
func New(o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = defaultTxsPerBlock
	}
	c := &Chain{
		options: o, names: distribution.Mix(o.Seed), rng: distribution.NewRandom(o.Seed, 0),
		shape: NewShape(), recipients: NewRecipients(), births: []uint64{0},
	}
	c.recipients.hot = cmp.Or(o.HotOutputs, hotOutputs)
	c.recipients.fresh = cmp.Or(o.NewOutputs, freshOutputs)
	return c
}

// opening is the number of transactions before any can spend: genesis and the coinbases of 100 blocks.
const opening = 1 + maturity

// endowment is the total number of outputs of the first hundred coinbases, which later transactions spend.
func (c *Chain) endowment() int {
	return int(min(10*c.options.TxsPerBlock, float64(c.options.Txs)/10, 200_000))
}

// HotAddress returns the address that the most outputs pay to, as text.
func (c *Chain) HotAddress() string {
	return base58.CheckEncode(filled(nil, hash160Size, c.names+HotAddress), regtest.PubKeyHashAddrID)
}

// Next makes the next block.
func (c *Chain) Next() Block { return c.nextOf(math.MaxInt) }

// nextOf makes the next block with at most n transactions.
func (c *Chain) nextOf(most int) Block {
	var b Block
	if c.Made().Blocks == 0 {
		b = genesis()
	} else {
		b = c.mine(min(most, max(1, c.rng.Around(c.options.TxsPerBlock)), 1+c.coins.Len()/2))
	}
	c.Add(model.Point{Height: b.Height, Hash: b.Hash}, b.Counts)
	return b
}

// mine makes a block of a coinbase and up to n-1 transactions.
func (c *Chain) mine(n int) Block {
	height := model.HeightPk(c.Made().Blocks)
	c.counts = Counts{Blocks: 1}
	c.ids, c.witnessIDs = append(c.ids[:0], model.Hash{}), append(c.witnessIDs[:0], model.Hash{})
	c.body, c.fees, c.witnesses, c.weight = c.body[:0], 0, false, c.coinbaseRoom(height)
	c.advance()
	if height == 1 || height > maturity {
		c.recipients.Begin() // the opening counts as one block, so that its addresses are not paid more often than others
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

	c.coins.Put(c.immature[(height+1)%maturity]...) // spendable in the next block
	c.coins.End()
	return b
}
