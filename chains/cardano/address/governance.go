package address

import (
	"bytes"
	"math/big"
	"strings"
)

// actionPrefix is the prefix of governance actions.
const actionPrefix = "gov_action"

const txHashSize = 32

// FormatAction returns the id of a governance action (CIP-129): its transaction and its position among the proposals.
func FormatAction(tx []byte, index uint64) string {
	place := new(big.Int).SetUint64(index).Bytes()
	if len(place) == 0 {
		place = []byte{0}
	}
	return encodeBech32(actionPrefix, append(bytes.Clone(tx), place...))
}

// ParseAction reads the id of a governance action. It is the inverse of FormatAction, and accepts a
// position with fewer or more bytes, as Blockfrost does.
func ParseAction(text string) (tx []byte, index uint64, ok bool) {
	raw, err := decodeBech32(text)
	if err != nil || hrpOf(text) != actionPrefix || len(raw) < txHashSize || len(raw) > txHashSize+8 {
		return nil, 0, false
	}
	return raw[:txHashSize], new(big.Int).SetBytes(raw[txHashSize:]).Uint64(), true
}

// ParseGovernance reads the id of a DRep or of a committee member, and returns it as [FormatGovernance] does. It reads the
// forms of CIP-129 and of CIP-105, which has the prefixes drep, drep_vkh and drep_script.
func ParseGovernance(kind, text string) (id string, ok bool) {
	cred, ok := GovernanceCredential(kind, text)
	if !ok {
		return "", false
	}
	return FormatGovernance(kind, cred), true
}

// GovernanceCredential returns the credential in an id that [ParseGovernance] reads: its kind (0 key, 1 script) and hash.
func GovernanceCredential(kind, text string) (cred []byte, ok bool) {
	raw, err := decodeBech32(text)
	if err != nil || len(raw) == 0 {
		return nil, false
	}
	hrp := hrpOf(text)
	switch {
	case len(raw) == 1+CredentialSize && hrp == kind:
		cred = credential(raw[0]&0xf == 3, raw[1:])
		return cred, FormatGovernance(kind, cred) == text
	case len(raw) == CredentialSize && strings.HasPrefix(hrp, kind):
		isScript := hrp == kind+"_script"
		return credential(isScript, raw), isScript || hrp == kind || hrp == kind+"_vkh"
	}
	return nil, false
}

// FormatScript returns the hash of a script in bech32 (CIP-5): script1….
func FormatScript(hash []byte) string { return encodeBech32(scriptPrefix, hash) }
