package address

import (
	"encoding/hex"
	"slices"
)

const publicKeySize = 32

// Prefixes of CIP-5 for public keys, and for hashes of keys and scripts.
var (
	keyPrefixes  = []string{"vk", "addr_vk", "stake_vk"}
	hashPrefixes = []string{"vkh", paymentKeyPrefix, stakeKeyPrefix, scriptPrefix}
)

// KeyHash reads the Blake2b-224 hash of a public key or script: the hash or the key, in hex or in bech32 (CIP-5). A key is
// hashed. ok is false for any other text.
func KeyHash(text string) (hash []byte, ok bool) {
	raw, err := hex.DecodeString(text)
	isKey, isHash := true, true
	if err != nil {
		hrp := hrpOf(text)
		isKey, isHash = slices.Contains(keyPrefixes, hrp), slices.Contains(hashPrefixes, hrp)
		if raw, err = decodeBech32(text); err != nil {
			return nil, false
		}
	}
	switch {
	case isKey && len(raw) == publicKeySize:
		return Hash224(raw), true
	case isHash && len(raw) == CredentialSize:
		return raw, true
	}
	return nil, false
}

// Credentials returns the two stored credentials with a hash: as a key, and as a script.
func Credentials(hash []byte) [2][]byte {
	return [2][]byte{credential(false, hash), credential(true, hash)}
}
