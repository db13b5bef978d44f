package cardanogen

import (
	"encoding/binary"
	"hash/crc32"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/cardano/cbor"
)

// Kinds of addresses of a test network: the high four bits of their first byte (CIP-19).
const (
	baseKey          = 0x00
	baseScript       = 0x10
	pointerKey       = 0x40
	enterpriseKey    = 0x60
	enterpriseScript = 0x70
	byronKind        = 0x80

	hotAddress = 0 // the others of the head follow
)

const credentialSize = 28

// First numbers of payment keys, scripts and stake keys, so that no two have the same hash.
const (
	keyNumbers    = 1 << 40
	scriptNumbers = 1 << 41
	stakeNumbers  = 1 << 42
	byronNumbers  = 1 << 43
	policyNumbers = 1 << 48
)

// kindOf returns the kind of an address by its number. More of the most used ones are contracts.
func kindOf(address uint32) byte {
	share := distribution.Mix(uint64(address)) % 1000
	scripts := uint64(60)
	if address <= headSize {
		scripts = 400
	}
	switch {
	case address == hotAddress:
		return baseScript
	case share < scripts:
		return baseScript
	case share < scripts+30:
		return enterpriseScript
	case share < scripts+90:
		return enterpriseKey
	case share < scripts+98:
		return byronKind
	}
	return baseKey
}

func isScript(kind byte) bool { return kind == baseScript || kind == enterpriseScript }

func (c *Chain) appendAddress(b []byte, address uint32) []byte {
	kind := kindOf(address)
	if kind == byronKind {
		return appendByron(b, c.names+byronNumbers+uint64(address), c.options.Magic)
	}
	b = append(b, kind)
	if c.options.AllParts {
		return c.appendRest(b, address, kind)
	}
	switch {
	case isScript(kind):
		b = c.credential(b, scriptNumbers+scriptOf(address))
	default:
		b = c.credential(b, keyNumbers+uint64(address))
	}
	if kind == baseKey || kind == baseScript {
		b = c.credential(b, stakeNumbers+stakeOf(address))
	}
	return b
}

// appendRest appends the credentials of an address of a chain with all parts, and changes its kind if it delegates to a
// script or has a pointer in their place.
func (c *Chain) appendRest(b []byte, address uint32, kind byte) []byte {
	head := len(b) - 1
	if isScript(kind) {
		b = append(b, c.script(scriptNumbers+scriptOf(address)).hash()...)
	} else {
		b = c.credential(b, keyNumbers+uint64(address))
	}
	if kind == baseKey || kind == baseScript {
		stake := stakeNumber(address)
		b[head] |= byte(kindOfCredential(stake)) << 5
		return append(b, c.hashOfCredential(stake)...)
	}
	if hash := distribution.Mix(uint64(address) + 3); kind == enterpriseKey && hash%4 == 0 {
		b[head] = pointerKey
		return appendPointer(b, hash)
	}
	return b
}

func (c *Chain) credential(b []byte, number uint64) []byte {
	start := len(b)
	b = append(b, make([]byte, credentialSize)...)
	distribution.Fill(b[start:], c.names+number)
	return b
}

// scriptOf returns the contract of an address: most addresses belong to few contracts.
func scriptOf(address uint32) uint64 {
	x := distribution.Mix(uint64(address) + 1)
	return x % (1 + x>>32%scriptCredentials)
}

// stakeOf returns the stake key of an address: about one in six is new, and old ones have many addresses.
func stakeOf(address uint32) uint64 {
	return distribution.Mix(uint64(address)+2) % (1 + uint64(address)/6)
}

// appendByron appends a Byron address: its root, network and type, with their CRC-32.
func appendByron(b []byte, number uint64, magic uint32) []byte {
	payload := cbor.AppendHead(nil, cbor.Array, 3)
	payload = cbor.AppendHead(payload, cbor.Bytes, credentialSize)
	start := len(payload)
	payload = append(payload, make([]byte, credentialSize)...)
	distribution.Fill(payload[start:], number)
	payload = number32(cbor.AppendHead(cbor.AppendHead(payload, cbor.Map, 1), cbor.Uint, 2), magic)
	payload = cbor.AppendHead(payload, cbor.Uint, 0)
	b = cbor.AppendHead(cbor.AppendHead(b, cbor.Array, 2), cbor.Tag, cbor.TagEncoded)
	b = cbor.AppendBytes(b, payload)
	return cbor.AppendHead(b, cbor.Uint, uint64(crc32.ChecksumIEEE(payload)))
}

// number32 appends a number as a byte string that contains its CBOR.
func number32(b []byte, n uint32) []byte {
	return binary.BigEndian.AppendUint32(append(cbor.AppendHead(b, cbor.Bytes, 5), cbor.Uint<<5|26), n)
}

// recipient chooses the address of an output of the transaction, none of a script of a later era.
func (c *Chain) recipient() uint32 {
	for {
		address := c.anyRecipient()
		if !c.options.AllParts || !isScript(kindOf(address)) || c.usable(scriptNumbers+scriptOf(address)) {
			return address
		}
	}
}

func (c *Chain) anyRecipient() uint32 {
	u := c.rng.Float64()
	switch {
	case u < hotShare:
		return hotAddress
	case u < hotShare+headShare:
		return 1 + uint32(mostUsed.Draw(c.rng))
	case u < hotShare+headShare+freshShare:
		c.births++
		return c.births - 1
	case u < hotShare+headShare+freshShare+changeShare && len(c.spent) > 0:
		return c.spent[c.rng.IntN(len(c.spent))].address
	}
	// A recent one: as many addresses back as blocks of that age have new ones.
	perBlock := c.options.TxsPerBlock / 2
	back := uint32(1 + perBlock*float64(age(c.rng))*c.rng.Float64())
	if known := c.births - headSize - 1; back > known {
		if known == 0 {
			return 1 + uint32(mostUsed.Draw(c.rng))
		}
		back = 1 + c.rng.Uint32N(known)
	}
	return c.births - back
}

// HotAddress returns the bytes of the most used address.
func (c *Chain) HotAddress() []byte { return c.appendAddress(nil, hotAddress) }
