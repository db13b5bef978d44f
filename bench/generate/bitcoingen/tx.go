package bitcoingen

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"birthmark/bench/generate/skeleton"
	"birthmark/model"
)

const (
	// Minimum value of an output in satoshis, while there is enough. Nodes do not relay outputs that small but accept
	// them in blocks; with a higher minimum transactions would have fewer and fewer outputs, as coins are split more
	// often than joined.
	leastOutput = 4

	finalInput  = 1<<32 - 1 // final sequence
	weightScale = 4         // weight of a non-witness byte (BIP 141)

	unspentByTx = 0.13 // minimum of unspent outputs per transaction so far; mainnet has 0.14
	behindFirst = 0.63 // share of outputs that are not the first of their transaction

	// Upper bounds for the weight of an input or output of [Chain.transaction].
	mostInputWeight  = 41*weightScale + 3*weightScale + (2*73+2+redeemSize)*weightScale + mostInscription + 300
	mostOutputWeight = (9 + redeemSize) * weightScale
	mostTxWeight     = (8+3+3)*weightScale + 2 // of the rest
)

// coin is an unspent output.
type coin struct {
	tx    model.Hash
	value uint64
	index uint32
	kind  kind
}

func (c coin) Worth() uint64 { return c.value }

// payment is an output to be made.
type payment struct {
	script script
	value  uint64
}

// size is the number of inputs and outputs of a transaction; zero before they are drawn.
type size struct{ inputs, outputs int }

// mostWeight is an upper bound for the weight of the transaction.
func (s size) mostWeight() int {
	return mostTxWeight + (s.inputs+s.more())*mostInputWeight + s.outputs*mostOutputWeight
}

// more is the maximum number of additional inputs if the value of the others is too small for its outputs.
func (s size) more() int { return 1 + s.outputs/10 }

// transaction makes the next transaction of the current block: of its size, or with fewer outputs if its inputs have
// too little value.
func (c *Chain) transaction(s size) {
	c.base, c.witness, c.hasWitness = c.base[:0], c.witness[:0], false
	if c.coins.Len() < max(c.endowment(), int(unspentByTx*float64(c.Made().Txs))) {
		s.inputs = min(s.inputs, s.outputs) // to increase the number of unspent outputs
	}
	version, sequence, lock := uint32(1), uint32(finalInput), uint32(0)
	if c.era.segwit() {
		version = 1 + uint32(c.rng.IntN(2))
		switch c.rng.IntN(4) {
		case 0: // wallets set it against fee sniping
			sequence, lock = finalInput-1, uint32(c.Made().Blocks-1)
		case 1: // replaceable (BIP 125)
			sequence = finalInput - 2
		}
	}
	total := c.spend(s, version, sequence)
	c.pay(s.outputs, total-c.fee(s, total), c.era.data/100/behindFirst)
	b := appendCompact(c.base, uint64(len(c.payments)))
	for _, p := range c.payments {
		b = c.appendOutput(b, p)
	}
	c.base = binary.LittleEndian.AppendUint32(b, lock)

	id := c.finish()
	for i, p := range c.payments {
		if !p.script.data {
			c.coins.Put(coin{id, p.value, uint32(i), p.script.kind})
		}
	}
	c.counts.Outputs += len(c.payments)
}

// spend begins the transaction with its inputs, and returns their total value.
func (c *Chain) spend(s size, version, sequence uint32) (total uint64) {
	take := func() (coin, bool) { return c.coins.Take(c.rng) }
	c.spent, total = skeleton.Spend(c.spent[:0], s.inputs, s.more(), leastOutput*uint64(s.outputs+1), take)
	c.counts.Inputs += len(c.spent)
	b := binary.LittleEndian.AppendUint32(c.base, version)
	b = appendCompact(b, uint64(len(c.spent)))
	for i := range c.spent {
		b = append(b, c.spent[i].tx[:]...)
		b = binary.LittleEndian.AppendUint32(b, c.spent[i].index)
		b = c.appendSpending(b, c.spent[i].kind)
		b = binary.LittleEndian.AppendUint32(b, sequence)
	}
	c.base = b
	return total
}

// fee is some satoshis per byte, but only a small part of the inputs' value.
func (c *Chain) fee(s size, total uint64) uint64 {
	bytes := 150*uint64(s.inputs) + 34*uint64(s.outputs)
	fee := min(bytes*(1+c.rng.Uint64N(20)), total/200)
	c.fees += fee
	return fee
}

// pay makes n payments of an amount; fewer if they would be too small, but at least one. A share of those after the
// first carry data: the first is always spendable.
func (c *Chain) pay(n int, amount uint64, data float64) {
	c.payments = c.payments[:0]
	paying := 0
	for i := range n {
		share := data
		if i == 0 {
			share = 0
		}
		address, ok := c.recipients.Draw(c.rng, share)
		if !ok {
			c.payments = append(c.payments, payment{script: script{data: true}})
			continue
		}
		c.payments = append(c.payments, payment{script: script{address: address, kind: c.kindOf(address)}})
		paying++
	}
	c.values = slices.AppendSeq(c.values[:0], c.rng.Parts(amount, leastOutput, paying))
	kept, values := c.payments[:0], c.values
	for _, p := range c.payments {
		switch {
		case p.script.data:
		case len(values) > 0:
			p.value, values = values[0], values[1:]
		default:
			continue
		}
		kept = append(kept, p)
	}
	c.payments = kept
}

func (c *Chain) appendOutput(b []byte, p payment) []byte {
	b = binary.LittleEndian.AppendUint64(b, p.value)
	at := len(b)
	b = c.appendScript(append(b, 0), p.script)
	b[at] = byte(len(b) - at - 1)
	return b
}

// finish adds the transaction in c.base and c.witness to the current block.
func (c *Chain) finish() (id model.Hash) {
	id = hashOf(c.base)
	c.ids = append(c.ids, id)
	for _, in := range c.inscribing {
		in.Tx = id
		c.inscriptions = append(c.inscriptions, in)
	}
	c.inscribing = c.inscribing[:0]
	c.weight += weightScale * len(c.base)
	if !c.hasWitness {
		c.witnessIDs = append(c.witnessIDs, id)
		c.body = append(c.body, c.base...)
		return id
	}
	start := len(c.body)
	c.body = appendWithWitness(c.body, c.base, c.witness)
	c.witnessIDs = append(c.witnessIDs, hashOf(c.body[start:]))
	c.weight += 2 + len(c.witness)
	c.witnesses = true
	return id
}

// appendWithWitness appends the transaction with its witness (BIP 144).
func appendWithWitness(b, base, witness []byte) []byte {
	const marker, flag, edge = 0, 1, 4 // edge: bytes of version, and of lock time
	b = append(append(b, base[:edge]...), marker, flag)
	b = append(append(b, base[edge:len(base)-edge]...), witness...)
	return append(b, base[len(base)-edge:]...)
}

func hashOf(b []byte) model.Hash {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

const compact16 = 0xfd // first byte of a three-byte number

// appendCompact appends a number below 65,536 as a compact size.
func appendCompact(b []byte, n uint64) []byte {
	if n < compact16 {
		return append(b, byte(n))
	}
	return append(b, compact16, byte(n), byte(n>>8))
}
