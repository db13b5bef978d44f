package ergogen

import (
	"encoding/binary"
	"fmt"
)

// mostValues is the number of register values kept for reuse.
const mostValues = 3000

// register fills the registers of a box: the issuer's description (EIP-4) in the first box with a new token, contract
// data in some others.
func (c *Chain) register(p *payment, m minted) {
	if m.amount > 0 && p.tokens.Index(m.id) >= 0 {
		if all := c.options.Descriptions; len(all) > 0 && c.rng.Chance(unusualShare) {
			p.registers = all[c.rng.IntN(len(all))]
			return
		}
		p.registers = c.describe(m)
		return
	}
	if !c.rng.Chance(registerShare) {
		return
	}
	for range registerCounts.Draw(c.rng) {
		if v := c.oneOf(c.options.Values, c.options.Registers); v != nil {
			p.registers = append(p.registers, v)
			continue
		}
		if len(c.values) > 0 && c.rng.Chance(knownValue) {
			p.registers = append(p.registers, c.values[c.rng.IntN(len(c.values))])
			continue
		}
		v := c.constant()
		p.registers = append(p.registers, v)
		if len(c.values) < mostValues {
			c.values = append(c.values, v)
		} else {
			c.values[c.rng.IntN(mostValues)] = v
		}
	}
}

// oneOf returns one of the values or nil, mostly nil.
func (c *Chain) oneOf(lists ...[][]byte) []byte {
	for _, values := range lists {
		if len(values) > 0 && c.rng.Chance(unusualShare) {
			return values[c.rng.IntN(len(values))]
		}
	}
	return nil
}

// unusualShare is the share of registers and variables that have one of [Options.Values], and of new tokens with one of
// [Options.Descriptions].
const unusualShare = 0.3

// describe returns a token's name, description and decimals. Some issuers write something else there.
func (c *Chain) describe(m minted) [][]byte {
	text := func(s string) []byte {
		return append(binary.AppendUvarint([]byte{typeBytes}, uint64(len(s))), s...)
	}
	name := fmt.Sprintf("Token %d", c.Made().Mints+c.counts.Mints)
	decimals := fmt.Sprint(c.rng.IntN(10))
	switch n := c.rng.IntN(20); {
	case n == 0:
		return [][]byte{text(name)}
	case n == 1:
		return [][]byte{text("\xff\xfe" + name), text(""), text("many")}
	case n == 2:
		return [][]byte{binary.AppendVarint([]byte{typeLong}, c.rng.Int64()), text(name)}
	case m.whole: // a picture: its type, hash and URL
		return [][]byte{text(name), text("a picture ☕"), text("0"), text("\x01\x01"), c.bytes(32), text("ipfs://" + name)}
	}
	return [][]byte{text(name), text("what " + name + " is for"), text(decimals)}
}

// constant returns a value as contracts store it.
func (c *Chain) constant() []byte {
	number := func(b []byte) []byte { return binary.AppendVarint(b, c.rng.Int64()>>c.rng.IntN(60)) }
	switch n := c.rng.IntN(10); {
	case n < 3:
		return number([]byte{typeLong})
	case n < 4:
		return appendInt([]byte{typeInt}, int32(c.rng.Uint32())>>c.rng.IntN(32))
	case n < 7:
		return c.bytes(c.rng.IntN(64))
	case n < 8:
		if c.rng.Chance(0.5) {
			return append([]byte{typeGroup}, c.scripts.owner(c.rng)...)
		}
		return append([]byte{typeSigmaProp, proveDlog}, c.scripts.owner(c.rng)...)
	case n < 9:
		items := 1 + c.rng.IntN(6)
		b := binary.AppendUvarint([]byte{typeLongs}, uint64(items))
		for range items {
			b = number(b)
		}
		return b
	}
	return number(number([]byte{typeTwoLongs}))
}

// appendInt appends an Int. Its zigzag encoding is sign-extended, as in the reference implementation, so numbers from
// 2^30 on have ten bytes.
func appendInt(b []byte, v int32) []byte {
	return binary.AppendUvarint(b, uint64(int64(v<<1^v>>31)))
}

// bytes returns a constant of n bytes.
func (c *Chain) bytes(n int) []byte {
	return c.rng.Filler(binary.AppendUvarint([]byte{typeBytes}, uint64(n)), n)
}
