package address

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A credential is stored as a byte for its kind and the Blake2b-224 hash of the key or script.
const (
	credentialOfKey    = 0
	credentialOfScript = 1
	storedCredential   = 1 + CredentialSize

	paymentKeyPrefix = "addr_vkh" // CIP-5, as are the next two
	stakeKeyPrefix   = "stake_vkh"
	scriptPrefix     = "script"
	poolPrefix       = "pool"
)

var (
	paymentExpected = "addr_vkh1… of a key, script1… of a script, or an address that has a payment credential"
	stakeExpected   = "stake1… (stake_test1… on test networks), stake_vkh1… of a key, script1… of a script, or an address that has a stake credential"
)

// PaymentCredential returns the credential that can spend from an address; ok is false for Byron addresses and reward
// accounts. Extra bytes are ignored, as in the ledger, which accepted them up to Alonzo.
func PaymentCredential(address []byte) (cred []byte, ok bool) {
	if len(address) < enterpriseSize || address[0]>>4 > maxPaymentType {
		return nil, false
	}
	return credential(address[0]>>4&scriptPayment != 0, address[1:]), true
}

// Enterprise returns the address of a test network that has a payment credential and no stake.
func Enterprise(cred []byte) []byte {
	return append([]byte{(enterpriseKeyType | cred[0]) << 4}, cred[1:]...)
}

// StakeCredential returns the credential that delegates the stake of an address, in addresses with a stake part and
// reward accounts. Pointers refer to a certificate, not to a credential, and the ledger ignores them since Conway.
func StakeCredential(address []byte) (cred []byte, ok bool) {
	if len(address) < enterpriseSize {
		return nil, false
	}
	switch kind := address[0] >> 4; {
	case kind <= maxBaseType && len(address) >= baseSize:
		return credential(kind&scriptStake != 0, address[enterpriseSize:]), true
	case kind >= rewardKeyType:
		return credential(kind == rewardType, address[1:]), true
	}
	return nil, false
}

func credential(script bool, hash []byte) []byte {
	kind := byte(credentialOfKey)
	if script {
		kind = credentialOfScript
	}
	return append([]byte{kind}, hash[:CredentialSize]...)
}

func isCredential(cred []byte) bool {
	return len(cred) == storedCredential && cred[0] <= credentialOfScript
}

// Types returns the kinds of the credentials of an address (CIP-19), or that it is of Byron.
func Types(raw []byte) []string {
	if _, err := ByronPayload(raw); err == nil {
		return []string{"Byron"}
	}
	if !IsShelley(raw) {
		return nil
	}
	var types []string
	if cred, ok := PaymentCredential(raw); ok {
		types = append(types, "payment "+CredentialTypes(cred)[0])
	}
	cred, staked := StakeCredential(raw)
	switch kind := raw[0] >> 4; {
	case staked:
		types = append(types, "stake "+CredentialTypes(cred)[0])
	case kind <= maxPointerType:
		types = append(types, "stake pointer")
	default:
		types = append(types, "no stake")
	}
	return types
}

// CredentialTypes returns whether a stored credential is a key or a script.
func CredentialTypes(cred []byte) []string {
	switch {
	case !isCredential(cred):
		return nil
	case cred[0] == credentialOfScript:
		return []string{"script"}
	}
	return []string{"key"}
}

// FormatPaymentCredential returns a payment credential in bech32 (CIP-5).
func FormatPaymentCredential(_ Network, cred []byte) string {
	switch {
	case !isCredential(cred):
		return anyHex + hex.EncodeToString(cred)
	case cred[0] == credentialOfScript:
		return encodeBech32(scriptPrefix, cred[1:])
	}
	return encodeBech32(paymentKeyPrefix, cred[1:])
}

// ParsePaymentCredential reads a payment credential in bech32, or takes it from an address. An error is of kind
// [model.Usage], code bad_value.
func ParsePaymentCredential(n Network, text string) ([]byte, error) {
	cred, err := readCredential(n, text, paymentKeyPrefix, PaymentCredential)
	if err != nil {
		return nil, badValue(text, "a payment credential of cardano "+n.Name, err, paymentExpected)
	}
	return cred, nil
}

// FormatStakeCredential returns the stake address of a credential on n.
func FormatStakeCredential(n Network, cred []byte) string {
	if !isCredential(cred) {
		return anyHex + hex.EncodeToString(cred)
	}
	account := bytes.Clone(cred)
	account[0] = (rewardKeyType+cred[0])<<4 | n.tag()
	return encodeBech32(addressHRP(account[0]), account)
}

// FormatAccount returns the stake address of a reward account on n. The account of a pool or of a withdrawal from the
// treasury can state another network: the ledger pays to the account of its credential. Other bytes are formatted in hex.
func FormatAccount(n Network, account []byte) string {
	if cred, ok := StakeCredential(account); ok && IsStake(account) {
		return FormatStakeCredential(n, cred)
	}
	return anyHex + hex.EncodeToString(account)
}

// ParseStakeCredential reads a stake credential from a stake address, in bech32, or from an address that has one. An
// error is of kind [model.Usage], code bad_value.
func ParseStakeCredential(n Network, text string) ([]byte, error) {
	cred, err := readCredential(n, text, stakeKeyPrefix, StakeCredential)
	if err != nil {
		return nil, badValue(text, "a stake credential of cardano "+n.Name, err, stakeExpected)
	}
	return cred, nil
}

// readCredential reads bech32 with the prefix of keys or scripts, or takes the credential from an address.
func readCredential(n Network, text, keyPrefix string, of func(address []byte) ([]byte, bool)) ([]byte, error) {
	if digits, ok := strings.CutPrefix(text, anyHex); ok {
		return readHex(digits)
	}
	if hash, err := hex.DecodeString(text); err == nil && len(hash) == CredentialSize {
		return nil, fmt.Errorf("a hash alone does not state whether it is a key or a script: write %s or %s",
			encodeBech32(keyPrefix, hash), encodeBech32(scriptPrefix, hash))
	}
	hrp := hrpOf(text)
	if !slices.Contains([]string{paymentKeyPrefix, stakeKeyPrefix, scriptPrefix}, hrp) {
		address, err := readAddress(n, text)
		if err != nil {
			return nil, err
		}
		cred, ok := of(address)
		if !ok {
			return nil, errors.New("the address has none")
		}
		return cred, nil
	}
	hash, err := decodeBech32(text)
	switch {
	case err != nil:
		return nil, err
	case len(hash) != CredentialSize:
		return nil, fmt.Errorf("its hash has %d bytes, expected %d", len(hash), CredentialSize)
	case hrp != scriptPrefix && hrp != keyPrefix:
		return nil, fmt.Errorf("it begins with %s1, expected %s1", hrp, keyPrefix)
	}
	return credential(hrp == scriptPrefix, hash), nil
}

// FormatPool returns the id of the stake pool with a cold verification key (CIP-5): pool1….
func FormatPool(key []byte) string { return FormatPoolHash(Hash224(key)) }

// FormatPoolHash returns the id of the stake pool whose cold verification key has a hash.
func FormatPoolHash(hash []byte) string { return encodeBech32(poolPrefix, hash) }

// Kinds of governance credentials (CIP-129).
const (
	CommitteeHot  = "cc_hot"
	CommitteeCold = "cc_cold"
	DRep          = "drep"
)

var governanceTypes = map[string]byte{CommitteeHot: 0, CommitteeCold: 1, DRep: 2}

// FormatGovernance returns a governance credential in bech32 (CIP-129): the kind is the prefix. cred is a credential as
// it is stored.
func FormatGovernance(kind string, cred []byte) string {
	if !isCredential(cred) {
		return anyHex + hex.EncodeToString(cred)
	}
	text := bytes.Clone(cred)
	text[0] = governanceTypes[kind]<<4 | 2 | cred[0]
	return encodeBech32(kind, text)
}

// GovernanceHex returns the bytes of [FormatGovernance] in hex.
func GovernanceHex(kind string, cred []byte) string {
	return hex.EncodeToString(append([]byte{governanceTypes[kind]<<4 | 2 | cred[0]}, cred[1:]...))
}

// FormatVRFKey returns the verification key of a VRF in bech32 (CIP-5): vrf_vk1….
func FormatVRFKey(key []byte) string { return encodeBech32("vrf_vk", key) }

// IsPool reports whether text is the id of a pool in bech32.
func IsPool(text string) bool {
	_, err := ParsePool(text)
	return err == nil
}

// ParsePool reads the id of a stake pool, and returns the hash of its cold verification key.
func ParsePool(text string) ([]byte, error) {
	hash, err := decodeBech32(text)
	if err == nil && (len(hash) != CredentialSize || FormatPoolHash(hash) != text) {
		err = fmt.Errorf("expected the id of a pool, %s1…", poolPrefix)
	}
	return hash, err
}
