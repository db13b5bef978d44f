package blockfrost

import (
	"encoding/hex"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/hdkey"
)

// xpubAddress answers the address of a role and an index of an account's extended public key. It reads no block.
func xpubAddress(q *request) error {
	text := q.Args[0]
	raw, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	role, err := exchange.ReadNumber(q.Args[1])
	if err != nil {
		return err
	}
	index, err := exchange.ReadNumber(q.Args[2])
	if err != nil {
		return err
	}
	key := hdkey.Public(raw)
	derived, err := key.Address(q.NetworkName(), uint32(role), uint32(index))
	if err != nil {
		return exchange.ErrXpub
	}
	q.Answer = struct {
		XPub    string `json:"xpub"`
		Role    uint64 `json:"role"`
		Index   uint64 `json:"index"`
		Address string `json:"address"`
	}{text, role, index, derived}
	return nil
}
