package blockbook_test

import (
	"encoding/hex"
	"testing"

	"birthmark/api/compat/blockbook"
)

// The texts of data are those of Blockbook: trezor/blockbook, bchain/coins/btc/bitcoinparser_test.go,
// TestGetAddressesFromAddrDesc.
func TestTextsOfDataAreThoseOfBlockbook(t *testing.T) {
	for script, want := range map[string]string{
		"6a0461686f6a":                 "OP_RETURN (ahoj)",
		"6a4c0b446c6f7568792074657874": "OP_RETURN (Dlouhy text)",
		"6a072020f1686f6a20":           "OP_RETURN 2020f1686f6a20",
		"6a31e5bfabe981a9e381ab4254434658e58f96e5bc95e3818ce381a7e3818de3828b5043e3818ce6acb2e38197e38184e38082": "OP_RETURN (快適にBTCFX取引ができるPCが欲しい。)",
		"6a146f6d6e69000000000000001f00000709bb647351":                                                           "OMNI Simple Send: 77383.80022609 TetherUS (#31)",
		"6a146f6d6e69000000000000000300000709bb647351":                                                           "OP_RETURN 6f6d6e69000000000000000300000709bb647351",
		"6a146f6d6e69010000000000000300000709bb647351":                                                           "OP_RETURN 6f6d6e69010000000000000300000709bb647351",
		"6a4d040061686f6a":     "OP_RETURN (ahoj)",
		"6a4e0400000061686f6a": "", // by TryParseOPReturn in bitcoinlikeparser.go, like the next ones
		"6a00":                 "OP_RETURN ()",
		"6a55":                 "",
		"6a0461686f6a00":       "",
	} {
		raw, err := hex.DecodeString(script)
		if err != nil {
			t.Fatal(err)
		}
		if got := blockbook.DescribeData(raw); got != want {
			t.Errorf("%s is %q, expected %q", script, got, want)
		}
	}
}
