package address

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// An asset id is the policy, which is the hash of the script that permits minting, and the asset name.
const (
	PolicySize     = 28 // bytes
	policyDigits   = 2 * PolicySize
	maxAssetDigits = policyDigits + 2*32
)

var assetExpected = fmt.Sprintf("the %d hex digits of its policy and up to %d of its name, with or without a dot between them",
	policyDigits, maxAssetDigits-policyDigits)

// FormatAsset returns the hex digits of policy and name.
func FormatAsset(id []byte) string { return hex.EncodeToString(id) }

// ParseAsset reads the hex digits of policy and name, with or without a dot between them. An error is of kind
// [model.Usage], code bad_value; for a fingerprint it explains that the asset cannot be derived from it.
func ParseAsset(text string) ([]byte, error) {
	id, err := readAssetID(text)
	if err != nil {
		return nil, badValue(text, "an asset", err, assetExpected)
	}
	return id, nil
}

func readAssetID(text string) ([]byte, error) {
	if hrpOf(text) == fingerprintPrefix {
		if _, err := parseFingerprint(text); err != nil {
			return nil, err
		}
		return nil, errors.New("it is a fingerprint (CIP-14), a hash from which the asset cannot be derived")
	}
	digits := text
	if policy, name, ok := strings.Cut(text, "."); ok {
		if len(policy) != policyDigits {
			return nil, fmt.Errorf("%d characters before the dot, a policy has %d", len(policy), policyDigits)
		}
		digits = policy + name
	}
	if len(digits) > maxAssetDigits {
		return nil, fmt.Errorf("it has %d digits, the longest has %d", len(digits), maxAssetDigits)
	}
	id, err := readHex(digits)
	if err != nil {
		return nil, err
	}
	if len(digits) < policyDigits {
		return nil, fmt.Errorf("it has %d digits, a policy alone has %d", len(digits), policyDigits)
	}
	return id, nil
}
