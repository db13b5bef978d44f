package digibyte_test

import (
	"encoding/hex"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/chaintest"
	"birthmark/chains/digibyte"
	"birthmark/internal/testnode/cointest"
	"birthmark/model"
)

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("digibyte")
	chaintest.Run(t, cointest.Fixture(t, coin, cointest.Inputs(t, "mainnet", cointest.List(t))...))
}

// Block 4,394,891 of mainnet is from the tests of ElectrumX, three of June 2026 that Groestl mined from those of
// DigiAssetWindows, and block 102 of a test network from digibyte-rosetta-server (all: MIT licence).
func TestRealBlocks(t *testing.T) {
	cointest.Blocks(t, cointest.Open(t, digibyte.Spec, ""), cointest.List(t))
	cointest.Blocks(t, cointest.Open(t, digibyte.Spec, "regtest"), []cointest.Real{
		{File: "regtest-102", Hash: "949e5b6b384e1b596e546660ccb682a11483f5b5efa9ec94eb0da85e0d247a8b", Txs: 2},
	})
}

// Block 0 of mainnet and of testnet26 has the hash of DigiByte Core's chainparams.cpp (9.26).
func TestGenesis(t *testing.T) {
	for network, of := range map[string]struct {
		text        string
		amount      uint64
		time, nonce uint32
		hash        string
	}{
		"mainnet": {coingen.DigiByteText, 8000, 1389388394, 2447652, "7497ea1b465eb39f1c8f507bc877078fe016d6fcb6dfad3a64c98dcc6e1e8496"},
		"testnet26": {"DigiDollar Testnet26: RC44 7-of-35 Oracle Reset on DigiByte", 8000 * 100_000_000, 1780156800, 1283721,
			"0c9af936f28f7bd0e90c8f6235399063a026ed267bb53da398313b5d7aa55d82"},
	} {
		raw := coingen.Genesis(of.text, "", of.amount, of.time, of.nonce)
		copy(raw[72:], []byte{0xf0, 0xff, 0x0f, 0x1e})
		b := cointest.Block(t, cointest.Open(t, digibyte.Spec, network), raw, of.hash, 1)
		if b.Height != 0 {
			t.Errorf("block 0 of %s has height %d", network, b.Height)
		}
	}
}

// The transaction and the addresses are those of the tests of Blockbook's DigiByte parser.
func TestTransactionAndAddresses(t *testing.T) {
	c := cointest.Open(t, digibyte.Spec, "")
	raw, err := hex.DecodeString("01000000015952b77fedb7233936a48df90e5423d62539efcd3f61a2466501d6ca26554d5e000000006b483045022100fad176fc354e976e0250ca880085f98c7072d5ccd2978d462f981c7c14495a9102207e60e2fa7b58991909f7528aaf3efb4acc5000da299b84b5d7b065b2ef1a2ac601210322e516129a8e55c043a7ac1d01f3c8fc192b88c32f03746f558432fe6a601e05ffffffff0217930054020000001976a914d9eff329b03348487fb9688a77c6b8081794fd2288ac29a9750f0a0000001976a914ad554bde320ae4b3d755ec32e706d8b327ecdd5688acc0cf6a00")
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.(model.TxHasher).HashTx(raw)
	if got := c.FormatHash(id); err != nil || got != "0dcf2530419b9ef525a69f6a15e4d699be1dc9a4ac643c9581b6c57acf25eabf" {
		t.Errorf("the id is %s, %v", got, err)
	}
	// The first is of block 7,000,000, from Blockbook's integration tests, the last five from those of DigiAsset Core (MIT
	// licence), of Trust Wallet (Apache licence) and of kyc-address-decoder (MIT licence), the others from those of
	// digiasset-decoder.
	cointest.Transactions(t, c)
	cointest.Addresses(t, c, map[string]string{
		"DR1Scto7rRpTCAyNY6DFhRsZgG2vZ6rxLx":          "76a914d9eff329b03348487fb9688a77c6b8081794fd2288ac",
		"DLwbcwUY5dwsdF9ezk8Uoga9V8eMB1Kb6B":          "76a914ad554bde320ae4b3d755ec32e706d8b327ecdd5688ac",
		"DFDe9ne77eEUKUijjG4EpDwW9vDxckGgHN":          "76a9146e8d4f7f0dfeb5d69b9a2cf914a1a2e276312b2188ac",
		"DPUnoXeaSDnNtQTa7U3nEMTYBVgJ6wVgCh":          "76a914c92bc70927a752deb91cf0361dcdb60bdac6a1d588ac",
		"SgbK2hJXBUccpQgj41fR4VMZqVPesPZgzC":          "a914d3b07c1aaea886f8ceddedec440623f812e49ddc87",
		"SRrevBM5bfZNpFJ4MhzaNfkTghYKoTB6LV":          "a914320d7056c33fd8d0f5bb9cf42d74133dc28d89bb87",
		"dgb1qwdzu3cxvcte7g5f8ze4dsn83wf6x8zdvw927dx": "00147345c8e0ccc2f3e45127166ad84cf172746389ac",
	})
}
