package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/onesattest"
)

// BSV-21 tokens are deployed, minted, moved and burned, and an ordinal follows its satoshi, in blocks of regtest. Every
// command answers with them. A rollback and the same blocks again give the same answers.
func TestOnesatFromBlockFiles(t *testing.T) {
	t.Parallel()
	c := onesattest.NewScenario()
	dir := t.TempDir()
	blocks, db := filepath.Join(dir, "blk00000.dat"), filepath.Join(dir, "db")
	write(t, blocks, string(bitcointest.BlockFile(wire.TestNet, c.Blocks()...)))
	sync := func() {
		t.Helper()
		ask(t, nil, "sync", "--chain", "bitcoin-sv", "--network", "regtest", "--source", "file://"+blocks, "--assets", "1sat", "--db", db,
			"--index", "address,contract,content_type,parent,symbol")
	}
	sync()
	answers := func() (texts []string) {
		t.Helper()
		for id, want := range map[string]query.AssetAnswer{
			c.Token:             {Minted: "1000", Burned: "850", Supply: "150", MintCount: 1, Name: "CATS"},
			c.Minted:            {Minted: "50", Burned: "0", Supply: "50", MintCount: 1, Name: "DOGS"},
			c.Minted + ":auth":  {Minted: "1", Burned: "0", Supply: "1", MintCount: 1},
			c.Ordinal:           {Minted: "1", Burned: "1", Supply: "0", MintCount: 1},
			c.Second:            {Minted: "1", Burned: "0", Supply: "1", MintCount: 1},
			c.Token + ":origin": {Minted: "1", Burned: "0", Supply: "1", MintCount: 1},
		} {
			var a query.AssetAnswer
			ask(t, &a, "asset", "--db", db, id)
			if a.Asset != id || a.Minted != want.Minted || a.Burned != want.Burned || a.Supply != want.Supply ||
				a.MintCount != want.MintCount || a.Name != want.Name || a.Fingerprint != "" || a.FirstSeen.Tx == "" {
				t.Errorf("asset %s: %+v, expected %+v", id, a, want)
			}
			if id == c.Token && (a.Decimals == nil || *a.Decimals != 2) {
				t.Errorf("decimals %v", a.Decimals)
			}
			texts = append(texts, jsonText(t, a))
		}
		var holders query.AssetHoldersAnswer
		ask(t, &holders, "asset-holders", "--db", db, c.Token)
		if len(holders.Holders) != 1 || holders.Holders[0].Amount != "150" {
			t.Errorf("holders %+v", holders)
		}
		b := holders.Holders[0].Address
		var minters query.AssetHoldersAnswer
		ask(t, &minters, "asset-holders", "--db", db, c.Minted+":auth")
		if len(minters.Holders) != 1 || minters.Holders[0].Address == b {
			t.Errorf("holders of the authority %+v", minters)
		}
		var events query.AssetEventsAnswer
		ask(t, &events, "asset-events", "--db", db, c.Token)
		var changes []string
		for _, e := range events.Events {
			changes = append(changes, e.Action+" "+e.Amount)
		}
		if slices.Sort(changes); !slices.Equal(changes, []string{"burn -150", "burn -700", "mint 1000"}) {
			t.Errorf("events %q", changes)
		}
		var balance query.BalanceAnswer
		ask(t, &balance, "balance", "--db", db, "address", b)
		got := map[string]string{}
		for _, a := range balance.Assets {
			if !strings.HasSuffix(a.Asset, ":origin") {
				got[a.Asset] = a.Balance
			}
		}
		if len(got) != 2 || got[c.Token] != "150" || got[c.Minted] != "50" {
			t.Errorf("balance of %s: %+v", b, balance)
		}
		var tx query.TxAnswer
		ask(t, &tx, "tx", "--db", db, c.Carry.TxHash().String())
		if held := tx.Outputs[1].Assets; len(held) != 1 || held[0].Asset != c.Ordinal || held[0].Amount != "1" || len(tx.Outputs[0].Assets) > 0 {
			t.Errorf("%+v", tx.Outputs)
		}
		if held := tx.Inputs[1].Output.Assets; len(held) != 1 || held[0].Asset != c.Ordinal {
			t.Errorf("%+v", tx.Inputs)
		}
		var invalid query.TxAnswer
		ask(t, &invalid, "tx", "--db", db, c.Invalid.TxHash().String())
		for _, a := range invalid.Outputs[0].Assets {
			if !strings.HasSuffix(a.Asset, ":origin") {
				t.Errorf("an invalid transfer holds %+v", a)
			}
		}
		find := func(index, value string, want ...*wire.MsgTx) {
			t.Helper()
			var found query.FindAnswer
			ask(t, &found, "find", "--db", db, index, value)
			var got, expected []string
			for _, o := range found.Outputs {
				got = append(got, o.Tx)
			}
			for _, tx := range want {
				expected = append(expected, tx.TxHash().String())
			}
			if !slices.Equal(got, expected) {
				t.Errorf("%s %s: %q, expected %q", index, value, got, expected)
			}
			texts = append(texts, jsonText(t, found))
		}
		find("symbol", "CATS", c.Deploy)
		find("content_type", "text/plain", c.Inscribe)
		find("parent", strings.TrimSuffix(c.Ordinal, ":origin"), c.Child)
		find("contract", "cos", c.Child)
		find("asset", c.Ordinal, c.Inscribe, c.Carry)
		find("asset", c.Token, c.Deploy, c.Move, c.Move, c.Burn)
		var checked check.Result
		ask(t, &checked, "check", "--db", db)
		if !checked.OK {
			t.Errorf("%+v", checked)
		}
		ask(t, nil, "verify", "--db", db, "--source", "file://"+blocks)
		return append(texts, jsonText(t, events), jsonText(t, balance), jsonText(t, tx))
	}
	before := answers()
	ask(t, nil, "rollback", "--db", db, "--to-height", "2")
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"birthmark", "asset", "--db", db, c.Token}, nil, &stdout, &stderr); status != 1 {
		t.Errorf("after the rollback: status %d, %s%s", status, &stdout, &stderr)
	}
	sync()
	after := answers()
	if slices.Sort(before); !slices.Equal(slices.Sorted(slices.Values(after)), before) {
		t.Errorf("after the rollback and the same blocks:\n%q\nexpected\n%q", after, before)
	}
}
