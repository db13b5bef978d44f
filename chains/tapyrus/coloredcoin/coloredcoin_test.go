package coloredcoin_test

import (
	"encoding/hex"
	"testing"

	"birthmark/chains/bitcoin"
	"birthmark/chains/tapyrus"
	"birthmark/chains/tapyrus/coloredcoin"
	"birthmark/model"
)

// colored is a transaction of Tapyrus Core's tests (test/util/data/txcoloredcoin1.hex).
const colored = "01000000018594c5bdcaec8f06b78b596f31cd292a294fd031e24eec716f43dac91ea7494d000000008a4730440220131432090a6af42da3e8335ff110831b41a44f4e9d18d88f5d50278380696c7202200fc2e48938f323ad13625890c0ea926c8a189c08b8efc38376b20c8a2188e96e01410479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8ffffffff0100e1f505000000003c21c1d206ea613cebbfbfd230ec8b9d13f66d75a128ffa630d07c64d81236e24d6253bc76a91419d180d50f31b89b9757f4750a66e4ba12e3b52588ac00000000"

func TestColoredTransaction(t *testing.T) {
	c, err := bitcoin.Open(tapyrus.Spec, "testnet")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(colored)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.(model.TxHasher).HashTx(raw)
	if got := c.FormatHash(id); err != nil || got != "36fd451e2bfc8597f03275e0306a5597fb837b1b886860b9019a070e60f1f1e4" {
		t.Errorf("the id is %s, %v", got, err)
	}
	value, script, assets := coloredcoin.Split(100_000_000, raw[len(raw)-4-60:len(raw)-4])
	color := "c1d206ea613cebbfbfd230ec8b9d13f66d75a128ffa630d07c64d81236e24d6253"
	if value != 0 || len(assets) != 1 || assets[0].Amount != 100_000_000 || c.FormatAsset(assets[0].ID) != color {
		t.Errorf("value %d, assets %v", value, assets)
	}
	// The address of the colored output is read as that of its key.
	address := c.Indexes()[0]
	got, err := address.Parse("vmXejSsuy5KtpXhxKit3WicRUYig6UCb6Qmxf5RJuC37CuTS8W3NAMfet87iFEjC3XGq1Pucu6Hgn7")
	if want := c.(model.Scripter).ScriptAddress(script); err != nil || address.Format(got) != want {
		t.Errorf("the colored address is %s, %v, expected %s", address.Format(got), err, want)
	}
	if got := hex.EncodeToString(coloredcoin.ColorOf("vmXejSsuy5KtpXhxKit3WicRUYig6UCb6Qmxf5RJuC37CuTS8W3NAMfet87iFEjC3XGq1Pucu6Hgn7")); got != color {
		t.Errorf("the color of the address is %s, expected %s", got, color)
	}
	for _, text := range []string{"", "color", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"} {
		if got := coloredcoin.ColorOf(text); got != nil {
			t.Errorf("the color of %q is %x", text, got)
		}
	}
}
