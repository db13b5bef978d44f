package coingen

import (
	"crypto/sha256"
	"encoding/binary"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/tapyrus/coloredcoin"
	"birthmark/model"
)

// tapyrusGenesis is block 0 of the network of Tapyrus Core's tests (test/functional/data/genesis.dat).
const tapyrusGenesis = "0100000000000000000000000000000000000000000000000000000000000000000000003534f8e60bdd856ffeda85b427f817512a553d1c9d9cf6ab7a38b11e764aca890ea52d1f17629224f24f9e44a704ff95c0141fbc95686dd742f73820a84c60a38a7d155d012102bf2027c8455800c7626542219e6208b5fe787483689f1391d6d443ec85673ecf405fc9b3a186877ebfb6713d249ecf5731d8fb403675e1a2fd79cd22d2cb297f33102fd5e6aa6d8a176280e600542be62cd55d9414b5f584e58563c750afba432b010100000001000000000000000000000000000000000000000000000000000000000000000000000000222102bf2027c8455800c7626542219e6208b5fe787483689f1391d6d443ec85673ecfffffffff0100f2052a010000002676a92102bf2027c8455800c7626542219e6208b5fe787483689f1391d6d443ec85673ecf88ac00000000"

// signedHeader makes a header of Tapyrus. The signature is arbitrary; some headers have a new key or a new maximum size
// of blocks.
func signedHeader(c *Chain, txs [][]byte) []byte {
	ids, hashes := make([]model.Hash, len(txs)), make([]model.Hash, len(txs))
	for i, tx := range txs {
		ids[i], hashes[i] = c.id(tx), block.DoubleHash(tx)
	}
	byID, _ := block.MerkleRoot(ids)
	byBytes, _ := block.MerkleRoot(hashes)
	h := binary.LittleEndian.AppendUint32(nil, 1)
	h = append(append(append(h, c.tip[:]...), byBytes[:]...), byID[:]...)
	h = binary.LittleEndian.AppendUint32(h, start+15*uint32(c.height()))
	switch c.rng.IntN(10) {
	case 0:
		h = append(append(h, 1, 33, 2), c.bytes(32)...)
	case 1:
		h = binary.LittleEndian.AppendUint32(append(h, 2), 2_000_000)
	default:
		h = append(h, 0)
	}
	return append(append(h, 64), c.bytes(64)...)
}

// issueColor returns a holding of a new color, or more of a reissuable one, that a transaction may issue which spends an
// output without a color.
func issueColor(c *Chain, spent []coin) *Holding {
	in := spent[0]
	if len(in.held) > 0 {
		return nil
	}
	kind := byte(0xc1 + c.rng.IntN(3))
	derived := append(in.tx[:], binary.LittleEndian.AppendUint32(nil, in.index)...)
	if kind == 0xc1 {
		derived = in.script
	}
	hash := sha256.Sum256(derived)
	amount := uint64(1)
	if kind != 0xc3 {
		amount += c.rng.Uint64N(1_000_000)
	}
	return &Holding{Asset: string(append([]byte{kind}, hash[:]...)), Amount: amount}
}

// wrapColor returns an output with a color.
func wrapColor(o output) (value uint64, script []byte) {
	const opColor = 0xbc
	h := o.held[0]
	return h.Amount, append(append(append([]byte{coloredcoin.Size}, h.Asset...), opColor), o.script...)
}
