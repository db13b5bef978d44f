package bitcoin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/model"
)

// A stored address is one byte for its type and then the hash or witness program: no checksum and no network, which
// the database is made for anyway. Types 0 to 16 are the witness version.
const (
	toKeyHash    = 0x80 // pays to the hash of a key: base58
	toScriptHash = 0x81 // pays to the hash of a script: base58

	maxWitnessVersion = 16
	maxAddressSize    = 1 + maxProgramSize

	minAddressText = 14 // the shortest: a prefix of 2, separator, version, program of 2 bytes, checksum
	maxAddressText = 90 // of any bech32 string (BIP 173)
)

// formatAddress writes a stored address as people do on the network: base58check, bech32 for witness version 0
// (BIP 173), bech32m for all later ones (BIP 350). What is no stored address comes out as hex.
func (n *network) formatAddress(value []byte) string {
	if err := checkStored(value); err != nil {
		return hex.EncodeToString(value)
	}
	switch kind, payload := value[0], value[1:]; kind {
	case toKeyHash:
		return base58.CheckEncode(payload, n.pubKey)
	case toScriptHash:
		return base58.CheckEncode(payload, n.script)
	default:
		return encodeSegwit(n.hrp, kind, payload)
	}
}

// checkStored says what is wrong with a stored address.
func checkStored(value []byte) error {
	if len(value) == 0 {
		return errors.New("it is empty")
	}
	switch kind, size := value[0], len(value)-1; {
	case kind == toKeyHash || kind == toScriptHash:
		if size != hash160Size {
			return fmt.Errorf("its hash has %d bytes, expected %d", size, hash160Size)
		}
	case kind > maxWitnessVersion:
		return fmt.Errorf("its witness version is %d, the highest is %d", kind, maxWitnessVersion)
	case kind == 0 && size != witnessKeyHashSize && size != witnessScriptSize:
		return fmt.Errorf("its witness program has %d bytes, version 0 has %d or %d", size, witnessKeyHashSize, witnessScriptSize)
	case size < minProgramSize || size > maxProgramSize:
		return fmt.Errorf("its witness program has %d bytes, expected %d to %d", size, minProgramSize, maxProgramSize)
	}
	return nil
}

func encodeSegwit(hrp string, version byte, program []byte) string {
	groups, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return hex.EncodeToString(program) // cannot be: bytes always regroup with padding
	}
	encode := bech32.EncodeM
	if version == 0 {
		encode = bech32.Encode
	}
	s, err := encode(hrp, append([]byte{version}, groups...))
	if err != nil {
		return hex.EncodeToString(program) // cannot be: groups of 5 bits have a character each
	}
	return s
}

// parseAddress makes a stored address of what a person writes. The error says what is wrong and what was expected.
func (n *network) parseAddress(text string) ([]byte, error) {
	value, err := n.readAddress(text)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_address", "%q is not an address of bitcoin %s (%s): %w", shown(text), n.name, n.examples, err)
	}
	return value, nil
}

func (n *network) readAddress(text string) ([]byte, error) {
	if len(text) < minAddressText || len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, expected %d to %d", len(text), minAddressText, maxAddressText)
	}
	// Base58 goes first: its checksum says for certain, while a simnet address may begin like a bech32 one.
	payload, version, err := base58.CheckDecode(text)
	if err != nil {
		hrp, ok := segwitPrefix(text)
		switch {
		case ok && hrp == n.hrp:
			return decodeSegwit(text)
		case ok:
			return nil, fmt.Errorf("it is one of %s", networksWhere(func(o *network) bool { return o.hrp == hrp }))
		case errors.Is(err, base58.ErrChecksum):
			return nil, errors.New("its checksum is wrong")
		}
		return nil, errors.New("it is neither base58check nor bech32")
	}
	if len(payload) != hash160Size {
		return nil, fmt.Errorf("its hash has %d bytes, expected %d", len(payload), hash160Size)
	}
	switch version {
	case n.pubKey:
		return append([]byte{toKeyHash}, payload...), nil
	case n.script:
		return append([]byte{toScriptHash}, payload...), nil
	}
	if of := networksWhere(func(o *network) bool { return o.pubKey == version || o.script == version }); of != "" {
		return nil, fmt.Errorf("it is one of %s", of)
	}
	return nil, fmt.Errorf("its version byte is %d, expected %d or %d", version, n.pubKey, n.script)
}

// segwitPrefix is the human-readable part of a text that begins as a bech32 address of any network does.
func segwitPrefix(text string) (hrp string, ok bool) {
	i := strings.LastIndexByte(text, '1')
	if i < 0 {
		return "", false
	}
	hrp = strings.ToLower(text[:i])
	return hrp, networksWhere(func(n *network) bool { return n.hrp == hrp }) != ""
}

// networksWhere names the networks for which is holds, "" where there is none.
func networksWhere(is func(*network) bool) string {
	var names []string
	for _, n := range networks {
		if is(n) {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

func decodeSegwit(text string) ([]byte, error) {
	_, groups, encoding, err := bech32.DecodeGeneric(text)
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok {
		return nil, errors.New("its checksum is wrong")
	}
	if err != nil {
		return nil, fmt.Errorf("it is no bech32: %w", err)
	}
	if len(groups) == 0 {
		return nil, errors.New("it has no witness version")
	}
	version := groups[0]
	if (version == 0) != (encoding == bech32.Version0) {
		return nil, fmt.Errorf("its checksum is the wrong one for witness version %d: version 0 has bech32, later ones bech32m", version)
	}
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	if err != nil {
		return nil, errors.New("its witness program does not end at a byte")
	}
	value := append([]byte{version}, program...)
	return value, checkStored(value)
}
