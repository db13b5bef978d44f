package bitcoincash

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"birthmark/model"
)

// The prefix of a script that has tokens (CHIP-2022-02): a byte, the category, and a bitfield of capability and flags.
const (
	tokenPrefix  = 0xef
	categorySize = 32
	hasAmount    = 0x10
	hasNFT       = 0x20
	hasLength    = 0x40
	// Minting is the highest capability. 0 means no capability, 1 mutable.
	Minting       = 2
	maxCommitment = 128 // 40 until May 2026
)

// output takes the tokens from a script. The id of an asset is its category; that of an NFT has its capability and its
// commitment in addition. Equal NFTs are one asset. A script with an invalid prefix has no tokens.
func output(value uint64, script []byte) (uint64, []byte, []model.Asset) {
	const head = 1 + categorySize + 1
	if len(script) < head || script[0] != tokenPrefix {
		return value, script, nil
	}
	flags, rest := script[head-1], script[head:]
	category, capability := script[1:head-1:head-1], flags&0x0f
	nft := flags&hasNFT != 0
	length, amount, ok := uint64(0), uint64(0), true
	if flags&hasLength != 0 {
		length, rest, ok = number(rest)
		if ok = ok && nft && length > 0 && length <= min(maxCommitment, uint64(len(rest))); !ok {
			return value, script, nil
		}
	}
	commitment := rest[:length]
	if rest = rest[length:]; flags&hasAmount != 0 {
		amount, rest, ok = number(rest)
		ok = ok && amount > 0 && amount < 1<<63
	}
	if !ok || flags&0x80 != 0 || capability > Minting || !nft && (capability > 0 || amount == 0) {
		return value, script, nil
	}
	var assets []model.Asset
	if amount > 0 {
		assets = append(assets, model.Asset{ID: slices.Clone(category), Amount: amount})
	}
	if nft {
		assets = append(assets, model.Asset{ID: slices.Concat(category, []byte{capability}, commitment), Amount: 1})
	}
	return value, rest, assets
}

// number reads a number in the compact form of sizes, which must be the shortest.
func number(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	size := map[byte]int{0xfd: 2, 0xfe: 4, 0xff: 8}[b[0]]
	if len(b) <= size {
		return 0, nil, false
	}
	if size == 0 {
		return uint64(b[0]), b[1:], true
	}
	n = binary.LittleEndian.Uint64(append(slices.Clone(b[1:1+size]), make([]byte, 8)...))
	return n, b[1+size:], n >= map[int]uint64{2: 0xfd, 4: 1 << 16, 8: 1 << 32}[size]
}

// formatAsset writes the category like an id of a transaction, which it is.
func formatAsset(id []byte) string {
	category := slices.Clone(id[:min(categorySize, len(id))])
	slices.Reverse(category)
	return hex.EncodeToString(append(category, id[len(category):]...))
}

func parseAsset(text string) ([]byte, bool) {
	id, err := hex.DecodeString(text)
	if err != nil || len(id) < categorySize || len(id) > categorySize+1+maxCommitment || len(id) > categorySize && id[categorySize] > Minting {
		return nil, false
	}
	slices.Reverse(id[:categorySize])
	return id, true
}
