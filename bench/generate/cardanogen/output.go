package cardanogen

import "birthmark/chains/cardano/cbor"

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
	if c.options.AllParts {
		return c.appendFullOutput(b, p, datum, inline)
	}

	if !inline && !script && c.rng.Chance(legacyShare) {
		items := 2
		if datum {
			items = 3
		}
		b = cbor.AppendBytes(cbor.AppendHead(b, cbor.Array, uint64(items)), c.content)
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
	b = cbor.AppendUint(cbor.AppendHead(b, cbor.Map, uint64(pairs)), outputAddress)
	b = cbor.AppendBytes(b, c.content)
	b = c.appendValue(cbor.AppendUint(b, outputValue), p)
	if datum {
		b = cbor.AppendHead(cbor.AppendUint(b, outputDatum), cbor.Array, 2)
		if inline {
			c.content = c.appendData(c.content[:0])
			b = cbor.AppendBytes(cbor.AppendHead(cbor.AppendUint(b, 1), cbor.Tag, cbor.TagEncoded), c.content)
		} else {
			b = c.fillerBytes(cbor.AppendUint(b, 0), 32)
		}
	}
	if script { // Plutus V2
		const language = 2
		c.content = cbor.AppendUint(cbor.AppendHead(c.content[:0], cbor.Array, 2), language)
		c.content = c.fillerBytes(c.content, 300+c.rng.IntN(2500))
		b = cbor.AppendBytes(cbor.AppendHead(cbor.AppendUint(b, outputScript), cbor.Tag, cbor.TagEncoded), c.content)
	}
	return b
}

func (c *Chain) appendValue(b []byte, p *payment) []byte {
	if len(p.assets) == 0 {
		return cbor.AppendUint(b, p.value)
	}
	b = cbor.AppendUint(cbor.AppendHead(b, cbor.Array, 2), p.value)
	return c.appendMultiAsset(b, len(p.assets), func(i int) (uint32, int64) { return p.assets[i].Asset, int64(p.assets[i].Amount) })
}

// appendData appends Plutus data as contracts store it: owner, amount, deadline.
func (c *Chain) appendData(b []byte) []byte {
	fields := 2 + c.rng.IntN(7)
	b = cbor.AppendHead(cbor.AppendHead(b, cbor.Tag, tagConstr), cbor.Array, uint64(fields))
	for i := range fields {
		if i%2 == 0 {
			b = c.fillerBytes(b, 28)
		} else {
			b = cbor.AppendUint(b, c.rng.Uint64()>>(16+c.rng.IntN(40)))
		}
	}
	return b
}

// appendFullOutput appends an output of a transaction with all parts: before Babbage as an array, of the bytes of the address
// in content.
func (c *Chain) appendFullOutput(b []byte, p *payment, datum, inline bool) []byte {
	to := byteString(c.content)
	datum, inline = datum && c.era >= eraAlonzo, inline && c.era >= eraBabbage
	amount := c.appendValue(nil, p)
	if datum && !inline {
		p.datum = c.data(3)
	}
	if c.era < eraBabbage || !inline && c.rng.Chance(legacyShare) {
		if datum {
			// With its length: gouroboros, which tests compare with, reads no other form.
			return append(append(append(cbor.AppendHead(b, cbor.Array, 3), to...), amount...), byteString(hashOf(p.datum))...)
		}
		return append(b, c.list(to, amount)...)
	}
	pairs := [][]byte{c.number(outputAddress), to, c.number(outputValue), amount}
	if inline {
		pairs = append(pairs, c.number(outputDatum), c.list(c.number(1), embedded(c.data(3))))
	} else if datum {
		pairs = append(pairs, c.number(outputDatum), c.list(c.number(0), byteString(hashOf(p.datum))))
	}
	if number := c.reference(); number > 0 {
		p.script = number
		pairs = append(pairs, c.number(outputScript), c.script(number).encode(c))
	}
	if c.rng.Chance(0.1) { // the order of a map's keys does not matter
		pairs = append(pairs[2:], pairs[:2]...)
	}
	return append(b, c.dict(pairs...)...)
}

// reference returns the number of the reference script of an output, which is that of a used contract or account; mostly 0.
func (c *Chain) reference() uint64 {
	if !c.rng.Chance(0.05) {
		return 0
	}
	number := scriptNumbers + scriptOf(uint32(mostUsed.Draw(c.rng)))
	if c.rng.Chance(0.3) && len(c.policyScripts) > 0 {
		number, _ = c.anyOf(c.policyScripts)
	}
	if !c.usable(number) {
		return 0
	}
	return number
}
