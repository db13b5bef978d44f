package modeltest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"birthmark/model"
)

const (
	subsidy      = 50_000
	genesisValue = 9_000_000
)

// Generator generates the blocks of one chain.
type Generator struct {
	v      Variant
	seed   uint64
	pcg    *rand.PCG
	rng    *rand.Rand
	names  uint64 // counter for unique hashes, boxes and ids; a fork starts elsewhere
	tip    model.Point
	any    bool // a block was generated
	coins  []coin
	values [][][]byte        // values that occurred, by index
	assets []string          // existing ids
	minted map[string]uint64 // transactions that minted an asset, if assets are derived
	twins  []twin
}

// coin is an unspent output.
type coin struct {
	tx     model.Hash
	index  uint32
	value  uint64
	box    []byte
	assets []model.Asset
}

// twin is a coinbase and a transaction that spends exactly its outputs: both can repeat.
type twin struct {
	coinbase, child model.Tx
	hasChild        bool
}

// NewGenerator returns a generator of the chain with that seed.
func (v Variant) NewGenerator(seed uint64) *Generator {
	g := &Generator{v: v, seed: seed, values: make([][][]byte, len(IndexNames)), minted: map[string]uint64{}}
	g.pcg = rand.NewPCG(seed, 1)
	g.rng = rand.New(g.pcg)
	return g
}

// Fork returns a generator at the same point of the chain that generates other blocks, selected by n.
func (g *Generator) Fork(n uint64) *Generator {
	f := *g
	f.pcg = rand.NewPCG(g.seed+n*0x9e3779b9, 2+n)
	f.rng = rand.New(f.pcg)
	f.names += n << 40
	f.coins, f.assets, f.twins = slices.Clone(g.coins), slices.Clone(g.assets), slices.Clone(g.twins)
	f.minted = maps.Clone(g.minted)
	f.values = make([][][]byte, len(g.values))
	for i := range g.values {
		f.values[i] = slices.Clone(g.values[i])
	}
	return &f
}

// Blocks generates n blocks.
func (g *Generator) Blocks(n int) []*model.Block {
	blocks := make([]*model.Block, n)
	for i := range blocks {
		blocks[i] = g.Next()
	}
	return blocks
}

// name returns a unique hash.
func (g *Generator) name(what string) model.Hash {
	g.names++
	return sha256.Sum256(fmt.Appendf(nil, "%s %d %d", what, g.seed, g.names))
}

// Next generates a block.
func (g *Generator) Next() *model.Block {
	b := &model.Block{Height: g.v.First, Time: 1_600_000_000, Size: 100 + g.rng.IntN(1000)}
	if g.any {
		b.Height, b.Parent = g.tip.Height+1, g.tip.Hash
	} else if g.v.Genesis {
		b.Genesis = g.genesis()
	}
	b.Time += int64(b.Height) * 600
	if g.v.Statistics {
		b.Time += int64(b.Height) * 25_000 // about three blocks per day
		if b.Height%5 == 4 {
			b.Time -= 40_000 // the time can be before that of the parent
		}
	}
	if g.v.Slots {
		b.Slot = uint64(b.Height)*20 + g.rng.Uint64N(20)
	}
	b.Header = header(b.Height, b.Parent, g.rng.Uint64())
	b.Hash = sha256.Sum256(b.Header)

	repeated := g.v.Coinbase && g.v.Repeats && len(g.twins) > 0 && g.rng.IntN(4) == 0
	if repeated {
		t := g.twins[g.rng.IntN(len(g.twins))]
		b.Txs = append(b.Txs, g.again(t.coinbase))
		if t.hasChild && g.rng.IntN(2) == 0 {
			g.spendAll(t.coinbase)
			b.Txs = append(b.Txs, g.again(t.child))
		}
	} else if g.v.Coinbase {
		b.Txs = append(b.Txs, g.coinbase())
	}
	for range g.rng.IntN(8) {
		if len(g.coins) == 0 {
			break
		}
		b.Txs = append(b.Txs, g.tx())
	}
	if n := len(g.twins); !repeated && n > 0 && !g.twins[n-1].hasChild && g.rng.IntN(2) == 0 {
		if child, ok := g.child(g.twins[n-1].coinbase); ok {
			g.twins[n-1].child, g.twins[n-1].hasChild = child, true
			b.Txs = append(b.Txs, child)
		}
	}
	if g.v.Unordered { // by hash, as Bitcoin Cash
		slices.SortFunc(b.Txs[min(1, len(b.Txs)):], func(a, b model.Tx) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	}
	if g.v.Raw {
		for i := range b.Txs {
			b.Txs[i].Raw = rawOf(&b.Txs[i])
		}
	}
	if g.v.Placed {
		b.Place = placeOf(b)
		for _, size := range b.Place.Sizes {
			b.Size += size
		}
	}
	g.tip, g.any = b.Point(), true
	return b
}

// rawOf returns the bytes of a transaction: its hash and some padding.
func rawOf(t *model.Tx) []byte {
	rest := sha256.Sum256(t.Hash[:])
	return append(append([]byte{}, t.Hash[:]...), rest[:int(rest[0])%len(rest)]...)
}

func (g *Generator) genesis() []model.Tx {
	txs := make([]model.Tx, 3)
	for i := range txs {
		txs[i] = model.Tx{Hash: g.name("genesis"), Outputs: g.pay(genesisValue/3, 1+g.rng.IntN(3), true)}
		g.made(&txs[i])
	}
	return txs
}

func (g *Generator) coinbase() model.Tx {
	simple := g.v.Repeats && g.rng.IntN(2) == 0
	t := model.Tx{Hash: g.name("coinbase"), Outputs: g.pay(subsidy, 1+g.rng.IntN(3), !simple)}
	g.made(&t)
	if simple {
		g.twins = append(g.twins, twin{coinbase: t})
	}
	return t
}

// again repeats a transaction. Inputs with its outpoints now refer to the new outputs.
func (g *Generator) again(t model.Tx) model.Tx {
	g.spendAll(t)
	g.made(&t)
	return t
}

// spendAll removes the outputs of t from the unspent ones.
func (g *Generator) spendAll(t model.Tx) {
	g.coins = slices.DeleteFunc(g.coins, func(c coin) bool { return c.tx == t.Hash })
}

// child returns a transaction that spends exactly the outputs of a coinbase.
func (g *Generator) child(coinbase model.Tx) (model.Tx, bool) {
	t := model.Tx{Hash: g.name("child")}
	var value uint64
	for _, c := range g.coins {
		if c.tx == coinbase.Hash {
			t.Inputs = append(t.Inputs, model.Input{Tx: c.tx, Index: c.index})
			value += c.value
		}
	}
	if len(t.Inputs) != len(coinbase.Outputs) {
		return t, false
	}
	g.spendAll(coinbase)
	t.Outputs = g.pay(value, 1+g.rng.IntN(2), false)
	g.made(&t)
	return t, true
}

// made adds the outputs of t to the unspent ones.
func (g *Generator) made(t *model.Tx) {
	for i := range t.Outputs {
		o := &t.Outputs[i]
		c := coin{tx: t.Hash, index: uint32(t.OutputIndex(i)), value: o.Value}
		for _, k := range o.Keys {
			if k.Index == boxIndex {
				c.box = k.Value
			}
		}
		for _, a := range o.Assets {
			if a.Amount > 0 {
				c.assets = append(c.assets, a)
			}
		}
		g.coins = append(g.coins, c)
	}
}

// tx spends random coins, preferably recent ones, and pays out their whole value.
func (g *Generator) tx() model.Tx {
	t := model.Tx{Hash: g.name("tx")}
	var value uint64
	var spent []coin
	inputs := 1 + g.rng.IntN(3)
	if g.rng.IntN(40) == 0 {
		inputs = 40
	}
	for range inputs {
		n := len(g.coins)
		if n == 0 {
			break
		}
		i := g.rng.IntN(n)
		if g.rng.IntN(2) == 0 {
			i = n - 1 - g.rng.IntN(min(n, 4))
		}
		c := g.coins[i]
		g.coins = slices.Delete(g.coins, i, i+1)
		in := model.Input{Tx: c.tx, Index: c.index}
		if g.v.Boxes {
			in = model.Input{Value: c.box}
		}
		t.Inputs = append(t.Inputs, in)
		value += c.value
		spent = append(spent, c)
	}
	outputs := 1 + g.rng.IntN(4)
	if g.rng.IntN(40) == 0 {
		outputs = 60
	}
	t.Outputs = g.pay(value, outputs, true)
	if g.v.OutputOffset && g.rng.IntN(6) == 0 {
		t.FirstOutput = 1 + g.rng.Uint32N(4)
	}
	if !g.v.Tokens {
		g.moveAssets(&t, spent)
	} else if g.v.Late == 0 || g.any && g.tip.Height+1 >= g.v.Late {
		g.moveAssets(&t, spent)
		g.tell(&t, spent)
	}
	if g.rng.IntN(3) == 0 {
		t.Fee = model.Fee{Stated: true, Amount: g.rng.Uint64N(1000)}
	}
	g.made(&t)
	return t
}

// pay returns n outputs with a total of value. With boxes they may have values of the one-to-one index.
func (g *Generator) pay(value uint64, n int, boxes bool) []model.Output {
	outputs := make([]model.Output, n)
	for i := range outputs {
		part := value
		if i < n-1 {
			part = g.rng.Uint64N(value + 1)
		}
		value -= part
		outputs[i] = model.Output{Value: part, Keys: g.keys(boxes)}
	}
	return outputs
}

func (g *Generator) keys(boxes bool) []model.Key {
	var keys []model.Key
	if g.rng.IntN(8) > 0 {
		keys = append(keys, model.Key{Index: addressIndex, Value: g.value(addressIndex, 60)})
	}
	if g.rng.IntN(2) == 0 {
		keys = append(keys, model.Key{Index: tagIndex, Value: []byte{1 + byte(g.rng.IntN(3))}})
	}
	if boxes && (g.v.Boxes || g.rng.IntN(3) == 0) {
		box := g.name("box")
		keys = append(keys, model.Key{Index: boxIndex, Value: box[:]})
	}
	var labels [][]byte
	for range g.rng.IntN(4) {
		label := g.value(labelIndex, 70)
		if !slices.ContainsFunc(labels, func(l []byte) bool { return string(l) == string(label) }) {
			labels = append(labels, label)
			keys = append(keys, model.Key{Index: labelIndex, Value: label})
		}
	}
	return keys
}

// value returns a value that occurred before with a probability of oldPercent, else a new one, sometimes a long one.
func (g *Generator) value(index, oldPercent int) []byte {
	old := g.values[index]
	if len(old) > 0 && g.rng.IntN(100) < oldPercent {
		if g.rng.IntN(2) == 0 {
			return old[len(old)-1]
		}
		return old[g.rng.IntN(len(old))]
	}
	name := g.name(IndexNames[index])
	value := slices.Clone(name[:1+g.rng.IntN(len(name))])
	if len(old) > 0 && g.rng.IntN(8) == 0 {
		if short := old[g.rng.IntN(len(old))]; len(short) < 100 {
			value = slices.Clone(short) // the appended bytes give it another value as a prefix
		}
	}
	value = append(value, fmt.Append(nil, g.names)...)
	switch {
	case len(old) == 20:
		value = append(value, make([]byte, model.MaxValueSize-len(value))...)
	case g.rng.IntN(100) == 0:
		value = append(value, make([]byte, 3000)...)
	}
	g.values[index] = append(old, value)
	return value
}

// moveAssets moves the assets of the spent coins to the outputs of t, burns some and mints others.
func (g *Generator) moveAssets(t *model.Tx, spent []coin) {
	var order []string
	held, minted := map[string]*big.Int{}, map[string]*big.Int{}
	add := func(id string, amount *big.Int) {
		if held[id] == nil {
			held[id] = new(big.Int)
			order = append(order, id)
		}
		held[id].Add(held[id], amount)
	}
	for _, c := range spent {
		for _, a := range c.assets {
			add(string(a.ID), new(big.Int).SetUint64(a.Amount))
		}
	}
	for _, id := range order {
		if g.rng.IntN(4) == 0 {
			burned := g.part(held[id])
			held[id].Sub(held[id], burned)
			minted[id] = burned.Neg(burned)
		}
	}
	if g.rng.IntN(3) == 0 {
		id, amount := g.mint()
		add(id, amount)
		if minted[id] == nil {
			minted[id] = new(big.Int)
		}
		minted[id].Add(minted[id], amount)
	}
	for _, id := range order {
		for held[id].Sign() > 0 {
			part := g.part(held[id])
			held[id].Sub(held[id], part)
			g.put(t, id, part.Uint64())
		}
		if m := minted[id]; m != nil && (m.Sign() > 0 || (m.Sign() < 0 && !g.v.Implied)) {
			mint := model.Mint{Asset: []byte(id), Amount: m}
			if g.v.Described && m.Sign() > 0 {
				mint.Info = fmt.Append(nil, "named ", g.names) // different each time: only the first one counts
			}
			t.Mints = append(t.Mints, mint)
		}
	}
	if g.rng.IntN(4) == 0 && !g.v.Tokens {
		// An entry of amount 0 is not a holding, whether the asset exists or not.
		id := string(fmt.Append(nil, "nothing ", g.names))
		if len(g.assets) > 0 && g.rng.IntN(2) == 0 {
			id = g.assets[g.rng.IntN(len(g.assets))]
		}
		g.put(t, id, 0)
	}
}

// mint returns an asset to mint, often a new one, and its amount, sometimes beyond 64 bits.
func (g *Generator) mint() (id string, amount *big.Int) {
	amount = new(big.Int).SetUint64(1 + g.rng.Uint64N(1_000_000))
	if g.rng.IntN(10) == 0 && !g.v.Tokens {
		amount.Lsh(amount, 50)
	}
	if !g.v.Implied && len(g.assets) > 0 && g.rng.IntN(2) == 0 {
		return g.assets[g.rng.IntN(len(g.assets))], amount
	}
	g.names++
	id = string(fmt.Append(nil, "asset ", g.names))
	if n := len(g.assets); n > 0 && g.rng.IntN(4) == 0 {
		id = g.assets[g.rng.IntN(n)] + "." + id // one id is a prefix of another
	}
	g.assets = append(g.assets, id)
	return id, amount
}

// part returns a part of an amount, often all of it, that fits an asset entry.
func (g *Generator) part(amount *big.Int) *big.Int {
	most := uint64(math.MaxUint64)
	if amount.IsUint64() {
		most = amount.Uint64()
	}
	if g.rng.IntN(3) == 0 {
		most -= g.rng.Uint64N(most)
	}
	return new(big.Int).SetUint64(most)
}

// put adds an asset entry to a random output of t.
func (g *Generator) put(t *model.Tx, id string, amount uint64) {
	o := &t.Outputs[g.rng.IntN(len(t.Outputs))]
	if g.v.Tokens { // an asset occurs once in an output
		for i := range o.Assets {
			if a := &o.Assets[i]; string(a.ID) == id {
				a.Amount += amount // all amounts of an asset are small
				return
			}
		}
	}
	o.Assets = slices.Insert(o.Assets, g.rng.IntN(len(o.Assets)+1), model.Asset{ID: []byte(id), Amount: amount})
}
