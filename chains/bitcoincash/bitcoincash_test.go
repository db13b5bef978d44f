package bitcoincash_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoincash"
	"birthmark/chains/chaintest"
	"birthmark/internal/testnode/cointest"
	"birthmark/model"
)

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("bitcoin-cash")
	chaintest.Run(t, cointest.Fixture(t, coin, cointest.Inputs(t, "mainnet", cointest.List(t)[:2])...))
}

func open(t *testing.T, network string) model.Chain {
	return cointest.Open(t, bitcoincash.Spec, network)
}

// The transactions are those of the tests of Blockbook, of Bitcoin Verde (SLP transactions, MIT licence) and of Knuth. The
// blocks are those of the tests of Bitcoin Verde, all in canonical order; -b is a stale one.
func TestRealData(t *testing.T) {
	cointest.Transactions(t, open(t, ""))
	cointest.Blocks(t, open(t, ""), cointest.List(t))
}

// Chipnet and testnet4 have the same block 0 and the same magic: each reads a block file as its own.
func TestChipnet(t *testing.T) {
	coin, _ := coingen.Find("bitcoin-cash")
	raw := bytes.Clone(coin.Genesis)
	for i, field := range []uint32{1597811185, 0x1d00ffff, 114152193} {
		binary.LittleEndian.PutUint32(raw[68+4*i:], field)
	}
	record := append(binary.LittleEndian.AppendUint32([]byte{0xcd, 0x22, 0xa7, 0x92}, uint32(len(raw))), raw...)
	for _, network := range []string{"testnet4", "chipnet"} {
		c := open(t, network)
		cointest.Block(t, c, raw, "000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b", 1)
		for _, err := range c.Decode(t.Context(), bytes.NewReader(record), nil, 0) {
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// The scripts are those of the CashTokens specification (CHIP-2022-02), the legacy addresses those of the tests of
// Blockbook's parser.
func TestAddresses(t *testing.T) {
	c := open(t, "")
	cointest.Addresses(t, c, map[string]string{
		"bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2":                    "76a914f5bf48b397dae70be82b3cca4793f8eb2b6cdac988ac",
		"bitcoincash:pps5f4tu3tl5sjfvnhaeznsjpvst44eddugfcnqpy9":                    "a9146144d57c8aff48492c9dfb914e120b20bad72d6f87",
		"bitcoincash:ppawqn2h74a4t50phuza84kdp3794pq3ccvm92p8sh":                    "a9147ae04d57f57b55d1e1bf05d3d6cd0c7c5a8411c687",
		"bitcoincash:pdzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3jh2p5nn": "aa20" + strings.Repeat("44", 32) + "87",
	})
	cointest.Addresses(t, open(t, "testnet3"), map[string]string{
		"bchtest:qr7fzmep8g7h7ymfxy74lgc0v950j3r295pdnvy3hr": "76a914fc916f213a3d7f1369313d5fa30f6168f9446a2d88ac",
	})
	cointest.Addresses(t, open(t, "regtest"), map[string]string{
		"bchreg:qr7fzmep8g7h7ymfxy74lgc0v950j3r295m39d8z59": "76a914fc916f213a3d7f1369313d5fa30f6168f9446a2d88ac",
	})
	for text, want := range map[string]string{
		"bitcoincash:zr6m7j9njldwwzlg9v7v53unlr4jkmx6eycnjehshe":       "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2",
		"129HiRqekqPVucKy2M8zsqvafGgKypciPp":                           "bitcoincash:qqxgjelx8qk85t9xfk8g2zlunxmhxms6p55xarv2r5",
		"3EBEFWPtDYWCNszQ7etoqtWmmygccayLiH":                           "bitcoincash:pzy0wuj9pjps5v8dmlwq32fatu4wrgcwzuayq5nfhh",
		"bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0": "a hash of 24 bytes",
	} {
		value, err := c.Indexes()[0].Parse(text)
		if got := c.Indexes()[0].Format(value); got != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s is read as %s, %v, expected %s", text, got, err, want)
		}
	}
}
