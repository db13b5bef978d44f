package cardanogen

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/skeleton"
	"birthmark/chains/cardano/cbor"
)

// Keys of a transaction body (rule transaction_body of the ledger's CDDL).
const (
	keyInputs           = 0
	keyOutputs          = 1
	keyFee              = 2
	keyEnd              = 3
	keyMetadata         = 7
	keyMint             = 9
	keyScriptData       = 11
	keyCollateral       = 13
	keyCollateralReturn = 16
	keyTotalCollateral  = 17
	keyReferenceInputs  = 18
)

const (
	feeFixed    = 155_381
	feePerByte  = 44
	collateral  = 5_000_000
	leastOutput = 1_000_000 // lovelace, while there is enough
)

// payment is an output to be made.
type payment struct {
	address uint32
	value   uint64
	assets  holdings
	script  uint64 // the number of its reference script; 0: none, or filler
	datum   []byte // of which it has the hash; nil: none, or filler
}

// transaction makes the next transaction of the current block.
func (c *Chain) transaction(index, slot uint64) {
	c.spent, c.payments, c.minted = c.spent[:0], c.payments[:0], c.minted[:0]
	c.parts = extras{}
	outputs := outputCounts.Draw(c.rng)
	pledge, fails := c.pledge()
	if fails {
		c.look(inputCounts.Draw(c.rng))
	} else {
		c.spend(inputCounts.Draw(c.rng), outputs)
	}
	if c.rng.Chance(0.95) {
		slices.SortFunc(c.spent, func(a, b coin) int {
			return cmp.Or(bytes.Compare(a.tx[:], b.tx[:]), cmp.Compare(a.index, b.index))
		})
	}
	if c.options.AllParts {
		c.drawParts(fails)
	}
	fee := c.pay(outputs)
	c.gather()
	if !fails && c.era >= eraMary {
		c.mint()
	}
	c.deal()

	id := c.appendBody(slot, fee, index, pledge)
	if fails {
		c.failed = append(c.failed, index)
		c.counts.Failed++
		c.counts.Inputs++
		if c.era < eraBabbage { // the collateral is lost
			return
		}
		c.counts.Outputs++
		c.put(coin{tx: id, index: uint32(len(c.payments)), address: pledge.address, value: pledge.value - collateral})
		return
	}
	c.counts.Inputs += len(c.spent)
	c.counts.Outputs += len(c.payments)
	c.counts.Mints += len(c.minted)
	for i, p := range c.payments {
		c.counts.Assets += len(p.assets)
		made := coin{id, uint32(i), p.address, p.value, p.assets, p.datum}
		if p.script > 0 {
			c.references[p.script] = made
			continue
		}
		c.put(made)
	}
}

// dropped is the number of holders of a transaction.
const dropped = 5000

// drop makes a transaction that mints the hot asset for new addresses. Nothing spends these outputs.
func (c *Chain) drop(index, slot uint64) {
	c.spent, c.payments, c.minted = c.spent[:0], c.payments[:0], c.minted[:0]
	n := min(c.holders, dropped)
	c.spend(1, 1)
	fee := c.pay(1)
	c.gather()
	c.deal()
	c.minted = append(c.minted, change{hotAsset, int64(n)})
	for made := 0; made < n; c.births++ {
		if kindOf(c.births) == baseKey { // contracts can have the same address
			c.payments = append(c.payments, payment{address: c.births, value: 1, assets: holdings{{Asset: hotAsset, Amount: 1}}})
			made++
		}
	}
	c.payments[0].value -= uint64(n)
	id := c.appendBody(slot, fee, index, coin{})
	c.holders -= n
	c.counts.Inputs += len(c.spent)
	c.counts.Outputs += len(c.payments)
	c.counts.Mints++
	for _, p := range c.payments {
		c.counts.Assets += len(p.assets)
	}
	c.put(coin{tx: id, address: c.payments[0].address, value: c.payments[0].value, assets: c.payments[0].assets})
}

// pledge takes the collateral of a transaction whose scripts will fail.
func (c *Chain) pledge() (pledged coin, fails bool) {
	share := failedShare
	if c.options.AllParts {
		share = 10 * failedShare
	}
	if c.era < eraAlonzo || !c.rng.Chance(share) {
		return coin{}, false
	}
	for range 32 {
		p, ok := c.unspent.Find(c.rng, age)
		if !ok || len(c.unspent.At(p).assets) > 0 || c.unspent.At(p).value <= 2*collateral {
			continue
		}
		if !c.options.AllParts || !isScript(kindOf(c.unspent.At(p).address)) { // collateral belongs to a key
			return c.unspent.Take(p), true
		}
	}
	return coin{}, false
}

// look chooses the inputs of a failing transaction, which stay unspent.
func (c *Chain) look(n int) {
	for range n {
		p, ok := c.unspent.Find(c.rng, age)
		if !ok {
			break
		}
		found := c.unspent.At(p)
		if !slices.ContainsFunc(c.spent, func(has coin) bool { return has.tx == found.tx && has.index == found.index }) {
			c.spent = append(c.spent, found)
		}
	}
}

// spend takes n inputs, and more if n have too little for the outputs. The last unspent output is never taken: a
// transaction must have inputs.
func (c *Chain) spend(n, outputs int) {
	if c.unspent.Len() < c.genesis.Outputs { // few would be left
		n = min(n, outputs)
	}
	c.spent, _ = skeleton.Spend(c.spent, n, 3, leastOutput*uint64(outputs+1), skeleton.TakeOf(&c.unspent, c.rng, age))
}

// pay makes up to n outputs of the inputs' value minus the fee.
func (c *Chain) pay(n int) (fee uint64) {
	total := uint64(0)
	for i := range c.spent {
		total += c.spent[i].value
	}
	total += c.parts.gain - c.parts.cost
	fee = min(feeFixed+feePerByte*uint64(800+c.rng.IntN(2400)), total/2)
	for value := range c.rng.Parts(total-fee, leastOutput, n) {
		c.payments = append(c.payments, payment{address: c.recipient(), value: value})
	}
	return fee
}

// appendBody appends the transaction's body to those of the block, and its witnesses and metadata to theirs.
func (c *Chain) appendBody(slot, fee, index uint64, pledge coin) (id [32]byte) {
	if c.options.AllParts {
		return c.appendFullBody(slot, fee, index, pledge)
	}
	fails := pledge.value > 0
	scripts := 0
	for i := range c.spent {
		if isScript(kindOf(c.spent[i].address)) {
			scripts++
		}
	}
	if fails {
		scripts = max(scripts, 1)
	}
	metadata := c.rng.Chance(metadataShare)
	minted := len(c.minted) > 0

	pairs := 4
	for _, more := range []bool{metadata, minted, scripts > 0, scripts > 0, scripts > 0, fails, fails} {
		if more {
			pairs++
		}
	}
	start := len(c.bodies)
	b := cbor.AppendHead(c.bodies, cbor.Map, uint64(pairs))
	b = c.appendInputs(cbor.AppendUint(b, keyInputs), c.spent)
	b = cbor.AppendHead(cbor.AppendUint(b, keyOutputs), cbor.Array, uint64(len(c.payments)))
	for i := range c.payments {
		b = c.appendOutput(b, &c.payments[i])
	}
	b = cbor.AppendUint(cbor.AppendUint(b, keyFee), fee)
	b = cbor.AppendUint(cbor.AppendUint(b, keyEnd), slot+7200)
	if metadata {
		at := len(c.aux)
		c.aux = c.appendMetadata(cbor.AppendUint(c.aux, index))
		sum := blake2b.Sum256(c.aux[at+len(cbor.AppendUint(nil, index)):])
		b = cbor.AppendBytes(cbor.AppendUint(b, keyMetadata), sum[:])
		c.metadata++
	}
	if minted {
		b = c.appendMultiAsset(cbor.AppendUint(b, keyMint), len(c.minted), func(i int) (uint32, int64) { return c.minted[i].asset, c.minted[i].amount })
	}
	if scripts > 0 {
		b = c.fillerBytes(cbor.AppendUint(b, keyScriptData), 32)
		if fails {
			b = c.appendInputs(cbor.AppendUint(b, keyCollateral), []coin{pledge})
			back := payment{address: pledge.address, value: pledge.value - collateral}
			b = c.appendOutput(cbor.AppendUint(b, keyCollateralReturn), &back)
			b = cbor.AppendUint(cbor.AppendUint(b, keyTotalCollateral), collateral)
		} else {
			b = c.appendInputs(cbor.AppendUint(b, keyCollateral), c.spent[:1])
		}
		b = c.appendInputs(cbor.AppendUint(b, keyReferenceInputs), c.readOnly())
	}
	c.bodies = b
	c.appendWitnesses(scripts)
	return blake2b.Sum256(c.bodies[start:])
}

// readOnly returns reference inputs: some unspent outputs.
func (c *Chain) readOnly() []coin {
	if p, ok := c.unspent.Find(c.rng, age); ok {
		return []coin{c.unspent.At(p)}
	}
	return c.spent[:1]
}

// appendInputs appends a set of outpoints, with the set tag or, as before Conway, without it.
func (c *Chain) appendInputs(b []byte, coins []coin) []byte {
	if c.rng.Chance(0.8) {
		b = cbor.AppendHead(b, cbor.Tag, cbor.TagSet)
	}
	b = cbor.AppendHead(b, cbor.Array, uint64(len(coins)))
	for i := range coins {
		b = cbor.AppendBytes(cbor.AppendHead(b, cbor.Array, 2), coins[i].tx[:])
		b = cbor.AppendUint(b, uint64(coins[i].index))
	}
	return b
}
