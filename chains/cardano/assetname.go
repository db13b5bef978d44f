package cardano

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// cip67Size is the size in bytes of the label that asset names of CIP-67 begin with: a zero nibble, 16 bits of label,
// 8 bits of checksum, a zero nibble.
const cip67Size = 4

// AssetName implements [model.AssetNamer]: the group is the policy, the name is the asset name without its CIP-67 label
// if it is printable UTF-8.
func (c *chain) AssetName(id []byte) model.AssetName {
	if len(id) < address.PolicySize {
		return model.AssetName{}
	}
	b := id[address.PolicySize:]
	if len(b) > cip67Size && b[0]>>4 == 0 && b[cip67Size-1]&15 == 0 {
		b = b[cip67Size:]
	}
	name := string(b)
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		name = ""
	}
	return model.AssetName{Name: name, Group: hex.EncodeToString(id[:address.PolicySize]), GroupIndex: indexPolicy}
}
