package litecoin_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/chaintest"
	"birthmark/chains/litecoin"
	"birthmark/internal/testnode/cointest"
	"birthmark/model"
)

// real are blocks of testnet4, from the tests of ltcd's package wire (ISC licence). The last two have an extension.
var real = []cointest.Real{
	{File: "testnet4-1821752", Hash: "ece484c02e84e4b1c551fbbdde3045e9096c970fbd3e31f2586b68d50dad6b24", Txs: 3},
	{File: "testnet4-2215584", Hash: "7e35fabe7b3c694ebeb0368a1a1c31e83962f3c5b4cc8dcede3ae94ed3deb306", Txs: 5},
	{File: "testnet4-2215586", Hash: "3000cc2076a568a8eb5f56a06112a57264446e2c7d2cca28cdc85d91820dfa17", Txs: 37},
}

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("litecoin")
	chaintest.Run(t, cointest.Fixture(t, coin, cointest.Inputs(t, "testnet4", real)...))
}

// main are blocks of mainnet, from the tests of ElectrumX (MIT licence). The last one has an extension.
var main = []cointest.Real{
	{File: "mainnet-900000", Hash: "545127eacc261629ae25ada99c7aadc1a929aed2da32f95ef866333f37c11e49", Txs: 5},
	{File: "mainnet-2265985", Hash: "9bacbef81b42f777fabc19d08bceddb56d219fd4585f85946cb27470c6f4f596", Txs: 58},
}

func TestRealBlocks(t *testing.T) {
	for network, blocks := range map[string][]cointest.Real{"mainnet": main, "testnet4": real} {
		c, err := bitcoin.Open(litecoin.Spec, network)
		if err != nil {
			t.Fatal(err)
		}
		cointest.Blocks(t, c, blocks)
		at := slices.Index(litecoin.Spec.NetworkNames(), network)
		first := litecoin.Spec.Networks[at].Extended
		for _, b := range blocks {
			raw, extended := b.Read(t), b.File > "mainnet-2" && b.File < "mainnet-9" || b.File > "testnet4-2"
			if err := litecoin.Spec.Format.CheckBody(raw, true, extended); err != nil {
				t.Errorf("%s: %v", b.File, err)
			}
			height, err := strconv.Atoi(b.File[len(network)+1:])
			if err != nil || extended != (model.HeightPk(height) >= first) {
				t.Errorf("%s has an extension: %t; %s has them from %d, %v", b.File, extended, network, first, err)
			}
		}
	}
}

// The addresses and scripts are those of the tests of Blockbook's Litecoin parser.
func TestAddresses(t *testing.T) {
	c, err := bitcoin.Open(litecoin.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Addresses(t, c, map[string]string{
		"LgJGe7aKy1wfXESKhiKeRWj6z4KjzCfXNW":                              "76a914e72ba56ab6afccac045d696b979e3b5077e88d1988ac",
		"LiTVReQ6N8rWc2pNg2XMwCWq7A9P15teWg":                              "76a914feda50542e61108cf53b93dbffa0959f91ccb32588ac",
		"LTC1eqUzePT9uvpvb413Ejd6P8Cx1Ei8Di":                              "76a91457630115300a625f5deaab64100faa5506c1422f88ac",
		"LTC1f9gtb7bU6B4VjHXvPGDi8ACNZhkKPo":                              "76a9145763023d3f02509644dacbfc45f2c9102129749788ac",
		"MLTQ8niHMnpJLNvK72zBeY91hQmUtoo8nX":                              "a91489ba6cf45546f91f1bdf553e695d63fc6b8795bd87",
		"MAVWzxXm8KGkZTesqLtqywzrvbs96FEoKy":                              "a9141c6fbaf46d64221e80cbae182c33ddf81b9294ac87",
		"ltc1q5fgkuac9s2ry56jka5s6zqsyfcugcchrqgz2yl":                     "0014a2516e770582864a6a56ed21a102044e388c62e3",
		"ltc1qu9dgdg330r6r84g5mw7wqshg04exv2uttmw2elfwx74h5tgntuzsk3x5nd": "0020e15a86a23178f433d514dbbce042e87d72662b8b5edcacfd2e37ab7a2d135f05",
	})
	const mweb = "ltcmweb1qqf0qk3w3yk7m8dhk5v0h6qk0qfzj8p7a2d2yk5q3mh5sj0cq9d2zjq"
	if _, err := c.Indexes()[0].Parse(mweb); err == nil || !strings.Contains(err.Error(), "(MWEB) is not indexed") {
		t.Errorf("an address of the extension: %v", err)
	}
	if c, err = bitcoin.Open(litecoin.Spec, "testnet4"); err != nil {
		t.Fatal(err)
	}
	for old, want := range map[string]string{
		"2MvGVySztevmycxrSmMRjJaVj2iJin7qpap": "QPdG6Ts8g2q4m9cVPTTkPGwAB6kYgXB7Hc",
		"2N9a2TNzWz1FEKGFxUdMEh62V83URdZ5QAZ": "QcvnaPrm17JKTT216jPFmnTvGRvFX2fWzN",
	} {
		value, err := c.Indexes()[0].Parse(old)
		if got := c.Indexes()[0].Format(value); err != nil || got != want {
			t.Errorf("the P2SH address %s is written %s, %v, expected %s", old, got, err, want)
		}
	}
}
