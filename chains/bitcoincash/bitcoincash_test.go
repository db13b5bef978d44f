package bitcoincash_test

import (
	"encoding/hex"
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
	chaintest.Run(t, cointest.Fixture(t, coin))
}

func open(t *testing.T, network string) model.Chain {
	t.Helper()
	c, err := bitcoincash.New(network)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A transaction of February 2018, from the tests of Blockbook's parser.
func TestRealTransaction(t *testing.T) {
	tx, _ := hex.DecodeString("01000000017f9a22c9cbf54bd902400df746f138f37bcf5b4d93eb755820e974ba43ed5f42040000006a4730440220037f4ed5427cde81d55b9b6a2fd08c8a25090c2c2fff3a75c1a57625ca8a7118022076c702fe55969fa08137f71afd4851c48e31082dd3c40c919c92cdbc826758d30121029f6da5623c9f9b68a9baf9c1bc7511df88fa34c6c2f71f7c62f2f03ff48dca80feffffff019c9700000000000017a9146144d57c8aff48492c9dfb914e120b20bad72d6f8773d00700")
	c := open(t, "")
	id, err := c.(model.TxHasher).HashTx(tx)
	if got := c.FormatHash(id); err != nil || got != "056e3d82e5ffd0e915fb9b62797d76263508c34fe3e5dbed30dd3e943930f204" {
		t.Errorf("the id is %s, %v", got, err)
	}
	address := c.(model.Scripter).ScriptAddress(tx[len(tx)-4-23 : len(tx)-4])
	if address != "bitcoincash:pps5f4tu3tl5sjfvnhaeznsjpvst44eddugfcnqpy9" {
		t.Errorf("the address is %s", address)
	}
}

// The transactions are those of Blockbook's integration tests.
func TestRealTransactions(t *testing.T) { cointest.Transactions(t, open(t, "")) }

// The scripts are those of the CashTokens specification (CHIP-2022-02), the legacy addresses those of the tests of
// Blockbook's parser.
func TestAddresses(t *testing.T) {
	c := open(t, "")
	cointest.Addresses(t, c, map[string]string{
		"bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2":                    "76a914f5bf48b397dae70be82b3cca4793f8eb2b6cdac988ac",
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
