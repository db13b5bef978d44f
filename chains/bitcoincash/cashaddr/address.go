package cashaddr

import (
	"fmt"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// FormatAddress writes a stored address; "" if it has no form in CashAddr.
func FormatAddress(n *params.Network, value []byte) string {
	switch value[0] {
	case bitcoin.ToKeyHash:
		return Encode(n.CashAddr, KeyHash, value[1:])
	case bitcoin.ToScriptHash, bitcoin.ToScriptHash32:
		return Encode(n.CashAddr, ScriptHash, value[1:])
	}
	return ""
}

// ParseAddress reads an address as a stored one; nil without an error if the text has another form.
func ParseAddress(n *params.Network, text string) ([]byte, error) {
	kind, hash, err := Decode(n.CashAddr, text)
	if hash == nil {
		return nil, err
	}
	to := byte(0)
	switch isScript := kind == ScriptHash || kind == TokenScriptHash; {
	case kind > TokenScriptHash:
	case len(hash) == block.Hash160Size && isScript:
		to = bitcoin.ToScriptHash
	case len(hash) == block.Hash160Size:
		to = bitcoin.ToKeyHash
	case len(hash) == len(model.Hash{}) && isScript:
		to = bitcoin.ToScriptHash32
	}
	if to == 0 {
		return nil, fmt.Errorf("it has a hash of %d bytes and the type %d: "+
			"expected the hash of a key (20 bytes) or of a script (20 or 32)", len(hash), kind)
	}
	return append([]byte{to}, hash...), nil
}
