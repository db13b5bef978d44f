package blockfrost

import (
	"encoding/hex"

	"birthmark/chains/cardano/hdkey"
)

// xpubAddress answers the address of a role and an index of an account's extended public key. It reads no block.
func xpubAddress(c *call) (any, error) {
	text, role, index := c.arg("xpub"), c.number("role"), c.number("index")
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	key := hdkey.Public(raw)
	derived, err := key.Address(c.addressNetwork(), uint32(role), uint32(index))
	if err != nil {
		return nil, errXpub
	}
	return &xpubValue{text, role, index, derived}, nil
}
