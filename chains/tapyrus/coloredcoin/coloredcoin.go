// Package coloredcoin reads the colors of Tapyrus' outputs, which are assets. The formats come from Tapyrus Core.
//
// An output whose script begins with a color and OP_COLOR has an amount of that color, and no coins. Its address is the
// address of the rest of the script. The address of Tapyrus Core for a colored output, which contains the color, is
// read as that address.
package coloredcoin

import (
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

const (
	// Size is the size of a color in bytes: its type and a hash.
	Size = 33

	opColor     = 0xbc
	reissuable  = 0xc1
	nonFungible = 0xc3
)

// Form is the form of [Parse], for messages.
const Form = "66 hex digits that begin with c1, c2 or c3"

// Split takes the color from the script of an output that pays to a key hash or a script hash. Other scripts with
// OP_COLOR are invalid. The value is the amount of the color, and 0 coins.
func Split(value uint64, script []byte) (uint64, []byte, []model.Asset) {
	const head = 1 + Size + 1
	if len(script) <= head || script[0] != Size || script[head-1] != opColor || script[1] < reissuable || script[1] > nonFungible {
		return value, script, nil
	}
	rest := script[head:]
	if kind, _ := block.SolveLegacy(rest); kind != block.PubKeyHash && kind != block.ScriptHash {
		return value, script, nil
	}
	id := append([]byte(nil), script[1:head-1]...)
	return 0, rest, []model.Asset{{ID: id, Amount: value}}
}

// Parse reads a color in hex.
func Parse(text string) ([]byte, bool) {
	id, err := hex.DecodeString(text)
	return id, err == nil && len(id) == Size && id[0] >= reissuable && id[0] <= nonFungible
}

// ColorOf returns the color in the address of a colored output; nil for another text.
func ColorOf(address string) []byte {
	payload, _, err := base58.CheckDecode(address)
	if err != nil || len(payload) != Size+block.Hash160Size {
		return nil
	}
	return payload[:Size]
}

// Address returns the address of an output with a color: that without the color is given.
func Address(address string, color []byte) string {
	hash, version, err := base58.CheckDecode(address)
	if err != nil || len(hash) != block.Hash160Size {
		return ""
	}
	return base58.CheckEncode(append(append([]byte(nil), color...), hash...), version+1)
}

// ParseAddress reads the address of a colored output: a prefix that is one above that of the address without color, the
// color and the hash. The result is the address without color, nil for other forms.
func ParseAddress(n *params.Network, text string) ([]byte, error) {
	payload, version, err := base58.CheckDecode(text)
	if err != nil || len(payload) != Size+block.Hash160Size {
		return nil, nil
	}
	for kind, prefix := range map[byte]string{bitcoin.ToKeyHash: n.KeyHash[0], bitcoin.ToScriptHash: n.ScriptHash[0]} {
		if version == prefix[0]+1 {
			return append([]byte{kind}, payload[Size:]...), nil
		}
	}
	return nil, fmt.Errorf("version byte %d is not that of a colored address of %s", version, n.Name)
}
