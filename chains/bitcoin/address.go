package bitcoin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Types of stored addresses.
const (
	ToKeyHash      = 0x80 // pays to the hash of a key: base58
	ToScriptHash   = 0x81 // pays to the hash of a script: base58
	ToScriptHash32 = 0x82 // pays to the SHA-256 of a script twice (Bitcoin Cash)
)

// A stored address is one byte for its type followed by the hash or witness program. It has no checksum and no network,
// because a database has one network. Types 0 to 16 are witness versions. The text of an address would double the size
// of two families, and has several spellings; the stored form has one.
const (
	toKeyHash    = ToKeyHash
	toScriptHash = ToScriptHash

	maxWitnessVersion = 16
	maxAddressSize    = 1 + block.MaxProgramSize

	minAddressText = 14 // the shortest: a prefix of 2, separator, version, program of 2 bytes, checksum
	maxAddressText = 90 // of any bech32 string (BIP 173)
)

// formatAddress writes a stored address in the form of the network: base58check, bech32 for witness version 0
// (BIP 173), bech32m for later versions (BIP 350). An invalid stored address is written in hex.
func formatAddress(n *params.Network, value []byte) string {
	if err := checkStored(value); err != nil {
		return hex.EncodeToString(value)
	}
	if f := n.Coin.FormatAddress; f != nil {
		if text := f(n, value); text != "" {
			return text
		}
	}
	switch kind, payload := value[0], value[1:]; kind {
	case toKeyHash:
		return encodeBase58(n.KeyHash[0], payload)
	case toScriptHash:
		return encodeBase58(n.ScriptHash[0], payload)
	default:
		return encodeSegwit(n.HRP, kind, payload)
	}
}

// addressTypes returns the type of the outputs that pay to a stored address. The address of a key hash is also that of
// P2PK outputs.
func addressTypes(value []byte) []string {
	if checkStored(value) != nil {
		return nil
	}
	switch version, size := value[0], len(value)-1; {
	case version == toKeyHash:
		return []string{"P2PKH"}
	case version == toScriptHash:
		return []string{"P2SH"}
	case version == ToScriptHash32:
		return []string{"P2SH32"}
	case version == 0 && size == block.WitnessKeyHashSize:
		return []string{"P2WPKH"}
	case version == 0:
		return []string{"P2WSH"}
	case version == 1 && size == block.WitnessScriptSize: // BIP 341
		return []string{"P2TR"}
	default:
		return []string{fmt.Sprintf("witness version %d", version)}
	}
}

// addressForms returns the types of the outputs of a key hash: P2PKH, and P2PK, which pays to the key itself.
func addressForms(n *params.Network, value []byte) []model.Form {
	if checkStored(value) != nil || value[0] != toKeyHash {
		return nil
	}
	form := func(name string, kind block.Kind) model.Form {
		return model.Form{Name: name, Detail: typeNames[kind], Keys: map[string]string{"script_type": block.KindNames[kind]}}
	}
	hash, key := form("P2PKH", block.PubKeyHash), form("P2PK", block.PubKey)
	if n.Coin.Format.Solve == nil { // else a key hash can have more scripts
		sum := sha256.Sum256(slices.Concat(keyHashHead, value[1:], keyHashTail))
		hash.Keys["script_hash"], hash.Own = formatScriptHash(sum[:]), []string{"script_hash"}
	}
	key.One = "output pays to the public key. Wallets that search by script do not count it."
	key.Many = "outputs pay to the public key. Wallets that search by script do not count them."
	return []model.Form{hash, key}
}

func checkStored(value []byte) error {
	if len(value) == 0 {
		return errors.New("empty")
	}
	switch kind, size := value[0], len(value)-1; {
	case kind == toKeyHash || kind == toScriptHash:
		if size != block.Hash160Size {
			return fmt.Errorf("its hash has %d bytes, expected %d", size, block.Hash160Size)
		}
	case kind == ToScriptHash32:
		if size != block.WitnessScriptSize {
			return fmt.Errorf("its hash has %d bytes, expected %d", size, block.WitnessScriptSize)
		}
	case kind > maxWitnessVersion:
		return fmt.Errorf("its witness version is %d, expected at most %d", kind, maxWitnessVersion)
	case kind == 0 && size != block.WitnessKeyHashSize && size != block.WitnessScriptSize:
		return fmt.Errorf("its witness program has %d bytes, expected %d or %d for version 0", size, block.WitnessKeyHashSize, block.WitnessScriptSize)
	case size < block.MinProgramSize || size > block.MaxProgramSize:
		return fmt.Errorf("its witness program has %d bytes, expected %d to %d", size, block.MinProgramSize, block.MaxProgramSize)
	}
	return nil
}

// errNetwork is an error about an address of another network. Its text names the network.
type errNetwork struct{ of string }

func (e errNetwork) Error() string { return "it is an address of " + e.of }

// parseAddress reads an address of the network. An error is of kind [model.Usage], code bad_address.
func parseAddress(n *params.Network, text string) ([]byte, error) {
	value, err := readAddress(n, text)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_address", "invalid address %s for %s (expected %s): %w", adapter.Quote(text), n.FullName(), n.Addresses, err)
	}
	return value, nil
}

func readAddress(n *params.Network, text string) ([]byte, error) {
	if f := n.Coin.ParseAddress; f != nil {
		if value, err := f(n, text); value != nil || err != nil {
			return value, err
		}
	}
	if len(text) < minAddressText || len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, an address has %d to %d", len(text), minAddressText, maxAddressText)
	}
	// Base58 first: its checksum is conclusive, while a simnet address can begin like a bech32 address.
	payload, version, err := base58.CheckDecode(text)
	if err != nil {
		hrp, ok := segwitPrefix(n.Coin, text)
		switch {
		case ok && hrp == n.HRP:
			return decodeSegwit(text)
		case ok:
			return nil, errNetwork{networksWhere(n.Coin, func(o *params.Network) bool { return o.HRP == hrp })}
		case errors.Is(err, base58.ErrChecksum):
			return nil, errors.New("invalid checksum")
		}
		if n.HRP == "" {
			return nil, errors.New("not base58check")
		}
		return nil, errors.New("neither base58check nor bech32")
	}
	all := append([]byte{version}, payload...)
	if size := len(all) - len(n.KeyHash[0]); size != block.Hash160Size {
		return nil, fmt.Errorf("its hash has %d bytes, expected %d", size, block.Hash160Size)
	}
	if value := withPrefix(n, all); value != nil {
		return value, nil
	}
	if of := networksWhere(n.Coin, func(o *params.Network) bool { return withPrefix(o, all) != nil }); of != "" {
		return nil, errNetwork{of}
	}
	var expected []string
	for _, p := range slices.Concat(n.KeyHash, n.ScriptHash) {
		expected = append(expected, versionText(p))
	}
	return nil, fmt.Errorf("its version byte is %s, expected %s", versionText(string(all[:len(n.KeyHash[0])])), strings.Join(expected, " or "))
}

// versionText writes a prefix as a number.
func versionText(prefix string) string {
	n := 0
	for _, b := range []byte(prefix) {
		n = n<<8 | int(b)
	}
	return strconv.Itoa(n)
}

// withPrefix returns the stored address of a prefix and a hash, nil if the network does not have the prefix.
func withPrefix(n *params.Network, all []byte) []byte {
	for kind, prefixes := range [][]string{n.KeyHash, n.ScriptHash} {
		for _, p := range prefixes {
			if hash, ok := strings.CutPrefix(string(all), p); ok && len(hash) == block.Hash160Size {
				return append([]byte{toKeyHash + byte(kind)}, hash...)
			}
		}
	}
	return nil
}

// segwitPrefix returns the human-readable part of a bech32 address of any network of the coin.
func segwitPrefix(coin *params.Spec, text string) (hrp string, ok bool) {
	i := strings.LastIndexByte(text, '1')
	if i <= 0 {
		return "", false
	}
	hrp = strings.ToLower(text[:i])
	return hrp, networksWhere(coin, func(n *params.Network) bool { return n.HRP == hrp }) != ""
}

// networksWhere lists the names of the networks of a coin for which is returns true.
func networksWhere(coin *params.Spec, is func(*params.Network) bool) string {
	var names []string
	for _, n := range coin.Networks {
		if is(n) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

func decodeSegwit(text string) ([]byte, error) {
	_, groups, encoding, err := bech32.DecodeGeneric(text)
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok {
		return nil, errors.New("invalid checksum")
	}
	if err != nil {
		return nil, fmt.Errorf("invalid bech32: %w", err)
	}
	if len(groups) == 0 {
		return nil, errors.New("no witness version")
	}
	version := groups[0]
	if (version == 0) != (encoding == bech32.Version0) {
		return nil, fmt.Errorf("invalid checksum for witness version %d: version 0 uses bech32, later versions bech32m", version)
	}
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	if err != nil {
		return nil, errors.New("its witness program is not a whole number of bytes")
	}
	value := append([]byte{version}, program...)
	return value, checkStored(value)
}
