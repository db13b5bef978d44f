package bitcoincash

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/params"
)

const (
	mainnetPrefix = "bitcoincash"
	charset       = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	checksumSize  = 8 // characters
)

// prefix returns the CashAddr prefix of a network.
func prefix(n *params.Network) string {
	switch n.Name {
	case "mainnet":
		return mainnetPrefix
	case "regtest":
		return "bchreg"
	}
	return "bchtest"
}

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

// Bits of the version byte. A token-aware address is that of a wallet that knows tokens, and pays to the same script.
const (
	scriptHash = 1 << 3
	tokenAware = 2 << 3
	size32     = 3 // of the hash; 0: 20 bytes
)

// formatAddress writes a stored address in CashAddr.
func formatAddress(n *params.Network, value []byte) string {
	version := map[byte]byte{bitcoin.ToKeyHash: 0, bitcoin.ToScriptHash: scriptHash, bitcoin.ToScriptHash32: scriptHash | size32}
	v, ok := version[value[0]]
	groups, err := bech32.ConvertBits(append([]byte{v}, value[1:]...), 8, 5, true)
	if !ok || err != nil {
		return ""
	}
	sum := polymod(prefix(n), append(groups[:len(groups):len(groups)], make([]byte, checksumSize)...))
	text := []byte(prefix(n) + ":")
	for _, g := range groups {
		text = append(text, charset[g])
	}
	for i := checksumSize - 1; i >= 0; i-- {
		text = append(text, charset[sum>>(5*i)&0x1f])
	}
	return string(text)
}

// parseAddress reads an address in CashAddr, with or without its prefix; nil for the legacy form.
func parseAddress(n *params.Network, text string) ([]byte, error) {
	if text == strings.ToUpper(text) {
		text = strings.ToLower(text)
	}
	of, payload, found := strings.Cut(text, ":")
	if !found {
		of, payload = prefix(n), text
	}
	groups := make([]byte, len(payload))
	for i := range groups {
		at := strings.IndexByte(charset, payload[i])
		if at < 0 && !found {
			return nil, nil
		}
		if at < 0 {
			return nil, fmt.Errorf("%q is not a character of CashAddr", payload[i])
		}
		groups[i] = byte(at)
	}
	switch {
	case of != prefix(n):
		return nil, fmt.Errorf("its prefix is %.20q, expected %q", of, prefix(n))
	case len(groups) <= checksumSize || polymod(of, groups) != 0:
		return nil, errors.New("wrong checksum")
	}
	data, err := bech32.ConvertBits(groups[:len(groups)-checksumSize], 5, 8, false)
	if err != nil || len(data) == 0 {
		return nil, errors.New("its hash is not a whole number of bytes")
	}
	kinds := map[byte]byte{0: bitcoin.ToKeyHash, scriptHash: bitcoin.ToScriptHash, scriptHash | size32: bitcoin.ToScriptHash32}
	kind, ok := kinds[data[0]&^tokenAware]
	if want := map[bool]int{false: 20, true: 32}[kind == bitcoin.ToScriptHash32]; !ok || len(data)-1 != want {
		return nil, fmt.Errorf("its version byte is %d with a hash of %d bytes: expected a hash of 20 or 32 bytes of a known type",
			data[0], len(data)-1)
	}
	return append([]byte{kind}, data[1:]...), nil
}
