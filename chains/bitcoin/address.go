package bitcoin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// A stored address is one byte for its type followed by the hash or witness program. It has no checksum and no network,
// because a database has one network. Types 0 to 16 are witness versions.
const (
	toKeyHash    = 0x80 // pays to the hash of a key: base58
	toScriptHash = 0x81 // pays to the hash of a script: base58

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
	switch kind, payload := value[0], value[1:]; kind {
	case toKeyHash:
		return base58.CheckEncode(payload, n.PubKeyHash)
	case toScriptHash:
		return base58.CheckEncode(payload, n.ScriptHash)
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

func checkStored(value []byte) error {
	if len(value) == 0 {
		return errors.New("empty")
	}
	switch kind, size := value[0], len(value)-1; {
	case kind == toKeyHash || kind == toScriptHash:
		if size != block.Hash160Size {
			return fmt.Errorf("its hash has %d bytes, expected %d", size, block.Hash160Size)
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

func encodeSegwit(hrp string, version byte, program []byte) string {
	groups, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return hex.EncodeToString(program) // unreachable: bytes always regroup with padding
	}
	encode := bech32.EncodeM
	if version == 0 {
		encode = bech32.Encode
	}
	s, err := encode(hrp, append([]byte{version}, groups...))
	if err != nil {
		return hex.EncodeToString(program) // unreachable: groups of 5 bits are valid characters
	}
	return s
}

// errNetwork is an error about an address of another network. Its text names the network.
type errNetwork struct{ of string }

func (e errNetwork) Error() string { return "it is an address of " + e.of }

// parseAddress reads an address of the network. An error is of kind [model.Usage], code bad_address.
func parseAddress(n *params.Network, text string) ([]byte, error) {
	value, err := readAddress(n, text)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_address", "invalid address %s for bitcoin %s (expected %s): %w", adapter.Quote(text), n.Name, n.Addresses, err)
	}
	return value, nil
}

func readAddress(n *params.Network, text string) ([]byte, error) {
	if len(text) < minAddressText || len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, an address has %d to %d", len(text), minAddressText, maxAddressText)
	}
	// Base58 first: its checksum is conclusive, while a simnet address can begin like a bech32 address.
	payload, version, err := base58.CheckDecode(text)
	if err != nil {
		hrp, ok := segwitPrefix(text)
		switch {
		case ok && hrp == n.HRP:
			return decodeSegwit(text)
		case ok:
			return nil, errNetwork{networksWhere(func(o *params.Network) bool { return o.HRP == hrp })}
		case errors.Is(err, base58.ErrChecksum):
			return nil, errors.New("wrong checksum")
		}
		return nil, errors.New("neither base58check nor bech32")
	}
	if len(payload) != block.Hash160Size {
		return nil, fmt.Errorf("its hash has %d bytes, expected %d", len(payload), block.Hash160Size)
	}
	switch version {
	case n.PubKeyHash:
		return append([]byte{toKeyHash}, payload...), nil
	case n.ScriptHash:
		return append([]byte{toScriptHash}, payload...), nil
	}
	if of := networksWhere(func(o *params.Network) bool { return o.PubKeyHash == version || o.ScriptHash == version }); of != "" {
		return nil, errNetwork{of}
	}
	return nil, fmt.Errorf("its version byte is %d, expected %d or %d", version, n.PubKeyHash, n.ScriptHash)
}

// segwitPrefix returns the human-readable part of a bech32 address of any network.
func segwitPrefix(text string) (hrp string, ok bool) {
	i := strings.LastIndexByte(text, '1')
	if i < 0 {
		return "", false
	}
	hrp = strings.ToLower(text[:i])
	return hrp, networksWhere(func(n *params.Network) bool { return n.HRP == hrp }) != ""
}

// networksWhere lists the names of the networks for which is returns true.
func networksWhere(is func(*params.Network) bool) string {
	var names []string
	for _, n := range networks {
		if is(n) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

func decodeSegwit(text string) ([]byte, error) {
	_, groups, encoding, err := bech32.DecodeGeneric(text)
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok {
		return nil, errors.New("wrong checksum")
	}
	if err != nil {
		return nil, fmt.Errorf("invalid bech32: %w", err)
	}
	if len(groups) == 0 {
		return nil, errors.New("no witness version")
	}
	version := groups[0]
	if (version == 0) != (encoding == bech32.Version0) {
		return nil, fmt.Errorf("its checksum is not that of witness version %d: version 0 uses bech32, later versions bech32m", version)
	}
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	if err != nil {
		return nil, errors.New("its witness program is not a whole number of bytes")
	}
	value := append([]byte{version}, program...)
	return value, checkStored(value)
}
