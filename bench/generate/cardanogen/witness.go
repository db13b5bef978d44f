package cardanogen

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
	b := head(c.witnesses, mapping, pairs)
	b = head(head(number(b, witnessKeys), tag, tagSet), array, uint64(keys))
	for range keys {
		b = c.fillerBytes(head(b, array, 2), 32)
		b = c.fillerBytes(b, 64)
	}
	if scripts > 0 {
		n := min(scripts, mostRedeemers)
		b = head(number(b, witnessRedeemers), mapping, uint64(n))
		for i := range n {
			b = number(number(head(b, array, 2), 0), uint64(i)) // of an input
			b = c.appendData(head(b, array, 2))
			b = number(number(head(b, array, 2), 100_000+c.rng.Uint64N(2_000_000)), 10_000_000+c.rng.Uint64N(900_000_000))
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
	b = number(head(b, mapping, 1), messageLabel)
	b = append(head(head(b, mapping, 1), text, 3), "msg"...)
	b = head(b, array, uint64(lines))
	for range lines {
		n := longestText
		b = head(b, text, uint64(n))
		at := len(b)
		b = c.rng.Filler(b, n)
		for i := at; i < len(b); i++ {
			b[i] = ' ' + b[i]&0x3f
		}
	}
	return b
}
