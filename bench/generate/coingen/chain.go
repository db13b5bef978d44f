package coingen

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/skeleton"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Options configure a chain.
type Options struct {
	Seed        uint64
	TxsPerBlock float64 // mean; 0: 10
	// Large is the number of transactions of one large block, of some 500 bytes each; 0: none. The block after it has a
	// transaction with WideOutputs outputs. They follow the first warmUp blocks.
	Large int
}

const (
	// WideOutputs is the number of outputs of the transaction after the large block.
	WideOutputs = 200_000
	// warmUp is the number of blocks before the large one.
	warmUp = 120
)

// Chain makes the blocks of a chain one after the other. Use it from one goroutine.
type Chain struct {
	skeleton.Chain
	coin    *Coin
	net     *params.Network
	options Options
	rng     *rand.Rand
	tip     model.Hash
	coins   []coin // unspent
	hog     *coin  // Litecoin's last output of the extension
	pool    uint64 // value in Zcash's shielded pools
	first   string // asset that was issued first
	supply  map[string]*Supply
	blocks  [][]byte
	counts  skeleton.Counts // of the current block
}

// LargeHeight is the height of the large block.
const LargeHeight = warmUp

// coin is an unspent output.
type coin struct {
	tx     model.Hash
	index  uint32
	value  uint64
	held   []Holding
	script []byte // of the output, without assets; of a coinbase: of its input
}

// Holding is an amount of an asset.
type Holding = skeleton.Holding[string]

// output is an output to be made.
type output struct {
	value  uint64
	script []byte
	held   []Holding
}

// New returns a chain without blocks; the first is the genesis block.
func New(c *Coin, o Options) *Chain {
	if o.TxsPerBlock == 0 {
		o.TxsPerBlock = 10
	}
	return &Chain{coin: c, net: c.network(), options: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), supply: map[string]*Supply{}}
}

// Replay returns a chain with the first n blocks of the chain of these options, which then continues in another way: it
// forks from that chain.
func Replay(c *Coin, o Options, n int) *Chain {
	replayed := New(c, o)
	for range n {
		replayed.Next()
	}
	replayed.rng = rand.New(rand.NewPCG(o.Seed, 2))
	return replayed
}

// Blocks returns the serialized blocks so far.
func (c *Chain) Blocks() [][]byte { return slices.Clone(c.blocks) }

// Record returns a block as in a block file: the magic of the network, the length, the block.
func (c *Chain) Record(raw []byte) []byte {
	record := binary.LittleEndian.AppendUint32(slices.Clone(c.net.Magic[:]), uint32(len(raw)))
	return append(record, raw...)
}

// File returns the blocks as a block file.
func (c *Chain) File() (file []byte) {
	for _, raw := range c.blocks {
		file = append(file, c.Record(raw)...)
	}
	return file
}

// height returns the height of the next block.
func (c *Chain) height() model.HeightPk { return model.HeightPk(len(c.blocks)) }

// HotAddress returns the address that the most outputs pay to.
func (c *Chain) HotAddress() string {
	return c.adapter().(model.Scripter).ScriptAddress(c.scriptOf(0))
}

// HotAsset returns the first asset that was issued, as text; empty if no asset was issued.
func (c *Chain) HotAsset() string {
	if c.first == "" {
		return ""
	}
	return c.adapter().FormatAsset([]byte(c.first))
}

func (c *Chain) adapter() model.Chain { return bitcoin.Custom(c.net) }

// Next makes the next block.
func (c *Chain) Next() []byte { return c.nextOf(math.MaxInt) }

// nextOf makes the next block with at most that many transactions.
func (c *Chain) nextOf(most int) []byte {
	height := c.height()
	c.counts = skeleton.Counts{Blocks: 1}
	raw := c.coin.Genesis
	if height > 0 {
		raw = c.mine(most)
	} else {
		c.counts.Txs, c.counts.Outputs = 1, 1
	}
	c.counts.Bytes = len(raw)
	c.blocks, c.tip = append(c.blocks, raw), c.net.Coin.Format.HashOf(raw)
	c.Add(model.Point{Height: height, Hash: c.tip}, c.counts)
	return raw
}

// mine makes a block of a coinbase and other transactions.
func (c *Chain) mine(most int) []byte {
	var txs [][]byte
	var made []coin
	fees := uint64(0)
	count, next := min(most-1, c.rng.IntN(2*int(c.options.TxsPerBlock)+1)), c.transaction
	large := c.options.Large > 0 && c.height() == LargeHeight
	switch {
	case large:
		count, next = c.options.Large, c.withData
	case c.options.Large > 0 && c.height() == LargeHeight+1:
		count, next = 1, c.wide
	}
	for range count {
		if len(c.coins) < 5 {
			break
		}
		tx, outputs, fee := next()
		txs, fees = append(txs, tx), fees+fee
		if large || c.rng.IntN(4) == 0 { // its outputs can be spent in the same block
			c.coins = append(c.coins, outputs...)
		} else {
			made = append(made, outputs...)
		}
	}
	if order := c.coin.order; order != nil {
		order(c, txs)
	}
	var after []byte
	if c.coin.last != nil {
		var tx []byte
		if tx, after = c.coin.last(c); tx != nil {
			txs = append(txs, tx)
		}
	}
	coinbase, outputs := c.coinbase(fees)
	txs = append([][]byte{coinbase}, txs...)
	c.coins = append(c.coins, append(made, outputs...)...)
	c.counts.Txs = len(txs)

	header, tail := c.seal(txs)
	raw := append(header, tail...)
	raw = block.AppendCompactSize(raw, uint64(len(txs)))
	for _, tx := range txs {
		raw = append(raw, tx...)
	}
	return append(raw, after...)
}

// start is the time of block 0 of the generated networks.
const start = 1296688602

// seal makes the header, with its proof of work, and what follows it.
func (c *Chain) seal(txs [][]byte) (header, tail []byte) {
	if c.coin.header != nil {
		return c.coin.header(c, txs), nil
	}
	ids := make([]model.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = c.id(tx)
	}
	root, _ := block.MerkleRoot(ids)
	header = binary.LittleEndian.AppendUint32(nil, 0x20000000)
	header = append(append(header, c.tip[:]...), root[:]...)
	for _, n := range []uint32{start + 60*uint32(c.height()), regtestBits, 0} {
		header = binary.LittleEndian.AppendUint32(header, n)
	}
	if c.coin.tail != nil {
		tail = c.coin.tail(c, header)
	}
	format := c.net.Coin.Format
	check := format.Work
	for nonce := uint32(0); ; nonce++ {
		h := block.Header(header)
		if check != nil && check(header, tail) == nil || check == nil && h.Meets(format.HashOf(header)) == nil {
			return header, tail
		}
		binary.LittleEndian.PutUint32(header[76:], nonce)
	}
}

// coinbase makes the first transaction of a block.
func (c *Chain) coinbase(fees uint64) (tx []byte, made []coin) {
	height := c.height()
	subsidy := c.supplyUpTo(height) - c.supplyUpTo(height-1)
	script := binary.LittleEndian.AppendUint64([]byte{4, byte(height), byte(height >> 8), byte(height >> 16), 0, 8}, c.rng.Uint64())
	in := coin{index: 0xffffffff, script: script}
	if c.coin.heightInCoinbase {
		in.index = uint32(height)
	}
	outputs := []output{{subsidy + fees, c.script(), nil}}
	if c.rng.IntN(3) == 0 || height == 1 {
		outputs = append(outputs, output{0, []byte{block.OpReturn, 4, 'p', 'o', 'o', 'l'}, nil})
	}
	tx = c.serialize(1, []coin{in}, outputs, nil, nil)
	return tx, c.unspent(tx, outputs[:1])
}

// supplyUpTo returns the coins of the blocks up to a height.
func (c *Chain) supplyUpTo(height model.HeightPk) uint64 {
	if c.net.Coin.Supply == nil {
		return c.net.Supply(height)
	}
	amount, _ := c.net.Coin.Supply(c.net, height)
	return amount
}

// transaction makes a transaction that spends some outputs.
func (c *Chain) transaction() (tx []byte, made []coin, fee uint64) {
	inputs := 1 + c.rng.IntN(3)
	if c.coin.pool && c.rng.IntN(6) == 0 {
		inputs = 0
	}
	spent := c.take(inputs)
	total := uint64(0)
	for _, s := range spent {
		total += s.value
	}
	if c.coin.pool {
		total = c.shield(total)
	}
	fee = min(total/100, c.rng.Uint64N(10_000))
	var outputs []output
	count := 1 + c.rng.IntN(4)
	if c.coin.pool && c.rng.IntN(6) == 0 {
		c.pool, count = c.pool+total-fee, 0
	}
	for left, n := total-fee, count; n > 0; n-- {
		value := left
		if n > 1 {
			value = c.rng.Uint64N(left/2 + 1)
		}
		left -= value
		outputs = append(outputs, output{value, c.script(), nil})
	}
	if c.coin.assets != nil {
		outputs = c.assets(spent, outputs)
		c.account(spent, outputs)
	}
	keep := len(outputs)
	if keep > 0 && c.rng.IntN(10) == 0 {
		outputs = append(outputs, output{0, append([]byte{block.OpReturn}, push(c.bytes(1+c.rng.IntN(60)))...), nil})
	}
	tx = c.serialize(2, spent, outputs, nil, nil)
	return tx, c.unspent(tx, outputs[:keep]), fee
}

// withData makes a transaction of some 500 bytes: it spends one output, creates one, and has data.
func (c *Chain) withData() (tx []byte, made []coin, fee uint64) {
	spent := c.take(1)
	outputs := []output{
		{spent[0].value, c.script(), nil},
		{0, append([]byte{block.Op0, block.OpReturn, 0x4d, 300 & 0xff, 300 >> 8}, c.bytes(300)...), nil},
	}
	tx = c.serialize(2, spent, outputs, nil, nil)
	return tx, c.unspent(tx, outputs[:1]), 0
}

// wide makes a transaction with WideOutputs outputs.
func (c *Chain) wide() (tx []byte, made []coin, fee uint64) {
	spent := c.take(1)
	outputs := make([]output, WideOutputs)
	for i := range outputs {
		outputs[i] = output{spent[0].value / WideOutputs, c.script(), nil}
	}
	tx = c.serialize(2, spent, outputs, nil, nil)
	return tx, c.unspent(tx, outputs), spent[0].value % WideOutputs
}

// take removes and returns unspent outputs.
func (c *Chain) take(n int) (taken []coin) {
	for range n {
		i, last := c.rng.IntN(len(c.coins)), len(c.coins)-1
		taken = append(taken, c.coins[i])
		c.coins[i] = c.coins[last]
		c.coins = c.coins[:last]
	}
	return taken
}

// unspent returns the outputs of a transaction.
func (c *Chain) unspent(tx []byte, outputs []output) (made []coin) {
	id := c.id(tx)
	for i, o := range outputs {
		made = append(made, coin{id, uint32(i), o.value, o.held, o.script})
	}
	return made
}

func (c *Chain) id(tx []byte) model.Hash {
	id, err := c.net.Coin.Format.TxID(tx)
	if err != nil {
		panic(err) // the generator made it
	}
	return id
}

// serialize makes a transaction. marker precedes the inputs, extension the lock time; without a marker, outputs of
// witness programs are spent with witnesses. Input scripts are arbitrary bytes; that of a coinbase is its coin's.
func (c *Chain) serialize(version uint32, spent []coin, outputs []output, marker, extension []byte) []byte {
	var witnesses []byte
	witness := false
	body := block.AppendCompactSize(nil, uint64(len(spent)))
	for _, s := range spent {
		script := s.script
		if s.tx != (model.Hash{}) {
			if script = push(c.bytes(71)); len(s.script) > 0 && s.script[0] == block.Op0 && marker == nil {
				script, witness = nil, true
				witnesses = append(append(witnesses, 2, 71), c.bytes(71)...)
				witnesses = append(append(witnesses, 33, 2), c.bytes(32)...)
			} else {
				witnesses = append(witnesses, 0)
			}
			c.counts.Inputs++
		}
		body = append(body, s.tx[:]...)
		body = binary.LittleEndian.AppendUint32(body, s.index)
		body = append(block.AppendCompactSize(body, uint64(len(script))), script...)
		body = binary.LittleEndian.AppendUint32(body, 0xffffffff)
	}
	body = block.AppendCompactSize(body, uint64(len(outputs)))
	for _, o := range outputs {
		value, script := o.value, o.script
		if len(o.held) > 0 {
			value, script = c.coin.assets.wrap(o)
		}
		body = binary.LittleEndian.AppendUint64(body, value)
		body = append(block.AppendCompactSize(body, uint64(len(script))), script...)
		c.counts.Outputs++
		c.counts.Assets += len(o.held)
	}
	if c.coin.frame != nil {
		return c.coin.frame(c, len(spent) > 0 && spent[0].tx == (model.Hash{}), body)
	}
	if witness {
		marker, extension = []byte{0, 1}, witnesses
	}
	tx := binary.LittleEndian.AppendUint32(nil, version)
	tx = append(append(append(tx, marker...), body...), extension...)
	return binary.LittleEndian.AppendUint32(tx, 0)
}

// script returns an output script: of one of some addresses, of a few often.
func (c *Chain) script() []byte {
	return c.scriptOf(c.rng.Uint64N(1 + c.rng.Uint64N(2000)))
}

// scriptOf returns the script of an address by its number.
func (c *Chain) scriptOf(number uint64) []byte {
	hash := make([]byte, 32)
	distribution.Fill(hash, distribution.Mix(c.options.Seed^number))
	kinds := uint64(3)
	if c.net.Coin.Format.Witness {
		kinds = 5
	}
	switch number % kinds {
	case 1:
		return append(append([]byte{block.OpHash160, block.Hash160Size}, hash[:20]...), block.OpEqual)
	case 3:
		return append([]byte{block.Op0, 20}, hash[:20]...)
	case 4:
		return append([]byte{block.Op1, 32}, hash...)
	}
	return append(append([]byte{block.OpDup, block.OpHash160, block.Hash160Size}, hash[:20]...), block.OpEqualVerify, block.OpCheckSig)
}

func (c *Chain) bytes(n int) []byte {
	b := make([]byte, n)
	distribution.Fill(b, c.rng.Uint64())
	return b
}

// Write makes a chain of that many transactions, and calls record with each record of a block file.
func (c *Chain) Write(ctx context.Context, txs int, record func([]byte) error, progress func(skeleton.Counts)) error {
	return c.Chain.Write(ctx, txs, func(most int) error { return record(c.Record(c.nextOf(most))) }, progress)
}
