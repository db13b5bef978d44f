package bitcoingen

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"birthmark/model"
)

const (
	// What an output holds at least, in satoshis, while there is enough. Nodes relay none with so little, but take it in
	// blocks; a higher figure would have fewer and fewer outputs to a transaction, as most are split more often than joined.
	leastOutput = 4

	finalInput  = 1<<32 - 1 // the sequence of an input that does not care about time
	weightScale = 4         // weight of a byte that is not of a witness (BIP 141)

	unspentByTx = 0.13 // outputs that are unspent by transactions so far, at least: mainnet has 0.14
	behindFirst = 0.63 // outputs that are not the first of their transaction

	// More than any input or output of [Chain.transaction] weighs.
	mostInputWeight  = 41*weightScale + 3*weightScale + (2*73+2+redeemSize)*weightScale + mostInscription + 300
	mostOutputWeight = (9 + redeemSize) * weightScale
	mostTxWeight     = (8+3+3)*weightScale + 2 // beside them
)

// coin is an unspent output.
type coin struct {
	tx    model.Hash
	value uint64
	index uint32
	kind  kind
}

// payment is an output in the making.
type payment struct {
	script script
	value  uint64
}

// size is how many inputs and outputs a transaction is to have; zero before they are drawn.
type size struct{ inputs, outputs int }

// mostWeight is more than the transaction can weigh.
func (s size) mostWeight() int {
	return mostTxWeight + (s.inputs+s.more())*mostInputWeight + s.outputs*mostOutputWeight
}

// more is how many inputs it gets beside, at most, where the others have too little for its outputs.
func (s size) more() int { return 1 + s.outputs/10 }

// transaction makes the next transaction of the block under way: of its size, or with fewer outputs where it has too
// little for them.
func (c *Chain) transaction(s size) {
	c.base, c.witness, c.hasWitness = c.base[:0], c.witness[:0], false
	if c.coins.Len() < max(c.endowment(), int(unspentByTx*float64(c.made.Txs))) {
		s.inputs = min(s.inputs, s.outputs) // so that there will be more
	}
	version, sequence, lock := uint32(1), uint32(finalInput), uint32(0)
	if c.era.segwit() {
		version = 1 + uint32(c.rng.IntN(2))
		switch c.rng.IntN(4) {
		case 0: // what wallets do against whoever would mine this block once more
			sequence, lock = finalInput-1, uint32(c.made.Blocks-1)
		case 1: // it may be replaced (BIP 125)
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

// spend begins the transaction with its inputs, and returns what they hold.
func (c *Chain) spend(s size, version, sequence uint32) (total uint64) {
	c.spent = c.spent[:0]
	for i := 0; i < s.inputs || i < s.inputs+s.more() && total < leastOutput*uint64(s.outputs+1); i++ {
		taken, ok := c.coins.Take(c.rng)
		if !ok {
			break
		}
		total += taken.value
		c.spent = append(c.spent, taken)
	}
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

// fee is some satoshis a byte, but not much of what is spent.
func (c *Chain) fee(s size, total uint64) uint64 {
	bytes := 150*uint64(s.inputs) + 34*uint64(s.outputs)
	fee := min(bytes*(1+c.rng.Uint64N(20)), total/200)
	c.fees += fee
	return fee
}

// pay makes n payments, of an amount together; fewer where they would be too small, and always one. A share of those
// behind the first carries data: the first can be spent, so that there is always something to spend.
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

// finish adds the transaction of c.base and c.witness to the block under way.
func (c *Chain) finish() (id model.Hash) {
	id = hashOf(c.base)
	c.ids = append(c.ids, id)
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

// appendWithWitness appends a transaction, serialized without its witness, with it (BIP 144).
func appendWithWitness(b, base, witness []byte) []byte {
	const marker, flag, edge = 0, 1, 4 // edge: bytes of the version and of the lock time
	b = append(append(b, base[:edge]...), marker, flag)
	b = append(append(b, base[edge:len(base)-edge]...), witness...)
	return append(b, base[len(base)-edge:]...)
}

func hashOf(b []byte) model.Hash {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

const compact16 = 0xfd // the first byte of a number in three

// appendCompact appends a number below 65,536 as counts and lengths are written.
func appendCompact(b []byte, n uint64) []byte {
	if n < compact16 {
		return append(b, byte(n))
	}
	return append(b, compact16, byte(n), byte(n>>8))
}
