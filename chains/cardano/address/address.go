package address

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// An address is stored as outputs have it (CIP-19). From Shelley on its first byte is type<<4 | network; types 0 to 3
// go on with a payment and a stake credential, 4 and 5 with a payment credential and a pointer, 6 and 7 with a payment
// credential only, 14 and 15 (reward accounts) with a stake credential only. In the types up to 7 bit 0 says that the
// payment credential is of a script, in the types up to 3 bit 1 says it of the stake credential.
const (
	maxBaseType     = 3
	maxPointerType  = 5
	maxPaymentType  = 7
	byronType       = 8
	rewardKeyType   = 14
	rewardType      = 15
	scriptPayment   = 1 // bits of the type
	scriptStake     = 2
	testnetTag      = 0
	mainnetTag      = 1
	CredentialSize  = 28
	baseSize        = 1 + 2*CredentialSize
	enterpriseSize  = 1 + CredentialSize
	pointerNumbers  = 3
	maxWritten      = 1024 // bytes of an address that is not hex: base 58 takes long for many
	maxAddressText  = 1700 // of so many bytes in bech32, the longer of the two
	anyHex          = "hex:"
	addressPrefix   = "addr"
	stakePrefix     = "stake"
	testnetSuffix   = "_test"
	addressExpected = "addr1…, stake1… (addr_test1…, stake_test1… on test networks), a Byron address in base 58, or hex: and digits"
)

// Format writes an address as people do: Byron's in base 58, later ones in bech32 by their own type. What is
// no well-formed address of n, be it data that nobody can spend or an address of another network, is "hex:" and its
// digits. What comes out always parses back to the same bytes.
func Format(n Network, raw []byte) string {
	if IsShelley(raw) && raw[0]&15 == n.tag() {
		return encodeBech32(addressHRP(raw[0]), raw)
	}
	if payload, err := ByronPayload(raw); err == nil && len(raw) <= maxWritten && n.ownsByron(payload) {
		return base58.Encode(raw)
	}
	return anyHex + hex.EncodeToString(raw)
}

// Parse makes an address of what a person writes. The error, of kind [model.Usage] and code bad_value, says
// what is wrong and what was expected.
func Parse(n Network, text string) ([]byte, error) {
	raw, err := readAddress(n, text)
	if err != nil {
		return nil, badValue(text, fmt.Sprintf("an address of cardano %s", n.Name), err, addressExpected)
	}
	return raw, nil
}

func badValue(text, what string, err error, expected string) error {
	return model.Errorf(model.Usage, "bad_value", "%q is not %s: %w: expected %s", adapter.Truncate(text), what, err, expected)
}

func readAddress(n Network, text string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(text, anyHex); ok {
		return readHex(digits)
	}
	if len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, the longest has %d", len(text), maxAddressText)
	}
	switch hrp := hrpOf(text); hrp {
	case addressPrefix, stakePrefix, addressPrefix + testnetSuffix, stakePrefix + testnetSuffix:
		return readShelley(n, hrp, text)
	}
	return readByron(n, text)
}

func readHex(digits string) ([]byte, error) {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("it is no hex: %w", err)
	}
	return raw, nil
}

func readShelley(n Network, hrp, text string) ([]byte, error) {
	raw, err := decodeBech32(text)
	if err != nil {
		return nil, err
	}
	if !IsShelley(raw) {
		return nil, fmt.Errorf("its %d bytes are no address", len(raw))
	}
	if want := addressHRP(raw[0]); hrp != want {
		return nil, fmt.Errorf("it begins with %s1, its bytes are of %s1", hrp, want)
	}
	if raw[0]&15 != n.tag() {
		if n.Testnet {
			return nil, errors.New("it is one of mainnet")
		}
		return nil, errors.New("it is one of a test network")
	}
	return raw, nil
}

func readByron(n Network, text string) ([]byte, error) {
	raw := base58.Decode(text)
	payload, err := ByronPayload(raw)
	switch {
	case errors.Is(err, errByronCRC):
		return nil, err
	case err != nil:
		return nil, errors.New("it is neither bech32 nor a Byron address in base 58")
	case len(raw) > maxWritten:
		return nil, fmt.Errorf("it has %d bytes, at most %d are written in base 58", len(raw), maxWritten)
	case n.ownsByron(payload):
		return raw, nil
	}
	magic, ok := ByronNetwork(payload)
	if !ok {
		return nil, errors.New("it is one of mainnet")
	}
	for _, other := range publicNetworks {
		if other.Testnet && other.Magic == magic {
			return nil, fmt.Errorf("it is one of %s", other.Name)
		}
	}
	return nil, fmt.Errorf("it is one of the test network with magic %d", magic)
}

// Network is what addresses tell of their network.
type Network struct {
	Name    string
	Magic   uint32 // of the handshake, and of Byron's addresses if testnet is set
	Testnet bool   // addresses of test networks say so
}

// The public networks.
var (
	Mainnet = Network{Name: "mainnet", Magic: 764824073}
	Preprod = Network{Name: "preprod", Magic: 1, Testnet: true}
	Preview = Network{Name: "preview", Magic: 2, Testnet: true}

	publicNetworks = []Network{Mainnet, Preprod, Preview}
)

// tag is the network in the first byte of addresses since Shelley: all test networks share one.
func (n Network) tag() byte {
	if n.Testnet {
		return testnetTag
	}
	return mainnetTag
}

// ownsByron reports whether a Byron address is one of n: mainnet's have no magic.
func (n Network) ownsByron(payload []byte) bool {
	magic, ok := ByronNetwork(payload)
	return ok == n.Testnet && (!ok || magic == n.Magic)
}

// IsShelley reports whether an address is well-formed, of a known type and for a known network.
func IsShelley(raw []byte) bool {
	if len(raw) < enterpriseSize || raw[0]&15 > mainnetTag {
		return false
	}
	switch kind := raw[0] >> 4; {
	case kind <= maxBaseType:
		return len(raw) == baseSize
	case kind <= maxPointerType:
		return isPointer(raw[enterpriseSize:])
	case kind <= maxPaymentType, kind == rewardKeyType, kind == rewardType:
		return len(raw) == enterpriseSize
	}
	return false
}

// isPointer reports whether b is three numbers, seven bits a byte, each byte but the last of a number with its high
// bit set. Numbers far too large for the ledger, which takes them modulo 2^64, pass: test networks have such addresses.
func isPointer(b []byte) bool {
	numbers := 0
	for _, v := range b {
		if v < 0x80 {
			numbers++
		}
	}
	return numbers == pointerNumbers && b[len(b)-1] < 0x80 && len(b) <= maxWritten-enterpriseSize
}

// addressHRP is what the bech32 of an address with this first byte begins with.
func addressHRP(first byte) string {
	hrp := addressPrefix
	if first>>4 >= rewardKeyType {
		hrp = stakePrefix
	}
	if first&15 == testnetTag {
		hrp += testnetSuffix
	}
	return hrp
}

// hrpOf is what a bech32 text begins with, in lower case; "" where it has no such part.
func hrpOf(text string) string {
	return strings.ToLower(text[:max(0, strings.LastIndexByte(text, '1'))])
}

// encodeBech32 writes bytes in bech32 (BIP 173) without its limit of 90 characters, as CIP-5 has it.
func encodeBech32(hrp string, b []byte) string {
	text, err := bech32.EncodeFromBase256(hrp, b)
	if err != nil {
		return anyHex + hex.EncodeToString(b) // cannot be: bytes always regroup with padding
	}
	return text
}

// decodeBech32 is the bytes of a bech32 text of any length.
func decodeBech32(text string) ([]byte, error) {
	_, groups, version, err := bech32.DecodeNoLimitWithVersion(text)
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok || err == nil && version != bech32.Version0 {
		return nil, errors.New("its checksum is wrong")
	}
	if err != nil {
		return nil, fmt.Errorf("it is no bech32: %w", err)
	}
	b, err := bech32.ConvertBits(groups, 5, 8, false)
	if err != nil {
		return nil, errors.New("it does not end at a byte")
	}
	return b, nil
}
