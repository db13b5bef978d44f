package cardanogen

// Keys of an output in map form.
const (
	outputAddress = iota
	outputValue
	outputDatum
	outputScript
)

// appendOutput appends an output: a map, or an array as before Babbage if that form suffices.
func (c *Chain) appendOutput(b []byte, p *payment) []byte {
	kind := kindOf(p.address)
	datum := c.rng.Chance(keyDatums)
	if isScript(kind) {
		datum = c.rng.Chance(scriptDatums)
	}
	inline := datum && c.rng.Chance(inlineDatums)
	script := c.rng.Chance(referenceShare)
	c.content = c.appendAddress(c.content[:0], p.address)

	if !inline && !script && c.rng.Chance(legacyShare) {
		items := 2
		if datum {
			items = 3
		}
		b = bytesOf(head(b, array, uint64(items)), c.content)
		b = c.appendValue(b, p)
		if datum {
			b = c.fillerBytes(b, 32)
		}
		return b
	}
	pairs := 2
	for _, more := range []bool{datum, script} {
		if more {
			pairs++
		}
	}
	b = number(head(b, mapping, uint64(pairs)), outputAddress)
	b = bytesOf(b, c.content)
	b = c.appendValue(number(b, outputValue), p)
	if datum {
		b = head(number(b, outputDatum), array, 2)
		if inline {
			c.content = c.appendData(c.content[:0])
			b = bytesOf(head(number(b, 1), tag, tagEncoded), c.content)
		} else {
			b = c.fillerBytes(number(b, 0), 32)
		}
	}
	if script { // Plutus V2
		const language = 2
		c.content = number(head(c.content[:0], array, 2), language)
		c.content = c.fillerBytes(c.content, 300+c.rng.IntN(2500))
		b = bytesOf(head(number(b, outputScript), tag, tagEncoded), c.content)
	}
	return b
}

func (c *Chain) appendValue(b []byte, p *payment) []byte {
	if len(p.assets) == 0 {
		return number(b, p.value)
	}
	b = number(head(b, array, 2), p.value)
	return c.appendMultiAsset(b, len(p.assets), func(i int) (uint32, int64) { return p.assets[i].asset, int64(p.assets[i].amount) })
}

// appendData appends Plutus data as contracts store it: owner, amount, deadline.
func (c *Chain) appendData(b []byte) []byte {
	fields := 2 + c.rng.IntN(7)
	b = head(head(b, tag, tagConstr), array, uint64(fields))
	for i := range fields {
		if i%2 == 0 {
			b = c.fillerBytes(b, 28)
		} else {
			b = number(b, c.rng.Uint64()>>(16+c.rng.IntN(40)))
		}
	}
	return b
}
