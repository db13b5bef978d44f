package dash_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/chaintest"
	"birthmark/chains/dash"
	"birthmark/internal/testnode/cointest"
)

// real are blocks of mainnet. The first three are from the tests of Blockbook's Dash parser; the third is the first with
// special transactions (DIP 3): its coinbase has a payload. The last two are from rust-dashcore (dash/contrib, CC0): they
// have commitments of quorums, and registrations and updates of masternodes.
var real = []cointest.Real{
	{File: "mainnet-500001", Hash: "00000000000014171617fa2dbb4a4ebd2e67552e4511e9f0bd588003053851fa", Txs: 7},
	{File: "mainnet-1028159", Hash: "000000000000003e8b908ef8e6694fcb5fb18c3b311a56f962a2c84c1d6652b6", Txs: 13},
	{File: "mainnet-1028160", Hash: "000000000000002099caaf1a877911d99a5980ede9b981280eecb291afedf87b", Txs: 5},
	{File: "mainnet-2045354", Hash: "000000000000002016c49d804e7b5d6ca84663ed032222e9061b2efec302edc3", Txs: 30},
	{File: "mainnet-2282696", Hash: "000000000000002b22765c44677e7378ae129ef13bce9b715914e5f5f584d054", Txs: 21},
}

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("dash")
	chaintest.Run(t, cointest.Fixture(t, coin, cointest.Inputs(t, "mainnet", real)...))
}

func TestRealBlocks(t *testing.T) {
	c, err := bitcoin.Open(dash.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Blocks(t, c, real)
	// The ids are those of the tests of Blockbook's Dash parser.
	b := cointest.Block(t, c, real[2].Read(t), real[2].Hash, real[2].Txs)
	for i, want := range []string{
		"71d6975e3b79b52baf26c3269896a34f3bedfb04561c692ffa31f64dada1f9c4",
		"ed732a404cdfd4e0475a7a016200b7eef191f2c9de0ffdef8a20091c0499299c",
	} {
		if got := c.FormatHash(b.Txs[i].Hash); got != want {
			t.Errorf("transaction %d is %s, expected %s", i, got, want)
		}
	}
}

// A withdrawal keeps its id if a quorum signs it again, from version 2 of an asset unlock on (dashpay/dash,
// src/primitives/transaction.h).
func TestIDsOfAssetUnlocks(t *testing.T) {
	unlock := func(version byte, size int, height byte, signature string) string {
		payload := slices.Concat([]byte{version, 1}, make([]byte, 7), []byte{0xbe, 0, 0, 0, height, 0, 0, 0},
			bytes.Repeat([]byte{0x22}, 32), bytes.Repeat([]byte(signature), 96))[:size]
		tx := slices.Concat([]byte{3, 0, 9, 0, 0, 1, 0xe8, 3, 0, 0, 0, 0, 0, 0, 25, 0x76, 0xa9, 20}, bytes.Repeat([]byte{0x11}, 20),
			[]byte{0x88, 0xac, 0, 0, 0, 0, byte(size)}, payload)
		id, err := dash.Spec.Format.TxID(tx)
		if err != nil {
			t.Fatal(err)
		}
		return block.FormatHash(id)
	}
	const stable = "e5e2c17b34e83c803a8b15369ad6d97394704fff8d95c8c48f3a728667b3f7cd"
	if first, second := unlock(2, 145, 10, "3"), unlock(2, 145, 20, "4"); first != stable || second != stable {
		t.Errorf("version 2 has the ids %s and %s, expected %s", first, second, stable)
	}
	if unlock(1, 145, 10, "3") == unlock(1, 145, 20, "3") || unlock(2, 144, 10, "3") == unlock(2, 144, 20, "3") {
		t.Error("the id of version 1, or of a payload of another size, does not cover the fields that a quorum signs")
	}
}

// The genesis blocks have the hashes of Dash Core's chainparams.cpp.
func TestGenesis(t *testing.T) {
	for i, n := range []struct{ time, bits, nonce uint32 }{
		{1390095618, 0x1e0ffff0, 28917698}, {1390666206, 0x1e0ffff0, 3861367235}, {1417713337, 0x207fffff, 1096447},
	} {
		network := dash.Spec.Networks[i]
		c, err := bitcoin.Open(dash.Spec, network.Name)
		if err != nil {
			t.Fatal(err)
		}
		cointest.Block(t, c, coingen.DashGenesis(n.time, n.bits, n.nonce), c.FormatHash(network.Genesis), 1)
	}
}

// The addresses and scripts are those of the tests of Blockbook's Dash parser.
func TestAddresses(t *testing.T) {
	c, err := bitcoin.Open(dash.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Addresses(t, c, map[string]string{
		"XkycBX1ykVXXs92pAi6ZQwZPEre9kSHHKH": "76a91470dcef2a22575d7a8f0779fb1d6cdd48135bd22788ac",
		"Xm1R9thKBm2EZKZevXsmMX4DVwQQuTohZu": "76a91471348f7780e955a2a60eba17ecc4c826ebc23a9888ac",
		"XkNPrBSJtrHZUvUqb3JF4g5rMB3uzaJfEL": "76a9146a341485a9444b35dc9cb90d24e7483de7d37e0088ac",
		"XbswPXhcLqm5AN5gwcTTyiUGSP2YndWwk9": "76a9140d1156f6026bf975ea3553b03fb534d0959c294c88ac",
	})
	const platform = "dash1krma5z3ttj75la4m93xcndna9ullamq9y5e9n5rs"
	if _, err := c.Indexes()[0].Parse(platform); err == nil || !strings.Contains(err.Error(), "Dash Platform") {
		t.Errorf("an address of the platform: %v", err)
	}
}
