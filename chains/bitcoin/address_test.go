package bitcoin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func TestStoredAddressesAreWrittenAndReadBack(t *testing.T) {
	r := testseed.Rand(t)
	for _, n := range networks {
		for range 300 {
			kind, size := byte(r.IntN(maxWitnessVersion+1)), 2+r.IntN(39)
			switch {
			case r.IntN(3) == 0:
				kind, size = toKeyHash+byte(r.IntN(2)), block.Hash160Size
			case kind == 0:
				size = 20 + 12*r.IntN(2)
			}
			value := []byte{kind}
			for range size {
				value = append(value, byte(r.Uint32()))
			}
			text := formatAddress(n, value)
			texts := []string{text}
			if kind <= maxWitnessVersion {
				texts = append(texts, strings.ToUpper(text))
			}
			for _, text := range texts {
				if again, err := parseAddress(n, text); err != nil || !bytes.Equal(again, value) {
					t.Fatalf("%s: %x is written %s, read back as %x, %v", n.Name, value, text, again, err)
				}
			}
			// Other networks reject the address and name its network, unless they share its prefixes.
			for _, o := range networks {
				again, err := parseAddress(o, text)
				if formatAddress(o, value) == text {
					if err != nil || !bytes.Equal(again, value) {
						t.Fatalf("%s: %s: %v", o.Name, text, err)
					}
				} else if err == nil || !contains(err.Error(), o.Name, "it is an address of", n.Name) {
					t.Fatalf("%s: %s of %s: %v", o.Name, text, n.Name, err)
				}
			}
			// An address with one changed character is invalid.
			i := r.IntN(len(text))
			c := "23456789acdefghjklmnpqrstuvwxyz"[r.IntN(31)]
			if changed := text[:i] + string(c) + text[i+1:]; changed != text {
				if again, err := parseAddress(n, changed); err == nil {
					t.Fatalf("%s for %s is read as %x", changed, text, again)
				}
			}
		}
	}
}

func TestAddressesStateTheirType(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	x := &c.Indexes()[addressIndex]
	for text, want := range map[string]string{
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S":                             "[P2PKH]",
		"3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy":                             "[P2SH]",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4":                     "[P2WPKH]",
		"bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3": "[P2WSH]",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": "[P2TR]",
		"bc1sw50qgdz25j": "[witness version 16]",
		"bc1":            "[]",
	} {
		if got := fmt.Sprint(x.TypesOf(text)); got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
}

func TestInvalidAddressesAreRejected(t *testing.T) {
	n := networks[0]
	segwit := func(encode func(string, []byte) (string, error), groups ...byte) string {
		s, err := encode("bc", groups)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	bits := func(size int) []byte {
		g, err := bech32.ConvertBits(bytes.Repeat([]byte{1}, size), 8, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for text, says := range map[string]string{
		"":                                   "0 characters",
		"hello":                              "5 characters",
		strings.Repeat("1", 91):              "91 characters",
		"not an address at all":              "neither base58check nor bech32",
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3T": "checksum",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5":                         "checksum",
		"bc1qW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4":                         "bech32",
		"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn":                                 "testnet3, testnet4, signet, regtest",
		"tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx":                         "testnet3, testnet4, signet",
		"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080":                       "regtest",
		base58.CheckEncode(make([]byte, 20), 0x30):                           "version byte is 48, expected 0 or 5",
		base58.CheckEncode(make([]byte, 21), 0):                              "21 bytes, expected 20",
		base58.CheckEncode(make([]byte, 19), 5):                              "19 bytes, expected 20",
		segwit(bech32.Encode):                                                "14", // a checksum alone is too short
		segwit(bech32.EncodeM, append([]byte{0}, bits(20)...)...):            "bech32m",
		segwit(bech32.Encode, append([]byte{1}, bits(32)...)...):             "bech32m",
		segwit(bech32.Encode, append([]byte{0}, bits(21)...)...):             "expected 20 or 32 for version 0",
		segwit(bech32.EncodeM, append([]byte{1}, bits(41)...)...):            "41 bytes, expected 2 to 40",
		segwit(bech32.EncodeM, append([]byte{2}, bits(1)...)...) + "":        "characters",
		segwit(bech32.EncodeM, append([]byte{17}, bits(32)...)...):           "version is 17, expected at most 16",
		segwit(bech32.EncodeM, append([]byte{1}, append(bits(20), 0)...)...): "not a whole number of bytes",
	} {
		_, err := parseAddress(n, text)
		if err == nil || !contains(err.Error(), says, "bitcoin mainnet", "bc1…") {
			t.Errorf("%q: %v, expected %q", text, err, says)
		}
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_address" {
			t.Errorf("%q: kind %v, code %s", text, kind, code)
		}
	}
}

func TestInvalidStoredAddressesAreFormattedAsHex(t *testing.T) {
	for _, value := range [][]byte{nil, {0}, {0, 1, 2}, {17, 1, 2}, {toKeyHash, 1}, bytes.Repeat([]byte{1}, 60)} {
		text := formatAddress(networks[0], value)
		if strings.Trim(text, "0123456789abcdef") != "" {
			t.Errorf("%x is formatted as %s", value, text)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"", "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "BC1SW50QGDZ25J", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range networks {
			value, err := parseAddress(n, text)
			if err != nil {
				continue
			}
			again := formatAddress(n, value)
			if again != text && again != strings.ToLower(text) {
				t.Errorf("%s: %q is parsed as %x, which is formatted as %s", n.Name, text, value, again)
			}
		}
	})
}
