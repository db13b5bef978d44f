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

// An address is stored as the ledger keeps it: as it is in outputs (CIP-19), see [Canonical]. Since Shelley its first
// byte is type<<4 | network. After it, types
// 0 to 3 have a payment and a stake credential, 4 and 5 a payment credential and a pointer, 6 and 7 a payment
// credential, 14 and 15 (reward accounts) a stake credential. In types 0 to 7 bit 0 marks a payment credential that is
// a script, in types 0 to 3 bit 1 a stake credential that is one.
const (
	maxBaseType    = 3
	maxPointerType = 5
	maxPaymentType = 7
	byronType      = 8

	enterpriseKeyType = 6
	rewardKeyType     = 14
	rewardType        = 15
	scriptPayment     = 1 // bits of the type
	scriptStake       = 2
	testnetTag        = 0
	mainnetTag        = 1
	CredentialSize    = 28
	baseSize          = 1 + 2*CredentialSize
	enterpriseSize    = 1 + CredentialSize
	pointerNumbers    = 3
	maxWritten        = 1024 // bytes of an address that is not hex: the time of base 58 is quadratic
	maxAddressText    = 1700 // characters of an address of that size in bech32, the longer of the two
	anyHex            = "hex:"
	addressPrefix     = "addr"
	stakePrefix       = "stake"
	testnetSuffix     = "_test"
	addressExpected   = "addr1…, stake1… (addr_test1…, stake_test1… on test networks), a Byron address in base 58, or hex: and digits"
)

// Format returns the text of an address: base 58 for Byron, else bech32. Bytes that are not a well-formed address of n,
// such as unspendable data or an address of another network, become "hex:" and hex digits. The text always parses back
// to the canonical bytes, see [Canonical].
func Format(n Network, raw []byte) string {
	raw = Canonical(raw)
	if IsShelley(raw) && raw[0]&15 == n.tag() {
		return encodeBech32(addressHRP(raw[0]), raw)
	}
	if payload, err := ByronPayload(raw); err == nil && len(raw) <= maxWritten && n.ownsByron(payload) {
		return base58.Encode(raw)
	}
	return anyHex + hex.EncodeToString(raw)
}

// Parse reads the text of an address, also of one that only [Canonical] makes well-formed, which programs show that use
// an older version of the ledger. An error is of kind [model.Usage], code bad_value.
func Parse(n Network, text string) ([]byte, error) {
	raw, err := readAddress(n, text)
	if err != nil {
		return nil, badValue(text, fmt.Sprintf("an address of cardano %s", n.Name), err, addressExpected)
	}
	return Canonical(raw), nil
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
		return nil, errors.New("it is not hex")
	}
	return raw, nil
}

func readShelley(n Network, hrp, text string) ([]byte, error) {
	raw, err := decodeBech32(text)
	if err != nil {
		return nil, err
	}
	if !IsShelley(Canonical(raw)) {
		return nil, fmt.Errorf("its %d bytes are not an address", len(raw))
	}
	if want := addressHRP(raw[0]); hrp != want {
		return nil, fmt.Errorf("it begins with %s1, but its bytes belong to %s1", hrp, want)
	}
	if raw[0]&15 != n.tag() {
		return nil, n.errOther()
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
		return nil, fmt.Errorf("it has %d bytes, addresses in base 58 have at most %d", len(raw), maxWritten)
	case n.ownsByron(payload):
		return raw, nil
	}
	return nil, n.errOther()
}

// errOther is the error of an address of the other kind of networks.
func (n Network) errOther() error {
	if n.Testnet {
		return errors.New("it belongs to mainnet")
	}
	return errors.New("it belongs to a test network")
}

// Network has the parts of addresses that depend on the network.
type Network struct {
	Name    string
	Magic   uint32 // of the handshake, and of new Byron addresses if Testnet is set
	Testnet bool   // addresses state whether they belong to a test network
}

// The public networks.
var (
	Mainnet = Network{Name: "mainnet", Magic: 764824073}
	Preprod = Network{Name: "preprod", Magic: 1, Testnet: true}
	Preview = Network{Name: "preview", Magic: 2, Testnet: true}
)

// tag returns the network bits of addresses since Shelley: all test networks share a value.
func (n Network) tag() byte {
	if n.Testnet {
		return testnetTag
	}
	return mainnetTag
}

// ownsByron reports whether a Byron address belongs to n: addresses of mainnet have no magic. All test networks share the
// addresses with one, because the ledger compares only whether there is a magic (toNetwork of its AddrBootstrap).
func (n Network) ownsByron(payload []byte) bool {
	_, ok := ByronNetwork(payload)
	return ok == n.Testnet
}

// IsShelley reports whether an address is well-formed, of a known type and of a known network.
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

// isPointer reports whether b is three numbers of seven bits per byte, where each byte but the last of a number has its
// high bit set. Numbers of any size are valid: test networks have such addresses, see [Canonical].
func isPointer(b []byte) bool {
	numbers := 0
	for _, v := range b {
		if v < 0x80 {
			numbers++
		}
	}
	return numbers == pointerNumbers && b[len(b)-1] < 0x80 && len(b) <= maxWritten-enterpriseSize
}

// addressHRP returns the bech32 prefix of an address with this first byte.
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

// hrpOf returns the prefix of a bech32 text in lower case, or "" if it has no prefix.
func hrpOf(text string) string {
	return strings.ToLower(text[:max(0, strings.LastIndexByte(text, '1'))])
}

// encodeBech32 encodes bytes in bech32 (BIP 173) without its limit of 90 characters (CIP-5).
func encodeBech32(hrp string, b []byte) string {
	text, err := bech32.EncodeFromBase256(hrp, b)
	if err != nil {
		return anyHex + hex.EncodeToString(b) // impossible: bytes always regroup with padding
	}
	return text
}

// decodeBech32 returns the bytes of a bech32 text of any length.
func decodeBech32(text string) ([]byte, error) {
	_, groups, version, err := bech32.DecodeNoLimitWithVersion(text)
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok || err == nil && version != bech32.Version0 {
		return nil, errors.New("invalid checksum")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not bech32: %w", err)
	}
	b, err := bech32.ConvertBits(groups, 5, 8, false)
	if err != nil {
		return nil, errors.New("it is not a whole number of bytes")
	}
	return b, nil
}
