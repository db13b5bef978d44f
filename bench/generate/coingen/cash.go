package coingen

import (
	"bytes"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoincash/cashtoken"
)

// byID sorts transactions by id, as Bitcoin Cash does.
func byID(c *Chain, txs [][]byte) {
	slices.SortFunc(txs, func(a, b []byte) int {
		x, y := c.id(a), c.id(b)
		slices.Reverse(x[:])
		slices.Reverse(y[:])
		return bytes.Compare(x[:], y[:])
	})
}

// issueToken returns tokens of a new category, fungible or an NFT, if an input spends output 0 of a transaction, or else
// an NFT by a minting NFT. Commitments are random, so that no two NFTs are equal.
func issueToken(c *Chain, spent []coin) *Holding {
	commitment := string(c.bytes(8 + c.rng.IntN(33)))
	for _, in := range spent {
		switch category := string(in.tx[:]); {
		case in.index > 0:
		case c.rng.IntN(2) == 0:
			return &Holding{Asset: category, Amount: 1 + c.rng.Uint64N(1_000_000)}
		default:
			return &Holding{Asset: category + string(rune(c.rng.IntN(cashtoken.Minting+1))) + commitment, Amount: 1}
		}
	}
	for _, in := range spent {
		for _, h := range in.held {
			if category := len(in.tx); len(h.Asset) > category && h.Asset[category] == cashtoken.Minting {
				return &Holding{Asset: h.Asset[:category] + "\x00" + commitment, Amount: 1}
			}
		}
	}
	return nil
}

// wrapToken returns an output with tokens.
func wrapToken(o output) (value uint64, script []byte) {
	const prefix, category, amount, nft = 0xef, 32, 0x10, 0x60
	h := o.held[0]
	script = append([]byte{prefix}, h.Asset[:category]...)
	if rest := h.Asset[category:]; rest != "" {
		script = append(append(script, nft|rest[0], byte(len(rest)-1)), rest[1:]...)
	} else {
		script = block.AppendCompactSize(append(script, amount), h.Amount)
	}
	return o.value, append(script, o.script...)
}
