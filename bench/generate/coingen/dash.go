package coingen

import (
	"encoding/binary"

	"birthmark/chains/bitcoin/block"
)

// DashGenesis makes a block 0 of Dash.
func DashGenesis(time, bits, nonce uint32) []byte {
	const text = "Wired 09/Jan/2014 The Grand Experiment Goes Live: Overstock.com Is Now Accepting Bitcoins"
	raw := Genesis(text, nintondo, 50*satoshis, time, nonce)
	binary.LittleEndian.PutUint32(raw[72:], bits)
	return raw
}

// Types of special transactions (DIP 2), and their version.
const (
	registration = 1
	coinbaseType = 5
	commitment   = 6
	specialFrom  = 3
)

// special makes a transaction of Dash: the coinbase and some others have a type and a payload of arbitrary bytes.
func special(c *Chain, coinbase bool, body []byte) []byte {
	switch {
	case coinbase:
		return specialOf(c, coinbaseType, body)
	case c.rng.IntN(6) == 0:
		return specialOf(c, registration, body)
	}
	tx := binary.LittleEndian.AppendUint32(nil, 2)
	return binary.LittleEndian.AppendUint32(append(tx, body...), 0)
}

func specialOf(c *Chain, kind uint32, body []byte) []byte {
	tx := binary.LittleEndian.AppendUint32(nil, kind<<16|specialFrom)
	tx = binary.LittleEndian.AppendUint32(append(tx, body...), 0)
	payload := c.bytes(30 + c.rng.IntN(300))
	return append(block.AppendCompactSize(tx, uint64(len(payload))), payload...)
}

// quorumCommitment makes the last transaction of some blocks: it has neither inputs nor outputs.
func quorumCommitment(c *Chain) (tx, after []byte) {
	if c.rng.IntN(3) > 0 {
		return nil, nil
	}
	return specialOf(c, commitment, []byte{0, 0}), nil
}
