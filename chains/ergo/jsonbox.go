package ergo

import (
	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// maxBytes bounds an ErgoTree and a register: index values have one byte before them. A node allows fewer bytes.
const maxBytes = model.MaxValueSize - 1

func (d *decoder) readOutputs() ([]sigma.Box, []claim) {
	s := &d.s
	first, claims := len(d.boxes), len(d.claims)
	for l := s.list("outputs"); l.next(); {
		d.boxes = append(d.boxes, sigma.Box{})
		d.claims = append(d.claims, claim{index: -1})
		if d.readBox(&d.boxes[len(d.boxes)-1], &d.claims[len(d.claims)-1]); s.err != nil {
			return nil, nil
		}
	}
	return d.boxes[first:len(d.boxes):len(d.boxes)], d.claims[claims:len(d.claims):len(d.claims)]
}

func (d *decoder) readBox(b *sigma.Box, c *claim) {
	s := &d.s
	members := boxMembers
	if d.signed {
		members = boxMembers[1:]
	}
	for o := s.object("a box", members); o.next(); {
		switch string(o.name) {
		case "boxId":
			s.hex(c.id[:], "box id")
		case "value":
			b.Value = s.uint(maxAmount, "value of a box")
		case "ergoTree":
			b.Tree = d.hex("ergoTree")
		case "creationHeight":
			b.Height = uint32(s.uint(1<<31-1, "creationHeight"))
		case "assets":
			b.Tokens = d.readTokens()
		case "additionalRegisters":
			b.Registers = d.readRegisters()
		case "transactionId":
			if !s.null() {
				s.hex(c.tx[:], "transaction id of a box")
				c.hasTx = true
			}
		case "index":
			if !s.null() {
				c.index = int(s.uint(maxIndex, "index of a box"))
			}
		default:
			s.skip()
		}
	}
	if n := len(b.Tree); s.err == nil && (n == 0 || n > maxBytes) {
		s.fail("ergoTree of %d bytes: expected 1 to %d", n, maxBytes)
	}
}

func (d *decoder) readTokens() []sigma.Token {
	s := &d.s
	first := len(d.tokens)
	for l := s.list("assets"); l.next(); {
		var t sigma.Token
		for o := s.object("an asset", assetMembers); o.next(); {
			switch string(o.name) {
			case "tokenId":
				s.hex(t.ID[:], "token id")
			case "amount":
				t.Amount = s.uint(maxAmount, "amount of a token")
			default:
				s.skip()
			}
		}
		d.tokens = append(d.tokens, t)
	}
	if len(d.tokens)-first > maxTokens {
		s.fail("%d tokens in a box, the maximum is %d", len(d.tokens)-first, maxTokens)
	}
	return d.tokens[first:len(d.tokens):len(d.tokens)]
}

// readRegisters reads the additional registers, which are in the order of their numbers without gaps.
func (d *decoder) readRegisters() [][]byte {
	s := &d.s
	var registers [lastRegister - firstRegister + 1][]byte
	used := 0
	for o := s.object("additionalRegisters", nil); o.next(); {
		i := -1
		if len(o.name) == 2 && o.name[0] == 'R' {
			i = int(o.name[1]) - '0' - firstRegister
		}
		if i < 0 || i >= len(registers) {
			s.fail("register %q: expected R%d to R%d", adapter.Truncate(string(o.name)), firstRegister, lastRegister)
			break
		}
		if s.null() {
			continue
		}
		if registers[i] = d.constant("register"); len(registers[i]) > maxBytes {
			s.fail("register R%d of %d bytes, the maximum is %d", firstRegister+i, len(registers[i]), maxBytes)
		}
		used = max(used, i+1)
	}
	first := len(d.regs)
	for i, r := range registers[:used] {
		if s.err == nil && r == nil {
			s.fail("register R%d is used and R%d is not", firstRegister+used-1, firstRegister+i)
		}
		d.regs = append(d.regs, r)
	}
	return d.regs[first:len(d.regs):len(d.regs)]
}
