package bench

import (
	"slices"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/distribution"
	"birthmark/chains/bitcoin"
	"birthmark/model"
)

// What a [Chain] can have at most: numbers of transactions are 32 bits, and a block's outputs must fit their pointers.
const (
	MaxTxs         = 1<<32 - 1
	MaxTxsPerBlock = 50_000
)

// Chain is a chain to be generated. A [Generator] makes those of Bitcoin.
type Chain struct {
	Name        string `json:"name"`          // bitcoin where it is empty; cardano, ergo
	Txs         int    `json:"txs"`           // in all, coinbases included; at most MaxTxs
	TxsPerBlock int    `json:"txs_per_block"` // in the mean, at most MaxTxsPerBlock; 0: as mainnet has, of Bitcoin 2,000
	Seed        uint64 `json:"seed"`          // the same seed makes the same blocks

	// Indexes that outputs get values of; [model.Key.Index] is the position in here. A Generator knows address (21 bytes,
	// as Bitcoin's adapter has them) and script_hash (32 bytes).
	Indexes []string `json:"indexes"`
	// Keep is what a database keeps for indexes besides; nil: nothing.
	Keep map[string]model.IndexOptions `json:"keep,omitempty"`
	// Definitions are indexes of one's own. Only blocks that go through the chain's adapter have values of these.
	Definitions []model.Definition `json:"definitions,omitempty"`
	// Serialized: blocks of Bitcoin go through the adapter, as those of other chains do: a [Generator] makes none.
	Serialized bool `json:"serialized,omitempty"`

	// Raw: transactions come with their bytes, and a database keeps them. Of Bitcoin only Serialized blocks have any.
	Raw bool `json:"raw,omitempty"`

	// The last TipBlocks blocks of a chain of Bitcoin have TipTxs transactions each.
	TipBlocks int `json:"tip_blocks,omitempty"`
	TipTxs    int `json:"tip_txs,omitempty"`

	// HotOutputs is how many outputs more than others one address has, at most MaxHotShare of the transactions; of Bitcoin
	// that is not Serialized. HotUnspent: none of them is ever spent, which leaves others to be spent sooner.
	HotOutputs int  `json:"hot_outputs,omitempty"`
	HotUnspent bool `json:"hot_unspent,omitempty"`
}

// MaxHotShare is the most hot outputs for each transaction that there can be.
const MaxHotShare = 1.5

// generated reports whether a [Generator] makes the blocks.
func (c *Chain) generated() bool { return c.Name == bitcoin.Name && !c.Serialized }

// checkHot refuses hot outputs that cannot be.
func (c *Chain) checkHot() error {
	switch {
	case c.HotOutputs == 0 && !c.HotUnspent:
		return nil
	case !c.generated():
		return model.Errorf(model.Usage, "bad_value", "hot outputs are of generated blocks of %s without indexes of one's own", bitcoin.Name)
	case c.Txs > 0 && float64(c.HotOutputs) > MaxHotShare*float64(c.Txs):
		return model.Errorf(model.Usage, "bad_value", "%d hot outputs in %d transactions: expected at most %d", c.HotOutputs, c.Txs, int(MaxHotShare*float64(c.Txs)))
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

const bytesPerTx = 428 // of mainnet since block 709,632

// valueSizes are the indexes a generator has values for, and how long those are.
var valueSizes = map[string]int{"address": 21, "script_hash": 32}

// Generates reports whether a [Generator] has values of the indexes.
func Generates(indexes []string) bool {
	return !slices.ContainsFunc(indexes, func(name string) bool { return valueSizes[name] == 0 })
}

// Generator makes the blocks of a [Chain] one after the other.
type Generator struct {
	chain       Chain
	sizes       []int // of the values, by index
	outputBytes int   // of the values of one output

	rng        distribution.Random
	shape      *bitcoingen.Shape
	recipients *bitcoingen.Recipients
	coins      bitcoingen.Coins[coin]

	hot     int     // outputs to the hot address that are still to come
	hotRate float64 // share of them in the outputs that may be

	txs    uint32   // made so far; a transaction's number is how many came before it
	blocks int      // made so far
	counts [][2]int // inputs and outputs of the transactions of the block being made
}

// coin is an unspent output.
type coin struct {
	tx    uint32 // number of its transaction
	index uint32
	value uint64
}

// NewGenerator is a generator before its first block. An error of kind [model.Usage] where it has no values for one
// of the indexes.
func NewGenerator(c Chain) (*Generator, error) {
	c = c.withDefaults()
	g := &Generator{
		chain: c, rng: distribution.NewRandom(c.Seed, 0),
		shape: bitcoingen.NewShape(), recipients: bitcoingen.NewRecipients(), hot: c.HotOutputs,
	}
	if err := c.checkHot(); err != nil {
		return nil, err
	}
	if c.Txs > 0 {
		g.hotRate = 1.05 * float64(c.HotOutputs) / (furtherOutputs * float64(c.Txs))
	}
	for _, name := range c.Indexes {
		size, ok := valueSizes[name]
		if !ok {
			return nil, model.Errorf(model.Usage, "unknown_index", "generated blocks have no values of index %q: expected address or script_hash", name)
		}
		g.sizes = append(g.sizes, size)
		g.outputBytes += size
	}
	return g, nil
}

// plan is how many transactions each block has, from 0.6 to 1.4 of the mean. Block 0 has one: a coinbase whose outputs the next blocks spend.
func (c Chain) plan() []int {
	rng := distribution.NewRandom(c.Seed, 1)
	sizes := []int{1}
	for left := c.Txs - 1 - c.TipBlocks*c.TipTxs; left > 0; left -= sizes[len(sizes)-1] {
		sizes = append(sizes, min(left, max(rng.Around(float64(c.TxsPerBlock)), 1)))
	}
	return append(sizes, slices.Repeat([]int{c.TipTxs}, c.TipBlocks)...)
}

// furtherOutputs is how many outputs a transaction has in the mean behind its first, at the least.
const furtherOutputs = 1.6

// Next makes the next block, with a coinbase and n-1 other transactions. The block is the caller's.
func (g *Generator) Next(n int) *model.Block {
	h := g.blocks
	g.recipients.Begin()
	b := &model.Block{
		Height: model.HeightPk(h), Hash: blockHash(g.chain.Seed, h), Time: 1231006505 + 600*int64(h),
		Size: n * bytesPerTx, Header: g.bytes(80), Txs: make([]model.Tx, n),
	}
	if h > 0 {
		b.Parent = blockHash(g.chain.Seed, h-1)
	}

	// Counts first, so that a block is a few allocations and not thousands.
	g.counts = g.counts[:0]
	ins, outs := 0, 0
	for i := range n {
		c := [2]int{g.shape.Inputs(g.rng), g.shape.Outputs(g.rng)}
		if i == 0 {
			c = [2]int{0, 1}
			if h == 0 {
				c[1] = 10 * g.chain.TxsPerBlock
			}
		}
		g.counts = append(g.counts, c)
		ins, outs = ins+c[0], outs+c[1]
	}
	a := arena{
		inputs: make([]model.Input, ins), outputs: make([]model.Output, outs),
		keys: make([]model.Key, outs*len(g.sizes)), bytes: make([]byte, outs*g.outputBytes),
	}
	fees := uint64(0)
	for i := range n {
		if i > 0 {
			fees += g.spend(b, i, &a)
		}
	}
	// The coinbase comes first and claims what the others leave, so its outputs are made last.
	g.pay(&b.Txs[0], g.txs, g.counts[0][1], subsidy(h)+fees, &a)
	g.coins.End()
	g.txs += uint32(n)
	g.blocks++
	return b
}

// arena is the memory of a block that is not handed out yet.
type arena struct {
	inputs  []model.Input
	outputs []model.Output
	keys    []model.Key
	bytes   []byte
}

func take[T any](from *[]T, n int) []T {
	s := (*from)[:n:n]
	*from = (*from)[n:]
	return s
}

// spend makes transaction i of the block and returns its fee. The transaction has fewer inputs than planned where
// there is no more to spend, but never none: the transaction before it left an output.
func (g *Generator) spend(b *model.Block, i int, a *arena) (fee uint64) {
	tx := &b.Txs[i]
	ins := take(&a.inputs, g.counts[i][0])
	total := uint64(0)
	for j := range ins {
		c, ok := g.coins.Take(g.rng)
		if !ok {
			break
		}
		ins[j] = model.Input{Tx: txHash(g.chain.Seed, c.tx), Index: c.index}
		tx.Inputs = ins[:j+1]
		total += c.value
	}
	fee = total / 1000
	g.pay(tx, g.txs+uint32(i), g.counts[i][1], total-fee, a)
	return fee
}

// pay gives a transaction n outputs that sum up to total.
func (g *Generator) pay(tx *model.Tx, number uint32, n int, total uint64, a *arena) {
	tx.Hash = txHash(g.chain.Seed, number)
	tx.Outputs = take(&a.outputs, n)
	each, rest := total/uint64(n), total
	for j := range tx.Outputs {
		value := rest
		if j < n-1 { // from half to one and a half of the mean
			value = min(rest, each/2+uint64(g.rng.Float64()*float64(each)))
		}
		rest -= value
		address, hot := g.recipient(j)
		tx.Outputs[j] = model.Output{Value: value, Keys: g.keys(address, a)}
		if !hot || !g.chain.HotUnspent {
			g.coins.Put(coin{number, uint32(j), value})
		}
	}
}

// recipient is the address of output j of a transaction; hot: it is one of those that [Chain.HotOutputs] asks for. A first
// output is none, so that each transaction leaves something to be spent.
func (g *Generator) recipient(j int) (address uint64, hot bool) {
	if g.hot > 0 && j > 0 && g.rng.Chance(g.hotRate) {
		g.hot--
		return bitcoingen.HotAddress, true
	}
	address, _ = g.recipients.Draw(g.rng, 0)
	return address, false
}

// keys are the values of an address in every index.
func (g *Generator) keys(address uint64, a *arena) []model.Key {
	keys := take(&a.keys, len(g.sizes))
	for i, size := range g.sizes {
		value := take(&a.bytes, size)
		fill(value, g.chain.Seed, uint64(i+1)*valueNumbers+address)
		if g.chain.Indexes[i] == "address" {
			value[0] = 0 // the kind of address
		}
		keys[i] = model.Key{Index: i, Value: value}
	}
	return keys
}

func (g *Generator) bytes(n int) []byte {
	b := make([]byte, n)
	fill(b, g.chain.Seed, g.rng.Uint64())
	return b
}

// Where the numbers of transactions, blocks and the addresses of each index begin, so that no two have the same bytes.
const (
	txNumbers    = 1 << 40
	blockNumbers = 1 << 41
	valueNumbers = 1 << 42
)

func txHash(seed uint64, number uint32) (h model.Hash) {
	fill(h[:], seed, txNumbers+uint64(number))
	return h
}

func blockHash(seed uint64, height int) (h model.Hash) {
	fill(h[:], seed, blockNumbers+uint64(height))
	return h
}

// fill writes bytes that look random and depend on seed and number alone.
func fill(b []byte, seed, number uint64) {
	distribution.Fill(b, distribution.Mix(seed)^distribution.Mix(number))
}

// subsidy is Bitcoin's.
func subsidy(height int) uint64 {
	if halvings := height / 210_000; halvings < 64 {
		return 50_0000_0000 >> halvings
	}
	return 0
}
