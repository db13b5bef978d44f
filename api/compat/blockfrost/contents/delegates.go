package contents

import (
	"encoding/hex"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
)

// Leader returns the pool that made a block of a network, or the name that stands for a genesis key.
func Leader(network string, h *ledger.Header) string {
	issuer, err := hex.DecodeString(h.IssuerVkey)
	switch {
	case h.Boundary:
		return "Epoch boundary slot leader"
	case err != nil:
		return ""
	case h.VrfVkey == "":
		return byronLeader(issuer)
	}
	hash := hex.EncodeToString(address.Hash224(issuer))
	if slices.Contains(genesisDelegates[network], hash) {
		return "ShelleyGenesis-" + hash[:16]
	}
	return address.FormatPool(issuer)
}

// byronLeader returns the name of the key of Byron's genesis that a block states: the beginning of the hash of the public
// key, without the chain code that follows it.
func byronLeader(key []byte) string {
	sum := blake2b.Sum256(key[:min(32, len(key))])
	return "ByronGenesis-" + hex.EncodeToString(sum[:8])
}

// genesisDelegates are the hashes of the keys that made blocks before pools did, from the Shelley genesis.
var genesisDelegates = map[string][]string{
	"mainnet": {
		"1d4f2e1fda43070d71bb22a5522f86943c7c18aeb4fa47a362c27e23",
		"4485708022839a7b9b8b639a939c85ec0ed6999b5b6dc651b03c43f6",
		"6535db26347283990a252313a7903a45e3526ec25ddba381c071b25b",
		"69ae12f9e45c0c9122356c8e624b1fbbed6c22a2e3b4358cf0cb5011",
		"7f72a1826ae3b279782ab2bc582d0d2958de65bd86b2c4f82d8ba956",
		"855d6fc1e54274e331e34478eeac8d060b0b90c1f9e8a2b01167c048",
		"d9e5c76ad5ee778960804094a389f0b546b5c2b140a62f8ec43ea54d",
	},
	"preprod": {
		"1e113c218899ee7807f4028071d0e108fc790dade9fd1a0d0b0701ee",
		"7c64eb868b4ef566391a321c85323f41d2b95480d7ce56ad2abcb022",
		"aae9293510344ddd636364c2673e34e03e79e3eefa8dbaa70e326f7d",
		"b3b539e9e7ed1b32fbf778bf2ebf0a6b9f980eac90ac86623d11881a",
		"d15422b2e8b60e500a82a8f4ceaa98b04e55a0171d1125f6c58f8758",
		"de7ca985023cf892f4de7f5f1d0a7181668884752d9ebb9e96c95059",
		"fd637b08cc379ef7b99c83b416458fcda8a01a606041779331008fb9",
	},
	"preview": {
		"0e0b11e80d958732e587585d30978d683a061831d1b753878f549d05",
		"10257f6d3bae913514bdc96c9170b3166bf6838cca95736b0e418426",
		"7c54a168c731f2f44ced620f3cca7c2bd90731cab223d5167aa994e6",
		"82a02922f10105566b70366b07c758c8134fa91b3d8ae697dfa5e8e0",
		"c44bc2f3cc7e98c0f227aa399e4035c33c0d775a0985875fff488e20",
		"e302198135fb5b00bfe0b9b5623426f7cf03179ab7ba75f945d5b79b",
		"ebe606e22d932d51be2c1ce87e7d7e4c9a7d1f7df4a5535c29e23d22",
	},
}
