package bench

import (
	"context"
	"iter"
	"slices"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/distribution"
	"birthmark/chains/bitcoin"
	"birthmark/model"
)

// Limits of a [Chain]: transactions have 32-bit numbers, and the outputs of a block must fit their pointers.
const (
	MaxTxs         = 1<<32 - 1
	MaxTxsPerBlock = 100_000
)

// Chain describes a chain to be generated.
type Chain struct {
	Name        string `json:"name"`          // a name of [ChainNames]; empty: bitcoin
	Txs         int    `json:"txs"`           // total, coinbases included; at most MaxTxs
	TxsPerBlock int    `json:"txs_per_block"` // average, at most MaxTxsPerBlock; 0: as mainnet, 2,000 for Bitcoin
	Seed        uint64 `json:"seed"`          // the same seed generates the same blocks

	// Indexes whose values outputs get; [model.Key.Index] is the position in the list. A Generator supports address (21
	// bytes, as in Bitcoin's adapter) and script_hash (32 bytes).
	Indexes []string `json:"indexes"`
	// Keep selects optional families of indexes.
	Keep map[string]model.IndexOptions `json:"keep,omitempty"`
	// Definitions are custom indexes. Only serialized blocks have values of them.
	Definitions []model.Definition `json:"definitions,omitempty"`
	// Serialized: blocks of Bitcoin are serialized and decoded by the adapter, like those of other chains, instead of
	// coming from a [Generator].
	Serialized bool `json:"serialized,omitempty"`

	// Raw: databases store serialized transactions. For Bitcoin this requires Serialized.
	Raw bool `json:"raw,omitempty"`

	// The last TipBlocks blocks of a [Generator] have TipTxs transactions each.
	TipBlocks int `json:"tip_blocks,omitempty"`
	TipTxs    int `json:"tip_txs,omitempty"`

	// HotOutputs is the number of additional outputs of one address, at most MaxHotShare per transaction. It requires a
	// [Generator]. HotUnspent: none of them is ever spent.
	HotOutputs int  `json:"hot_outputs,omitempty"`
	HotUnspent bool `json:"hot_unspent,omitempty"`

	// Runes: 14% of the outputs of a [Generator] are messages of runes, half of which mint and half of which move runes.
	Runes bool `json:"runes,omitempty"`
}

// MaxHotShare is the maximum number of hot outputs per transaction.
const MaxHotShare = 1.5

// generated reports whether a [Generator] generates the blocks.
func (c *Chain) generated() bool { return c.Name == bitcoin.Name && !c.Serialized }

// checkHot validates HotOutputs and HotUnspent.
func (c *Chain) checkHot() error {
	switch {
	case c.Runes && !c.generated():
		return model.Errorf(model.Usage, "bad_value", "runes are supported for generated blocks of %s only", bitcoin.Name)
	case c.HotOutputs == 0 && !c.HotUnspent:
		return nil
	case !c.generated():
		return model.Errorf(model.Usage, "bad_value", "hot outputs are supported for %s without custom indexes only", bitcoin.Name)
	case c.Txs > 0 && float64(c.HotOutputs) > MaxHotShare*float64(c.Txs):
		return model.Errorf(model.Usage, "bad_value", "invalid number of hot outputs %d in %d transactions: expected at most %d", c.HotOutputs, c.Txs, int(MaxHotShare*float64(c.Txs)))
	}
	return nil
}

func (c Chain) withDefaults() Chain {
	if c.Name == "" {
		c.Name = bitcoin.Name
	}
	if c.TxsPerBlock == 0 && c.Name == bitcoin.Name {
		c.TxsPerBlock = 2000
	}
	return c
}

const bytesPerTx = 428 // average on mainnet since block 709,632

// valueSizes maps the indexes that a Generator supports to the sizes of their values in bytes.
var valueSizes = map[string]int{"address": 21, "script_hash": 32}

// Generates reports whether a [Generator] supports the indexes.
func Generates(indexes []string) bool {
	return !slices.ContainsFunc(indexes, func(name string) bool { return valueSizes[name] == 0 })
}

// Generator generates blocks of Bitcoin without serializing them: hashes and values are random bytes, everything else
// follows the statistics of bitcoingen. It is not merged with bitcoingen's generator, because that serializes scripts
// and transactions, which takes longer than indexing and would change what [Append] measures.
type Generator struct {
	*expander
	chain Chain

	rng        distribution.Random
	shape      *bitcoingen.Shape
	recipients *bitcoingen.Recipients
	coins      bitcoingen.Coins[coin]

	hot     int     // hot outputs left to generate
	hotRate float64 // their probability among eligible outputs

	txs    uint32  // generated so far; also the number of the next transaction
	blocks int     // generated so far
	last   outline // the newest block
}

// coin is an unspent output.
type coin struct {
	spent
	value uint64
}

// NewGenerator returns a generator of a chain that [Chain.Resolve] accepts.
func NewGenerator(c Chain) *Generator {
	c = c.withDefaults()
	g := &Generator{
		expander: newExpander(&c), chain: c, rng: distribution.NewRandom(c.Seed, 0),
		shape: bitcoingen.NewShape(), recipients: bitcoingen.NewRecipients(), hot: c.HotOutputs,
	}
	if c.Txs > 0 {
		g.hotRate = 1.05 * float64(c.HotOutputs) / (furtherOutputs * float64(c.Txs))
	}
	return g
}

// Blocks generates all blocks of the chain.
func (g *Generator) Blocks(ctx context.Context) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		for _, n := range g.chain.plan() {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(g.Next(n), nil) {
				return
			}
		}
	}
}

// plan returns the number of transactions of each block, from 0.6 to 1.4 of the average. Block 0 has one: a coinbase
// with many outputs, which the next blocks spend.
func (c Chain) plan() []int {
	rng := distribution.NewRandom(c.Seed, 1)
	sizes := []int{1}
	for left := c.Txs - 1 - c.TipBlocks*c.TipTxs; left > 0; left -= sizes[len(sizes)-1] {
		sizes = append(sizes, min(left, max(rng.Around(float64(c.TxsPerBlock)), 1)))
	}
	return append(sizes, slices.Repeat([]int{c.TipTxs}, c.TipBlocks)...)
}

// furtherOutputs is a lower bound of the average number of outputs after the first one.
const furtherOutputs = 1.6

// Next generates a block with a coinbase and n-1 other transactions. The caller owns it.
func (g *Generator) Next(n int) *model.Block {
	g.draw(n)
	return g.block(&g.last)
}

// draw generates the outline of a block.
func (g *Generator) draw(n int) {
	o := &g.last
	o.reset()
	g.recipients.Begin()
	o.height, o.header, o.first, o.addresses = g.blocks, g.rng.Uint64(), g.txs, g.recipients.Births()
	for i := range n {
		t := outlineTx{g.shape.Inputs(g.rng), g.shape.Outputs(g.rng)}
		if i == 0 {
			t = outlineTx{0, 1}
			if g.blocks == 0 {
				t.outputs = 10 * g.chain.TxsPerBlock
			}
		}
		o.txs = append(o.txs, t)
	}
	fees := uint64(0)
	for i := range n {
		if i > 0 {
			fees += g.spend(o, i)
		}
	}
	// The coinbase claims the fees, so its outputs are generated last.
	g.pay(o, 0, subsidy(o.height)+fees)
	g.coins.End()
	g.txs += uint32(n)
	g.blocks++
}

// spend generates transaction i of the block and returns its fee. The transaction has fewer inputs than planned if no
// more outputs are unspent, but at least one: the previous transaction left an output.
func (g *Generator) spend(o *outline, i int) (fee uint64) {
	total, ins := uint64(0), 0
	for range o.txs[i].inputs {
		c, ok := g.coins.Take(g.rng)
		if !ok {
			break
		}
		o.inputs = append(o.inputs, c.spent)
		total += c.value
		ins++
	}
	o.txs[i].inputs = ins
	fee = total / 1000
	g.pay(o, i, total-fee)
	return fee
}

// pay generates the outputs of transaction i of the block, with a sum of total.
func (g *Generator) pay(o *outline, i int, total uint64) {
	n := o.txs[i].outputs
	each, rest := total/uint64(n), total
	for j := range n {
		value := rest
		if j < n-1 { // from half to one and a half of the mean
			value = min(rest, each/2+uint64(g.rng.Float64()*float64(each)))
		}
		rest -= value
		address, hot := g.recipient(j)
		o.outputs = append(o.outputs, paid{value, address})
		if !hot || !g.chain.HotUnspent {
			g.coins.Put(coin{spent{o.first + uint32(i), uint32(j)}, value})
		}
	}
}

// recipient returns the address of output j of a transaction. hot reports whether it counts as one of
// [Chain.HotOutputs]; a first output never does, so that each transaction leaves a spendable output.
func (g *Generator) recipient(j int) (address uint64, hot bool) {
	if g.hot > 0 && j > 0 && g.rng.Chance(g.hotRate) {
		g.hot--
		return bitcoingen.HotAddress, true
	}
	address, _ = g.recipients.Draw(g.rng, 0)
	return address, false
}

// subsidy returns the subsidy of Bitcoin in satoshi.
func subsidy(height int) uint64 {
	if halvings := height / 210_000; halvings < 64 {
		return 50_0000_0000 >> halvings
	}
	return 0
}
