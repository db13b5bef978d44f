package coingen

import (
	"encoding/binary"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// zcashGenesis is block 0 of Zcash's regtest network (zcashd, chainparams.cpp).
const zcashGenesis = "04000000" + "0000000000000000000000000000000000000000000000000000000000000000" +
	"db4d7a85b768123f1dff1d4c4cece70083b2d27e117b4ac2e31d087988a5eac4" +
	"0000000000000000000000000000000000000000000000000000000000000000" + "dae5494d" + "0f0f0f20" +
	"0900000000000000000000000000000000000000000000000000000000000000" +
	"24" + "01936b7db1eb4ac39f151b8704642d0a8bda13ec547d54cd5e43ba142fc6d8877cab07b3" +
	"01" + "01000000" + "01" + "0000000000000000000000000000000000000000000000000000000000000000" + "ffffffff" + "4d" +
	"04ffff071f0104455a6361736830623963346565663862376363343137656535303031653335303039383462366665613335363833613763616331343161303433633432303634383335643334" +
	"ffffffff" + "01" + "0000000000000000" + "43" + "41" + satoshi + "ac" + "00000000"

// equihashHeader makes a header of Zcash without work, as Zebra does on regtest. Its solution is arbitrary.
func equihashHeader(c *Chain, txs [][]byte) []byte {
	const bits, solutionSize = 0x200f0f0f, 36
	ids := make([]model.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = c.id(tx)
	}
	root, _ := block.MerkleRoot(ids)
	h := binary.LittleEndian.AppendUint32(nil, 4)
	h = append(append(append(h, c.tip[:]...), root[:]...), c.bytes(32)...)
	h = binary.LittleEndian.AppendUint32(h, start+75*uint32(c.height()))
	h = binary.LittleEndian.AppendUint32(h, bits)
	h = append(append(append(h, make([]byte, 32)...), solutionSize), c.bytes(solutionSize)...)
	return h
}

// shield moves value between the inputs of a transaction, whose sum is total, and the pool. It returns the new sum.
func (c *Chain) shield(total uint64) uint64 {
	switch c.rng.IntN(4) {
	case 0:
		moved := c.rng.Uint64N(total + 1)
		c.pool += moved
		return total - moved
	case 1:
		moved := c.rng.Uint64N(c.pool + 1)
		c.pool -= moved
		return total + moved
	}
	return total
}

// shielded makes a transaction of Zcash, of any version. Shielded parts are arbitrary bytes.
func shielded(c *Chain, coinbase bool, body []byte) []byte {
	const overwintered, branch = 1 << 31, 0x37a5165b
	u32 := binary.LittleEndian.AppendUint32
	version, expiry := uint32(2+c.rng.IntN(5)), c.rng.Uint32()
	switch {
	case coinbase:
		version = 1
	case body[0] == 0: // without inputs only the expiry makes its id unique
		version = max(3, version)
	}
	groups := map[uint32]uint32{3: 0x03c48270, 4: 0x892f2085, 5: 0x26a7270a, 6: 0xd884b698}
	tx := u32(nil, version)
	if version > 2 {
		tx = u32(u32(nil, version|overwintered), groups[version])
	}
	if version >= 5 {
		return c.bundles(append(u32(u32(u32(tx, branch), 0), expiry), body...), version)
	}
	tx = u32(append(tx, body...), 0)
	if version > 2 {
		tx = u32(tx, expiry)
	}
	spends, outputs, joinSplits, joinSplit := 0, 0, 0, 1802
	if version == 4 {
		tx, spends = c.some(append(tx, c.bytes(8)...), 384)
		tx, outputs = c.some(tx, 948)
		joinSplit = 1698
	}
	if version > 1 {
		if tx, joinSplits = c.some(tx, joinSplit); joinSplits > 0 {
			tx = append(tx, c.bytes(32+64)...)
		}
	}
	if spends+outputs > 0 {
		tx = append(tx, c.bytes(64)...)
	}
	return tx
}

// bundles appends the shielded parts of version 5 or 6.
func (c *Chain) bundles(tx []byte, version uint32) []byte {
	tx, spends := c.some(tx, 96)
	tx, outputs := c.some(tx, 756)
	if spends+outputs > 0 {
		tx = append(tx, c.bytes(8+min(1, spends)*32+spends*(192+64)+outputs*192+64)...)
	}
	tx = c.actions(tx)
	if version >= 6 {
		tx = c.actions(tx)
	}
	return tx
}

// actions appends a bundle of the Orchard protocol.
func (c *Chain) actions(tx []byte) []byte {
	const proofs = 100
	tx, n := c.some(tx, 820)
	if n > 0 {
		tx = append(append(append(tx, c.bytes(1+8+32)...), proofs), c.bytes(proofs+n*64+64)...)
	}
	return tx
}

// some appends a count of up to two items of a size, and them.
func (c *Chain) some(tx []byte, size int) (grown []byte, n int) {
	n = c.rng.IntN(3)
	return append(append(tx, byte(n)), c.bytes(n*size)...), n
}
