package address

import (
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// FormatAny returns the text of an address of any network: base 58 if it is not of Shelley's form, else bech32 with the
// prefix of the network that it states.
func FormatAny(raw []byte) string {
	raw = Canonical(raw)
	if IsShelley(raw) {
		return encodeBech32(addressHRP(raw[0]), raw)
	}
	return base58.Encode(raw)
}

// ParseAny reads an address or a stake address of any network.
func ParseAny(text string) ([]byte, error) {
	if len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, the longest has %d", len(text), maxAddressText)
	}
	switch hrp := hrpOf(text); hrp {
	case addressPrefix, stakePrefix, addressPrefix + testnetSuffix, stakePrefix + testnetSuffix:
		raw, err := decodeBech32(text)
		raw = Canonical(raw)
		if err == nil && (!IsShelley(raw) || addressHRP(raw[0]) != hrp) {
			err = fmt.Errorf("its %d bytes are not an address of %s1", len(raw), hrp)
		}
		return raw, err
	}
	raw := base58.Decode(text)
	_, err := ByronPayload(raw)
	return raw, err
}

// IsStake reports whether an address is a reward account, which outputs cannot pay to.
func IsStake(raw []byte) bool { return IsShelley(raw) && raw[0]>>4 >= rewardKeyType }
