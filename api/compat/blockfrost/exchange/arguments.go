package exchange

import (
	"encoding/hex"
	"slices"

	"birthmark/chains/cardano/address"
)

// ReadPool reads the id of a pool in bech32, or its hash in hex.
func ReadPool(text string) (string, error) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == address.CredentialSize {
		return address.FormatPoolHash(raw), nil
	}
	if !address.IsPool(text) {
		return "", ErrPool
	}
	return text, nil
}

// The DReps without a credential.
var predefinedDReps = []string{"drep_always_abstain", "drep_always_no_confidence"}

// ReadDRep reads the id of a DRep, or the name of a predefined one.
func ReadDRep(text string) (string, error) {
	if slices.Contains(predefinedDReps, text) {
		return text, nil
	}
	id, ok := address.ParseGovernance(address.DRep, text)
	if !ok {
		return "", Bad("Invalid or malformed drep id.")
	}
	return id, nil
}

// ReadCommitteeMember reads the hot or the cold credential of a member of the committee.
func ReadCommitteeMember(text string) (string, error) {
	for _, kind := range []string{address.CommitteeHot, address.CommitteeCold} {
		if cred, ok := address.GovernanceCredential(kind, text); ok && address.FormatGovernance(kind, cred) == text {
			return text, nil
		}
	}
	return "", Bad("Invalid or malformed cc credential id.")
}

// ReadAction reads the id of a governance action.
func ReadAction(text string) (string, error) {
	tx, index, ok := address.ParseAction(text)
	if !ok {
		return "", Bad("Invalid or malformed gov action id.")
	}
	return address.FormatAction(tx, index), nil
}
