package address

import (
	"fmt"

	"birthmark/model"
)

const (
	fingerprintSize   = 20 // bytes, Blake2b-160
	fingerprintPrefix = "asset"
)

// Fingerprint is the short name of an asset in wallets (CIP-14): asset1 and a Blake2b-160 hash in bech32.
var Fingerprint = &model.Fingerprint{
	Of:     func(id, _ []byte) []byte { return blake2bOf(fingerprintSize, id) },
	Format: func(hash []byte) string { return encodeBech32(fingerprintPrefix, hash) },
	Parse: func(text string) ([]byte, error) {
		if hrpOf(text) != fingerprintPrefix {
			return nil, nil
		}
		return parseFingerprint(text)
	},
}

// parseFingerprint returns the hash in a fingerprint.
func parseFingerprint(text string) ([]byte, error) {
	hash, err := decodeBech32(text)
	if err == nil && len(hash) != fingerprintSize {
		err = fmt.Errorf("its hash has %d bytes, expected %d", len(hash), fingerprintSize)
	}
	return hash, err
}
