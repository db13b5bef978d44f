package ergo

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

func unhexed(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const aKey = "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6"

// The vectors are from the specification of the reference implementation. Trees of every kind are formatted by its
// JavaScript build (sigmastate-js 0.4.6).
func TestAddressesEqualTheReferences(t *testing.T) {
	scriptHash := "ea02d193b4cbe4e37e0e040004300e18" + "d62151f990f191c102a6fe995b89ed3d0f343a96f13789a3" + "d4087e"
	for _, c := range []struct{ name, tree, mainnet, testnet string }{
		{"key", "0008cd" + aKey, "9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE", "3WxrXTcFe672QcgUgtLmjCkZkg98CPMUeojTZbi7vhm8YqN3kzLY"},
		{"generator", "0008cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "9fSgJ7BmUxBQJ454prQDQ7fQMBkXPLaAmDnimgTtjym6FYPHjAV", "3WwXpssaZwcNzaGMv3AgxBdTPJQBt5gCmqBsg3DykQ39bYdhJBsN"},
		{"key of a known secret", "0008cd03f28b3cb2cb88c43b2c8c33c90a2a85568475e143604c3b631924427fff1ddf4f", "9iJd9drp1KR3R7HLi7YmQbB5sJ5HFKZoPb5MxGepamggJs5vDHm", ""},
		{"true", "10010101d17300", "4MQyML64GnzMxZgm", "Ms7smJwLGbUAjuWQ"},
		{"key with its size", "082308cd" + aKey, "9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE", ""},
		{"key with a wrong size", "082208cd" + aKey, "9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE", ""},
		{"key, version 3", "0b2308cd" + aKey, "9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE", ""},
		{"key, other bits", "e008cd" + aKey, "", ""},
		{"key beside no constants", "100008cd" + aKey, "9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE", ""},
		{"key among constants", "100108cd" + aKey + "7300", "zkfVnxJRGyfwn21hC7ugsyv17s3JpC5a8MYRcGd3YcmnDD82HJ465jZVyDf", ""},
		{"another infinity", "0008cd00" + strings.Repeat("11", 32), "9adaAMuB9v8yX1mZ5PtoB6VFSCeqRGjASd8ZTM6VUkiHLDgh2Rp", ""},
		{"infinity", "0008cd" + strings.Repeat("00", 33), "9adaAMuB9v8yX1mZ5PtoB6VFSCeqRGjASd8ZTM6VUkiHLDgh2Rp", ""},
		{"script hash", "00" + scriptHash, "8UApt8czfFVuTgQmMwtsRBZ4nfWquNiSwCWUjMg", ""},
		{"script hash with its size", "082b" + scriptHash, "8UApt8czfFVuTgQmMwtsRBZ4nfWquNiSwCWUjMg", ""},
		{"script hash beside no constants", "1000" + scriptHash, "8UApt8czfFVuTgQmMwtsRBZ4nfWquNiSwCWUjMg", ""},
		{"another script hash", "00" + strings.Replace(scriptHash, "d62151f990f191c102a6fe995b89ed3d0f343a96f13789a3", "516e29a942fd05ed9bb83e739dad977cc44f9f5a59f25f25", 1), "", "qETVgcEctaXurNbFRgGUcZEGg4EKa8R4a5UNHY7"},
		{"script hash in another variable", "00" + strings.ReplaceAll(scriptHash, "7e", "01"), "VCvvAVLn5wP4Z2dAnvD2kjiykvixxWCGGHyprzV2jBt9xykYLVvSfjrpWsKWcWjnnh", ""},
		{"fee", "1005040004000e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304",
			"2iHkR7CWvD1R4j1yZg5bkeDRQavjAaVPeTDFGGLZduHyfWMuYpmhHocX8GJoaieTx78FntzJbCBVL6rf96ocJoZdmWBL2fci7NqWgAirppPQmZ7fN9V6z13Ay6brPriBKYqLp1bT2Fk4FkFLCfdPpe", ""},
		{"reward", "100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a70173007301",
			"88dhgzEuTXaRTvAQJb5937Lu2np4WbYmKgUFskDab6Fo7io2LGs77U5VrRwdermNg5LNHBcGkMd8eHiL", ""},
	} {
		value := appendAddress(nil, unhexed(t, c.tree), nil)
		for i, want := range []string{c.mainnet, c.testnet} {
			if want == "" {
				continue
			}
			if got := formatAddress(networks[i], value); got != want {
				t.Errorf("%s: %s, expected %s", c.name, got, want)
			}
			if back, err := parseAddress(networks[i], want); err != nil || string(back) != string(value) {
				t.Errorf("%s: parsed as %x, %v, expected %x", c.name, back, err, value)
			}
			if back, err := parseAddress(networks[i], "hex:"+c.tree); err != nil || string(back) != string(value) {
				t.Errorf("%s: its tree is parsed as %x, %v, expected %x", c.name, back, err, value)
			}
		}
	}
}

func TestAddressesStateTheirType(t *testing.T) {
	for text, want := range map[string]string{
		"9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE": "[P2PK]", "8UApt8czfFVuTgQmMwtsRBZ4nfWquNiSwCWUjMg": "[P2SH]",
		"4MQyML64GnzMxZgm": "[P2S]", "": "[]",
	} {
		x := networks[0].indexes()[addressIndex]
		if got := fmt.Sprint(x.TypesOf(text)); got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
}

// Every tree has an address, even an invalid tree.
func TestEveryTreeHasAnAddress(t *testing.T) {
	for _, tree := range []string{"ff", "00", "ff01", "0008cd05" + aKey[2:], "0108cd" + aKey, "10ffff", "0008cd0102",
		"0008cd02" + strings.Repeat("00", 31) + "05", "082308cd02" + strings.Repeat("ff", 32)} {
		value := appendAddress(nil, unhexed(t, tree), nil)
		if value[0] != typeP2S || hex.EncodeToString(value[1:]) != tree {
			t.Errorf("%s has the address %x", tree, value)
		}
		for _, n := range networks {
			text := formatAddress(n, value)
			if back, err := parseAddress(n, text); err != nil || string(back) != string(value) {
				t.Errorf("%s: %s is read as %x, %v", tree, text, back, err)
			}
		}
	}
	infinity, err := parseAddress(networks[0], checked(append([]byte{typeP2PK, 0}, bytes.Repeat([]byte{1}, 32)...)...))
	if err != nil || string(infinity[1:]) != string(sigma.Infinity[:]) {
		t.Errorf("another infinity is %x, %v", infinity, err)
	}
	long := append([]byte{typeP2S, 0xff}, make([]byte, maxWritten)...)
	if back, err := parseAddress(networks[0], formatAddress(networks[0], long)); err != nil || string(back) != string(long) {
		t.Errorf("a tree of %d bytes does not parse: %v", len(long)-1, err)
	}
}

// checked returns the base58 text of bytes and their checksum.
func checked(raw ...byte) string {
	sum := blake2b.Sum256(raw)
	return base58.Encode(append(raw, sum[:checksumSize]...))
}

func TestErrorsOfInvalidAddresses(t *testing.T) {
	key := bytes.Repeat([]byte{2}, sigma.PointSize)
	for text, want := range map[string]string{
		"": "invalid base 58",
		"3WxrXTcFe672QcgUgtLmjCkZkg98CPMUeojTZbi7vhm8YqN3kzLY": "it is an address of ergo testnet",
		"9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWF":  "invalid checksum",
		"9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGW0":  "invalid base 58",
		checked(append([]byte{0x21}, key...)...):               "unknown network (first byte 0x21)",
		checked(append([]byte{1, 5}, key[1:]...)...):           "its key is not a point of the curve",
		checked(append([]byte{4}, key...)...):                  "unknown address type 4",
		checked(append([]byte{1}, key[1:]...)...):              "its content has 32 bytes, expected 33 for type 1",
		checked(append([]byte{2}, key...)...):                  "its content has 33 bytes, expected 24 for type 2",
		strings.Repeat("9", maxAddressText+1):                  "it has 12289 characters, expected at most 12288",
		"hex:":                                                 "invalid hex digits of an ErgoTree",
		"hex:0":                                                "invalid hex digits of an ErgoTree",
	} {
		_, err := parseAddress(networks[0], text)
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, expected %s", text, err, want)
		}
	}
}

// Cached results do not change later ones.
func TestPointsAreCached(t *testing.T) {
	var known points
	for range 2 {
		for key, want := range map[string]bool{
			aKey: true, "02" + aKey[2:]: true, "05" + aKey[2:]: false, "0327e6" + strings.Repeat("00", 30): sigma.IsPoint(unhexed(t, "0327e6"+strings.Repeat("00", 30))),
			strings.Repeat("00", 33): true,
		} {
			if got := known.has(unhexed(t, key)); got != want {
				t.Errorf("%s: %v", key, got)
			}
		}
	}
}

// FuzzAddress checks that a parsed address is formatted as a text that parses to the same bytes.
func FuzzAddress(f *testing.F) {
	f.Add("9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE")
	f.Add("hex:ff01")
	f.Fuzz(func(t *testing.T, text string) {
		value, err := parseAddress(networks[0], text)
		if err != nil {
			return
		}
		if again, err := parseAddress(networks[0], formatAddress(networks[0], value)); err != nil || string(again) != string(value) {
			t.Errorf("%q is %x, and that %x, %v", text, value, again, err)
		}
	})
}
