// Package cashaddr reads and writes addresses in CashAddr, the form of Bitcoin Cash (cashaddr.md of its specification).
package cashaddr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/bech32"
)

// Kind is the type of an address: 0 to 15.
type Kind byte

// Kinds of addresses. Token-aware addresses pay to the same scripts.
const (
	KeyHash Kind = iota
	ScriptHash
	TokenKeyHash
	TokenScriptHash
)

const (
	charset      = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	checksumSize = 8 // characters
	kindShift    = 3 // in the version byte; the size is below it
)

// sizes are the sizes of hashes in bytes, in the order of their numbers in a version byte.
var sizes = []int{20, 24, 28, 32, 40, 48, 56, 64}

// polymod is the checksum of CashAddr over groups of 5 bits.
func polymod(prefix string, groups []byte) uint64 {
	c := uint64(1)
	add := func(d byte) {
		top := c >> 35
		c = c&0x07ffffffff<<5 ^ uint64(d)
		for i, g := range [5]uint64{0x98f2bc8e61, 0x79b76d99e2, 0xf33e5fb3c4, 0xae2eabe2a8, 0x1e4f43e470} {
			if top>>i&1 != 0 {
				c ^= g
			}
		}
	}
	for i := range prefix {
		add(prefix[i] & 0x1f)
	}
	add(0)
	for _, d := range groups {
		add(d)
	}
	return c ^ 1
}

// Encode writes an address; "" if no address has a hash of this size.
func Encode(prefix string, kind Kind, hash []byte) string {
	size := slices.Index(sizes, len(hash))
	groups, err := bech32.ConvertBits(append([]byte{byte(kind)<<kindShift | byte(size)}, hash...), 8, 5, true)
	if size < 0 || err != nil {
		return ""
	}
	sum := polymod(prefix, append(groups[:len(groups):len(groups)], make([]byte, checksumSize)...))
	text := []byte(prefix + ":")
	for _, g := range groups {
		text = append(text, charset[g])
	}
	for i := checksumSize - 1; i >= 0; i-- {
		text = append(text, charset[sum>>(5*i)&0x1f])
	}
	return string(text)
}

// Decode reads an address, with or without its prefix. hash is nil, without an error, if the text has another form.
func Decode(prefix, text string) (kind Kind, hash []byte, err error) {
	if text == strings.ToUpper(text) {
		text = strings.ToLower(text)
	}
	of, payload, found := strings.Cut(text, ":")
	if !found {
		of, payload = prefix, text
	}
	groups := make([]byte, len(payload))
	for i := range groups {
		at := strings.IndexByte(charset, payload[i])
		if at < 0 && !found {
			return 0, nil, nil
		}
		if at < 0 {
			return 0, nil, fmt.Errorf("%q is not a character of CashAddr", payload[i])
		}
		groups[i] = byte(at)
	}
	switch {
	case of != prefix:
		return 0, nil, fmt.Errorf("its prefix is %.20q, expected %q", of, prefix)
	case len(groups) <= checksumSize || polymod(of, groups) != 0:
		return 0, nil, errors.New("invalid checksum")
	}
	data, err := bech32.ConvertBits(groups[:len(groups)-checksumSize], 5, 8, false)
	if err != nil || len(data) == 0 {
		return 0, nil, errors.New("its hash is not a whole number of bytes")
	}
	version, hash := data[0], data[1:]
	if version>>7 != 0 || sizes[version&7] != len(hash) {
		return 0, nil, fmt.Errorf("its version byte is %d with a hash of %d bytes", version, len(hash))
	}
	return Kind(version >> kindShift), hash, nil
}
