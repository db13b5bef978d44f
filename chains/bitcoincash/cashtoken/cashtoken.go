// Package cashtoken reads the tokens of outputs of Bitcoin Cash (CHIP-2022-02), which are in a prefix of the script.
//
// The id of an asset is its category; that of an NFT has its capability and its commitment in addition. Equal NFTs are
// one asset.
package cashtoken

import (
	"encoding/hex"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// A prefix is a byte, the category, and a bitfield of the capability and flags.
const (
	prefix       = 0xef
	categorySize = 32
	hasAmount    = 0x10
	hasNFT       = 0x20
	hasLength    = 0x40
	reserved     = 0x80
	// Minting is the highest capability. 0 means no capability, 1 mutable.
	Minting       = 2
	maxCommitment = 128 // 40 until May 2026
)

// Form is the form of [Parse], for messages.
const Form = "the 64 hex digits of a category, for an NFT followed by its capability (00, 01, 02) and commitment in hex"

// Split splits the script of an output into the script that locks it and tokens. A script with an invalid prefix has no
// tokens. It also returns the value of the output.
func Split(value uint64, script []byte) (uint64, []byte, []model.Asset) {
	if len(script) == 0 || script[0] != prefix {
		return value, script, nil
	}
	r := block.NewReader(script[1:])
	category, field := r.Take(categorySize, "category"), r.Take(1, "bitfield")
	if field == nil {
		return value, script, nil
	}
	flags, capability := field[0]&^0x0f, field[0]&0x0f
	length, amount, ok := uint64(0), uint64(0), true
	if flags&hasLength != 0 {
		if length, ok = r.CompactSize(); !ok || length == 0 || length > maxCommitment {
			return value, script, nil
		}
	}
	commitment := r.Take(int(length), "commitment")
	if flags&hasAmount != 0 {
		amount, ok = r.CompactSize()
		ok = ok && amount > 0 && amount < 1<<63
	}
	nft := flags&hasNFT != 0
	if !ok || r.Err() != nil || flags&reserved != 0 || capability > Minting || !nft && (capability > 0 || amount == 0 || length > 0) {
		return value, script, nil
	}
	var assets []model.Asset
	if amount > 0 {
		assets = append(assets, model.Asset{ID: slices.Clone(category), Amount: amount})
	}
	if nft {
		assets = append(assets, model.Asset{ID: slices.Concat(category, []byte{capability}, commitment), Amount: 1})
	}
	return value, script[len(script)-r.Left():], assets
}

// Format writes the category like an id of a transaction, which it is.
func Format(id []byte) string {
	category := slices.Clone(id[:min(categorySize, len(id))])
	slices.Reverse(category)
	return hex.EncodeToString(append(category, id[len(category):]...))
}

// Parse reads the form of [Format].
func Parse(text string) ([]byte, bool) {
	id, err := hex.DecodeString(text)
	if err != nil || len(id) < categorySize || len(id) > categorySize+1+maxCommitment || len(id) > categorySize && id[categorySize] > Minting {
		return nil, false
	}
	slices.Reverse(id[:categorySize])
	return id, true
}
