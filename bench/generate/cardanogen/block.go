package cardanogen

import (
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/immutabledb"
	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

const (
	eraConway    = 7
	headerOffset = 3 // after the heads of [era, [header, …

	issuers       = 300
	protocolMajor = 9
)

// assemble makes the block of the appended transactions.
func (c *Chain) assemble(height model.HeightPk, slot uint64, txs int) Block {
	n := uint64(txs)
	all := [4]struct {
		major   byte
		n       uint64
		content []byte
	}{
		{cbor.Array, n, c.bodies}, {cbor.Array, n, c.witnesses}, {cbor.Map, uint64(c.metadata), c.aux}, {cbor.Array, uint64(len(c.failed)), nil},
	}
	for _, i := range c.failed {
		all[3].content = cbor.AppendUint(all[3].content, i)
	}
	segments := all[:]
	if c.era < eraAlonzo {
		segments = all[:3]
	}
	size := 0
	for _, s := range segments {
		size += 9 + len(s.content)
	}
	const headerRoom = 1024
	raw := make([]byte, headerRoom, headerRoom+size)
	var hashes []byte
	for _, s := range segments {
		start := len(raw)
		raw = append(cbor.AppendHead(raw, s.major, s.n), s.content...)
		sum := blake2b.Sum256(raw[start:])
		hashes = append(hashes, sum[:]...)
	}
	bodyHash := blake2b.Sum256(hashes)

	h := c.appendHeader(nil, height, slot, len(raw)-headerRoom, bodyHash)
	begin := headerRoom - len(h) - headerOffset
	copy(raw[begin:], []byte{cbor.Array<<5 | 2, byte(c.era), cbor.Array<<5 | byte(len(segments)+1)})
	copy(raw[begin+headerOffset:], h)
	return Block{Height: height, Block: immutabledb.Block{
		Raw: raw[begin:], Slot: slot, Hash: blake2b.Sum256(h), HeaderOffset: headerOffset, HeaderSize: uint16(len(h)),
	}}
}

// appendHeader appends a header of the current era with filler signatures.
func (c *Chain) appendHeader(b []byte, height model.HeightPk, slot uint64, bodySize int, bodyHash [32]byte) []byte {
	issuer := c.rng.Uint64N(issuers)
	key := func(b []byte, n uint64) []byte {
		var k [32]byte
		distribution.Fill(k[:], c.names+n)
		return cbor.AppendBytes(b, k[:])
	}
	tpraos := c.era < eraBabbage
	items := uint64(10)
	if tpraos {
		items = 15
	}
	b = cbor.AppendHead(cbor.AppendHead(b, cbor.Array, 2), cbor.Array, items)
	b = cbor.AppendUint(cbor.AppendUint(b, uint64(height)), slot)
	if c.Made().Blocks == 0 {
		b = append(b, 0xf6)
	} else {
		parent := c.Tip().Hash
		b = cbor.AppendBytes(b, parent[:])
	}
	b = key(b, 2*issuer)   // the block's issuer,
	b = key(b, 2*issuer+1) // and its VRF key
	if tpraos {            // two VRF results
		b = c.fillerBytes(c.fillerBytes(cbor.AppendHead(b, cbor.Array, 2), 64), 80)
	}
	b = c.fillerBytes(cbor.AppendHead(b, cbor.Array, 2), 64)
	b = c.fillerBytes(b, 80)
	b = cbor.AppendUint(b, uint64(bodySize))
	b = cbor.AppendBytes(b, bodyHash[:])
	if !tpraos {
		b = cbor.AppendHead(b, cbor.Array, 4)
	}
	b = c.fillerBytes(b, 32)
	b = cbor.AppendUint(cbor.AppendUint(b, issuer%9), slot/129_600)
	b = c.fillerBytes(b, 64)
	if !tpraos {
		b = cbor.AppendHead(b, cbor.Array, 2)
	}
	b = cbor.AppendUint(cbor.AppendUint(b, protocolMajor-uint64(eraConway-c.era)), 0)
	return c.fillerBytes(b, 448)
}
