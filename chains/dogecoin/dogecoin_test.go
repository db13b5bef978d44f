package dogecoin_test

import (
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/chaintest"
	"birthmark/chains/dogecoin"
	"birthmark/internal/testnode/cointest"
	"birthmark/model"
)

// real are blocks of mainnet, from the tests of Blockbook's Dogecoin parser. All but the first are merge-mined.
var real = []cointest.Real{
	{File: "mainnet-12345", Hash: "7f61a9fa36cde50065c2093db84111b6ce09ac5dd1810f80f111c7a44f8ed593", Txs: 31},
	{File: "mainnet-371337", Hash: "60323982f9c5ff1b5a954eac9dc1269352835f47c2c5222691d80f0d50dcf053", Txs: 6},
	{File: "mainnet-567890", Hash: "333d89ade33bc29cf231d533a98a0dd9e9afe1c66db38cae3f5dfde43aff1c4f", Txs: 9},
	{File: "mainnet-2264125", Hash: "1b88f6539c8ca6c09b77b841a7cc55238b1a16358236f90ce39bb92c9bb2af23", Txs: 25},
}

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("dogecoin")
	chaintest.Run(t, cointest.Fixture(t, coin, cointest.Inputs(t, "mainnet", real)...))
}

func TestRealBlocks(t *testing.T) {
	c, err := bitcoin.Open(dogecoin.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Blocks(t, c, real)
	// The proof of merged mining is checked: another merkle branch does not result in the root of the parent.
	raw := real[1].Read(t)
	raw[500] ^= 1
	for _, err := range c.Decode(t.Context(), strings.NewReader(string(raw)), nil, 0) {
		if kind, code := model.KindOf(err); kind != model.BadSource || code != "bad_block" || !strings.Contains(err.Error(), "merged mining") {
			t.Errorf("a changed proof: %v", err)
		}
	}
}

// The addresses and scripts are those of the tests of Blockbook's Dogecoin parser.
func TestAddresses(t *testing.T) {
	for network, scripts := range map[string]map[string]string{
		"mainnet": {
			"DHZYinsaM9nW5piCMN639ELRKbZomThPnZ": "76a9148841590909747c0f97af158f22fadacb1652522088ac",
			"DSzaAYEYyy9ngjoJ294r7jzFM3xhD6bKHK": "76a914efb6158f75743c611858fdfd0f4aaec6cc6196bc88ac",
			"9tg1kVUk339Tk58ewu5T8QT82Z6cE4UvSU": "a9141889a089400ea25d28694fd98aa7702b21eeeab187",
		},
		"testnet3": {
			"neYNjrnowpYrbS4QanPngXBi6MQcX6FsWV":  "76a9147183fdc10d664551d151922f95e58ab548d8ad2688ac",
			"2MyChfh5WfqzDTyFibZq2uSF3WcYFE1G5te": "a91441569cc9dbdc08a99d20079bfd12071a2bdbf8e987",
		},
	} {
		c, err := bitcoin.Open(dogecoin.Spec, network)
		if err != nil {
			t.Fatal(err)
		}
		cointest.Addresses(t, c, scripts)
	}
}
