package ergogen

import (
	"slices"

	"birthmark/bench/generate/skeleton"
	"birthmark/chains/ergo/sigma"
)

const (
	leastValue = 1_000_000 // nanoErg of a box, while there is enough
	leastFee   = 1_100_000
)

// payment is a box to be made.
type payment struct {
	script    uint32
	tree      []byte
	value     uint64
	tokens    holdings
	registers [][]byte
}

// emit takes the miner's reward out of the emission box, and the first time also the initial circulation.
func (c *Chain) emit() {
	c.begin()
	c.spent = append(c.spent, c.emission)
	c.payments = append(c.payments, payment{tree: emissionTree}, c.pays(c.miner.script, reward))
	left := c.emission.value - reward
	if c.Tip().IsOrigin() {
		for range endowedBoxes {
			c.payments = append(c.payments, c.pays(c.recipient(), endowedValue))
			left -= endowedValue
		}
	}
	c.payments[0].value = left
	boxes := c.seal(nil)
	c.emission = coin{id: boxes[0], value: left}
	for i, p := range c.payments[1:] {
		c.put(coin{boxes[1+i], p.value, p.script, nil})
	}
}

// pays returns a box without tokens for a script.
func (c *Chain) pays(script uint32, value uint64) payment {
	return payment{script: script, tree: c.scripts.tree(script), value: value}
}

// gatherFees gives the fees of the current block to the miner.
func (c *Chain) gatherFees() {
	if len(c.fees) == 0 {
		return
	}
	c.begin()
	total := uint64(0)
	for _, f := range c.fees {
		c.spent = append(c.spent, f)
		total += f.value
	}
	c.payments = append(c.payments, c.pays(c.miner.script, total))
	c.put(coin{c.seal(nil)[0], total, c.miner.script, nil})
}

func (c *Chain) begin() {
	c.spent, c.payments, c.bag, c.tokens, c.memory = c.spent[:0], c.payments[:0], c.bag[:0], c.tokens[:0], c.memory[:0]
}

// transaction makes the next transaction of the current block. full: one of its boxes has the maximum number of
// entries.
func (c *Chain) transaction(full bool) {
	c.begin()
	boxes := outputCounts.Draw(c.rng)
	c.spend(inputCounts.Draw(c.rng), boxes)
	fee := c.pay(boxes)
	c.gather()
	c.burn()
	minted := c.mint(full)
	c.deal(minted, full)
	c.repeat(full)
	for i := range c.payments {
		c.register(&c.payments[i], minted)
	}
	if fee > 0 {
		at := len(c.payments) - c.rng.IntN(2)
		c.payments = slices.Insert(c.payments, at, payment{tree: feeTree, value: fee})
	}
	var reads []sigma.ID
	if c.rng.Chance(dataShare) {
		for range 1 + c.rng.IntN(readMost) {
			if p, ok := c.unspent.Find(c.rng, age); ok {
				reads = append(reads, c.unspent.At(p).id)
			}
		}
	}
	for i, id := range c.seal(reads) {
		p := &c.payments[i]
		made := coin{id, p.value, p.script, p.tokens}
		if &p.tree[0] == &feeTree[0] {
			c.fees = append(c.fees, made)
		} else {
			c.put(made)
		}
	}
}

// spend takes n boxes, and more if n have too little value. There are always some, since transactions make at least as
// many boxes as they can pay for while boxes are few.
func (c *Chain) spend(n, boxes int) {
	if c.unspent.Len() < endowedBoxes {
		n = min(n, boxes)
	}
	c.spent, _ = skeleton.Spend(c.spent, n, 5, leastFee+leastValue*uint64(boxes), skeleton.TakeOf(&c.unspent, c.rng, age))
}

// pay makes up to n boxes of the inputs' value minus the fee, which may be zero.
func (c *Chain) pay(n int) (fee uint64) {
	total := uint64(0)
	for i := range c.spent {
		total += c.spent[i].value
	}
	if c.rng.Chance(feeShare) && total >= leastFee+leastValue {
		fee = leastFee
		if c.rng.Chance(0.2) {
			fee = min(fee*uint64(1+c.rng.IntN(10)), total-leastValue)
		}
	}
	for value := range c.rng.Parts(total-fee, leastValue, n) {
		c.payments = append(c.payments, c.pays(c.recipient(), value))
	}
	return fee
}

// seal makes a transaction of its inputs and payments, appends it to those of the block and sets the ids of its boxes.
func (c *Chain) seal(reads []sigma.ID) []sigma.ID {
	t := &c.tx
	t.Inputs, t.DataInputs, t.Outputs = t.Inputs[:0], reads, t.Outputs[:0]
	for i := range c.spent {
		t.Inputs = append(t.Inputs, c.input(&c.spent[i]))
	}
	for i := range c.payments {
		p := &c.payments[i]
		t.Outputs = append(t.Outputs, sigma.Box{Value: p.value, Tree: p.tree, Height: c.height(), Tokens: c.tokensOf(p), Registers: p.registers})
		c.counts.Assets += len(p.tokens)
		c.counts.Registers += len(p.registers)
	}
	c.counts.Txs++
	c.counts.Inputs += len(t.Inputs)
	c.counts.Outputs += len(t.Outputs)

	id := c.sigma.TxID(t)
	c.ids = append(c.ids, id)
	c.witnesses = append(c.witnesses, c.sigma.WitnessID(t))
	c.raw = c.sigma.AppendTx(c.raw[:0], t, true)
	c.txBytes += len(c.raw)
	boxes := make([]sigma.ID, len(t.Outputs))
	for i := range t.Outputs {
		boxes[i] = c.sigma.BoxID(&t.Outputs[i], &id, i)
	}
	if len(c.txs) > 0 {
		c.txs = append(c.txs, ',')
	}
	c.txs = appendTx(c.txs, t, id, boxes, len(c.raw))
	return boxes
}

// tokensOf returns the tokens of a box, valid until the next transaction.
func (c *Chain) tokensOf(p *payment) []sigma.Token {
	at := len(c.tokens)
	for _, h := range p.tokens {
		c.tokens = append(c.tokens, sigma.Token{ID: h.Asset, Amount: h.Amount})
	}
	return c.tokens[at:len(c.tokens):len(c.tokens)]
}

// input spends a box: keys with a proof, contracts with or without one, and with context variables.
func (c *Chain) input(spent *coin) sigma.Input {
	in := sigma.Input{Box: spent.id}
	if spent.script > 0 && c.rng.Chance(proofShare) {
		in.Proof = c.keep(func(b []byte) []byte { return c.rng.Filler(b, 56) })
	}
	if c.rng.Chance(0.3) && len(in.Proof) == 0 {
		for i := range 1 + c.rng.IntN(contextMost) {
			if v := c.oneOf(c.options.Values, c.options.Variables); v != nil {
				in.Extension = append(in.Extension, sigma.Variable{ID: byte(i), Value: v})
				continue
			}
			in.Extension = append(in.Extension, sigma.Variable{ID: byte(i), Value: c.keep(func(b []byte) []byte {
				return appendInt(append(b, typeInt), c.rng.Int32N(1000))
			})})
		}
	}
	return in
}

// keep returns bytes that are valid until the next transaction.
func (c *Chain) keep(appendTo func([]byte) []byte) []byte {
	at := len(c.memory)
	c.memory = appendTo(c.memory)
	return c.memory[at:len(c.memory):len(c.memory)]
}
