package cardanogen

import "birthmark/chains/cardano/cbor"

// Keys of a witness set (rule transaction_witness_set) that are used.
const (
	witnessKeys      = 0
	witnessRedeemers = 5
)

const mostRedeemers = 12

// appendWitnesses appends filler signatures and, for scripts, redeemers and datums of realistic length.
func (c *Chain) appendWitnesses(scripts int) {
	keys := 1
	for i := 1; i < len(c.spent) && keys < 4; i++ {
		if !isScript(kindOf(c.spent[i].address)) && c.rng.Chance(0.3) {
			keys++
		}
	}
	pairs := uint64(1)
	if scripts > 0 {
		pairs++
	}
	b := cbor.AppendHead(c.witnesses, cbor.Map, pairs)
	b = cbor.AppendHead(cbor.AppendHead(cbor.AppendUint(b, witnessKeys), cbor.Tag, cbor.TagSet), cbor.Array, uint64(keys))
	for range keys {
		b = c.fillerBytes(cbor.AppendHead(b, cbor.Array, 2), 32)
		b = c.fillerBytes(b, 64)
	}
	if scripts > 0 {
		n := min(scripts, mostRedeemers)
		b = cbor.AppendHead(cbor.AppendUint(b, witnessRedeemers), cbor.Map, uint64(n))
		for i := range n {
			b = cbor.AppendUint(cbor.AppendUint(cbor.AppendHead(b, cbor.Array, 2), 0), uint64(i)) // of an input
			b = c.appendData(cbor.AppendHead(b, cbor.Array, 2))
			b = cbor.AppendUint(cbor.AppendUint(cbor.AppendHead(b, cbor.Array, 2), 100_000+c.rng.Uint64N(2_000_000)), 10_000_000+c.rng.Uint64N(900_000_000))
		}
	}
	c.witnesses = b
}

const (
	messageLabel = 674 // CIP-20
	longestText  = 64
)

// appendMetadata appends a transaction's message, in lines of the maximum length.
func (c *Chain) appendMetadata(b []byte) []byte {
	lines := 1 + int(c.rng.ExpFloat64()*meanLines)
	b = cbor.AppendUint(cbor.AppendHead(b, cbor.Map, 1), messageLabel)
	b = append(cbor.AppendHead(cbor.AppendHead(b, cbor.Map, 1), cbor.Text, 3), "msg"...)
	b = cbor.AppendHead(b, cbor.Array, uint64(lines))
	for range lines {
		n := longestText
		b = cbor.AppendHead(b, cbor.Text, uint64(n))
		at := len(b)
		b = c.rng.Filler(b, n)
		for i := at; i < len(b); i++ {
			b[i] = ' ' + b[i]&0x3f
		}
	}
	return b
}
