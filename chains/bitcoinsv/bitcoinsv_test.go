package bitcoinsv_test

import (
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoinsv"
	"birthmark/chains/chaintest"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testnode/onesattest"
	"birthmark/model"
)

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("bitcoin-sv")
	file := bitcointest.BlockFile(wire.TestNet, onesattest.NewScenario().Blocks()...)
	tokens := chaintest.Input{Name: "tokens", Network: "regtest", Data: file}
	chaintest.Run(t, cointest.Fixture(t, coin, append(cointest.Inputs(t, "mainnet", cointest.List(t)), tokens)...))
}

// Block 705,985 of mainnet, of September 2021, is from the tests of go-bt (bsv-blockchain/go-bt, testing/data/tx/bin).
func TestRealBlocks(t *testing.T) {
	cointest.Blocks(t, cointest.Open(t, bitcoinsv.Spec, ""), cointest.List(t))
}

// The pointers of its databases are wide: a block can have more than 524,288 transactions.
func TestPointersAreWide(t *testing.T) {
	if c := cointest.Open(t, bitcoinsv.Spec, ""); c.Traits().Pointers != model.WidePointers || c.Traits().Unordered {
		t.Errorf("%+v", c.Traits())
	}
}

// OP_FALSE before OP_RETURN changes neither the type nor the data. P2SH keeps its form, and witness programs are none.
func TestScripts(t *testing.T) {
	for script, want := range map[string]block.Kind{
		"6a0568656c6c6f":   block.NullData,
		"006a0568656c6c6f": block.NullData,
		"006a":             block.NullData,
		"006aac":           block.Nonstandard,
		"00":               block.Nonstandard,
		"a914748284390f9e263a4b766a75d0633c50426eb87587":     block.ScriptHash,
		"76a914751e76e8199196d454941c45d1b3a323f1433bd688ac": block.PubKeyHash,
		"0014751e76e8199196d454941c45d1b3a323f1433bd6":       block.Nonstandard,
	} {
		raw, err := hex.DecodeString(script)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := bitcoinsv.Spec.Format.Classify(raw); got != want {
			t.Errorf("%s is %s, expected %s", script, block.KindNames[got], block.KindNames[want])
		}
	}
}

// The addresses are those of BIP 16 and of the private key 1.
func TestAddresses(t *testing.T) {
	cointest.Addresses(t, cointest.Open(t, bitcoinsv.Spec, ""), map[string]string{
		"1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH": "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac",
		"3P14159f73E4gFr7JterCCQh9QjiTjiZrG": "a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87",
	})
	cointest.Addresses(t, cointest.Open(t, bitcoinsv.Spec, "testnet"), map[string]string{
		"mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r": "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac",
	})
}
