package cardanogen

import (
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
)

// The number of the language of native scripts; Plutus V1 is 1.
const nativeScript = 0

// script is a native script or filler in the place of a Plutus script. Its number determines it.
type script struct {
	language byte
	code     []byte // of a native script its CBOR
	since    int    // the era
}

// keyInWitnesses is the key of the scripts of a language in the witnesses.
var keyInWitnesses = [...]uint64{1, 3, 6, 7}

func (s *script) hash() []byte { return address.Hash224(append([]byte{s.language}, s.code...)) }

// script returns a script by its number.
func (c *Chain) script(n uint64) *script {
	if s, ok := c.scripts[n]; ok {
		return s
	}
	if c.scripts == nil {
		c.scripts = map[uint64]*script{}
	}
	r := distribution.NewRandom(c.names+n, 1)
	s := &script{since: eraShelley}
	switch r.IntN(8) {
	case 0:
		s.language, s.since = 1, eraAlonzo
	case 1:
		s.language, s.since = 2, eraBabbage
	case 2:
		s.language, s.since = 3, eraConway
	}
	if s.language == nativeScript {
		if s.code = s.native(r, 3); len(s.code) < credentialSize { // no key, which makes the hash of each script different
			key := r.Filler(cbor.AppendHead([]byte{cbor.Array<<5 | 2, 0}, cbor.Bytes, credentialSize), credentialSize)
			s.code = append(append([]byte{cbor.Array<<5 | 2, 1, cbor.Array<<5 | 2}, key...), s.code...) // all of key and script
		}
	} else {
		s.code = r.Filler(nil, 1+r.IntN(200))
	}
	c.scripts[n] = s
	return s
}

// native encodes a native script that is true from slot 0 to the end of the chain, if enough keys sign.
func (s *script) native(r distribution.Random, depth int) []byte {
	kinds := 6
	if depth == 0 {
		kinds = 1
	}
	kind := r.IntN(kinds)
	head := func(items uint64) []byte {
		return cbor.AppendUint(cbor.AppendHead(nil, cbor.Array, items), uint64(kind))
	}
	switch kind {
	case 0: // signature
		return r.Filler(cbor.AppendHead(head(2), cbor.Bytes, credentialSize), credentialSize)
	case 4, 5: // from a slot on, before a slot
		s.since = max(s.since, eraAllegra)
		slot := r.Uint64N(2)
		if kind == 5 {
			slot = 1 << (40 + r.IntN(23))
		}
		return cbor.AppendUint(head(2), slot)
	}
	n := 1 + r.IntN(3)
	var b []byte
	if kind == 3 { // n of k: a minimum number of them
		b = cbor.AppendUint(head(3), uint64(r.IntN(n+1)))
	} else { // all, any
		b = head(2)
	}
	if r.Chance(0.2) {
		b = append(b, cbor.Array<<5|31)
	} else {
		b = cbor.AppendHead(b, cbor.Array, uint64(n))
	}
	endless := b[len(b)-1] == cbor.Array<<5|31
	for range n {
		b = append(b, s.native(r, depth-1)...)
	}
	if endless {
		b = append(b, 0xff)
	}
	return b
}

// usable reports whether the script can run in the current era.
func (c *Chain) usable(number uint64) bool { return c.script(number).since <= c.era }

// encode encodes a script as an output has it.
func (s *script) encode(c *Chain) []byte {
	code := s.code
	if s.language != nativeScript {
		code = byteString(s.code)
	}
	return embedded(c.list(c.number(uint64(s.language)), code))
}

// data encodes Plutus data of every kind.
func (c *Chain) data(depth int) []byte {
	kinds := 8
	if depth == 0 {
		kinds = 4
	}
	several := func() (items [][]byte) {
		for range c.rng.IntN(4) {
			items = append(items, c.data(depth-1))
		}
		return items
	}
	switch c.rng.IntN(kinds) {
	case 0:
		return cbor.AppendInt(nil, int64(c.rng.Uint64()>>c.rng.IntN(64)))
	case 1: // beyond 64 bits: tag 2, or 3 if negative
		return c.rng.Filler(cbor.AppendHead(cbor.AppendHead(nil, cbor.Tag, 2+c.rng.Uint64N(2)), cbor.Bytes, 16), 16)
	case 2:
		return c.fillerBytes(nil, c.rng.IntN(65))
	case 3: // of more than 64 bytes, in chunks
		b := c.fillerBytes([]byte{cbor.Bytes<<5 | 31}, 64)
		return append(c.fillerBytes(b, 1+c.rng.IntN(64)), 0xff)
	case 4:
		return c.list(several()...)
	case 5:
		items := several()
		return c.dict(items[:len(items)&^1]...)
	case 6: // of any constructor
		const tagAny = 102
		return append(cbor.AppendHead(nil, cbor.Tag, tagAny), c.list(c.number(c.rng.Uint64()>>c.rng.IntN(64)), c.list(several()...))...)
	}
	tag := tagConstr + c.rng.Uint64N(7)
	if c.rng.Chance(0.3) {
		tag = 1280 + c.rng.Uint64N(121)
	}
	return append(cbor.AppendHead(nil, cbor.Tag, tag), c.list(several()...)...)
}

// The purposes of redeemers.
const (
	spending = iota
	minting
	certifying
	rewarding
	voting
	proposing
)

// redeemer is the argument of a Plutus script.
type redeemer struct {
	purpose, index uint64
}

// runs adds a script that the transaction runs, and its redeemer if it is a Plutus script.
func (c *Chain) runs(number uint64, purpose, index int) {
	p := &c.parts
	if !containsNumber(p.scripts, number) {
		p.scripts = append(p.scripts, number)
	}
	if c.script(number).language != nativeScript {
		p.redeemers = append(p.redeemers, redeemer{uint64(purpose), uint64(index)})
	}
}

func containsNumber(all []uint64, n uint64) bool {
	for _, has := range all {
		if has == n {
			return true
		}
	}
	return false
}

// fullWitnesses encodes the witnesses of a transaction with all parts: signatures, and the scripts that no reference input
// has, with their datums and redeemers.
func (c *Chain) fullWitnesses(referenced []uint64) []byte {
	p := &c.parts
	var fields [][]byte
	add := func(key uint64, value []byte) { fields = append(fields, c.number(key), value) }
	var keys, boots [][]byte
	for i := range c.spent {
		switch kind := kindOf(c.spent[i].address); {
		case kind == byronKind:
			boots = append(boots, c.list(c.fillerBytes(nil, 32), c.fillerBytes(nil, 64), c.fillerBytes(nil, 32), byteString([]byte{0xa0})))
		case !isScript(kind) || len(keys) == 0:
			keys = append(keys, c.list(c.fillerBytes(nil, 32), c.fillerBytes(nil, 64)))
		}
	}
	if len(keys) > 0 {
		add(0, c.set(keys...))
	}
	if len(boots) > 0 {
		add(2, c.set(boots...))
	}
	var byLanguage [4][][]byte
	for _, n := range p.scripts {
		if containsNumber(referenced, n) {
			continue
		}
		s := c.script(n)
		code := s.code
		if s.language != nativeScript {
			code = byteString(code)
		}
		byLanguage[s.language] = append(byLanguage[s.language], code)
	}
	for language, scripts := range byLanguage {
		if len(scripts) > 0 {
			add(keyInWitnesses[language], c.set(scripts...))
		}
	}
	if len(p.datums) > 0 {
		add(4, c.set(p.datums...))
	}
	if len(p.redeemers) > 0 {
		add(witnessRedeemers, c.redeemers())
	}
	return c.dict(fields...)
}

// redeemers encodes the redeemers as a list, or as a map as since Conway.
func (c *Chain) redeemers() []byte {
	isMap := c.era >= eraConway && c.rng.Chance(0.7)
	var items [][]byte
	for _, r := range c.parts.redeemers {
		units := c.list(c.number(100_000+c.rng.Uint64N(2_000_000)), c.number(10_000_000+c.rng.Uint64N(900_000_000)))
		if isMap {
			items = append(items, c.list(c.number(r.purpose), c.number(r.index)), c.list(c.data(3), units))
		} else {
			items = append(items, c.list(c.number(r.purpose), c.number(r.index), c.data(3), units))
		}
	}
	if isMap {
		return c.dict(items...)
	}
	return c.list(items...)
}

// hashOf returns the Blake2b-256 hash of an item.
func hashOf(item []byte) []byte {
	sum := blake2b.Sum256(item)
	return sum[:]
}
