package hdkey_test

import (
	"encoding/hex"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/hdkey"
)

// Addresses are those of blockfrost-js 6.2.0 (Apache 2.0): the example in its documents, and others that it derives.
func TestAddressesOfExtendedKeys(t *testing.T) {
	for _, c := range []struct {
		key         string
		role, index uint32
		want        string
	}{
		{
			"7ec9738746cb4708df52a455b43aa3fdee8955abaf37f68ffc79bb84fbf9e1b39d77e2deb9749faf890ff8326d350ed3fd0e4aa271b35cad063692af87102152",
			0, 1, "addr1qy535472n2ctu3x55v03zmm9jnz54grqu3sueap9pnk4xys49ucjdfty5p5qlw5qe28v9k988stffc2g0hx2xx86a2dq5u58qk",
		},
	} {
		raw, err := hex.DecodeString(c.key)
		if err != nil {
			t.Fatal(err)
		}
		key := hdkey.Public(raw)
		if got, err := key.Address(address.Mainnet, c.role, c.index); err != nil || got != c.want {
			t.Errorf("%s, %v: expected %s", got, err, c.want)
		}
	}
}

// Bytes without a key, and indexes that need the private key, are errors.
func TestKeysThatCannotBeDerived(t *testing.T) {
	var key hdkey.Public
	key[0], key[31] = 2, 0x80
	if _, err := key.Child(0); err == nil {
		t.Error("bytes outside of the curve have a child")
	}
	key = hdkey.Public{0: 1} // the neutral element
	if _, err := key.Child(hdkey.FirstHardened); err == nil {
		t.Error("a hardened child was derived")
	}
}
