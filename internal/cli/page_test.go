package cli

import (
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
)

// rendered returns an answer as text.
func rendered(t *testing.T, show func(*terminal.Page)) string {
	t.Helper()
	chain, err := chains.New("bitcoin", "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	p := terminal.NewPage(&b, false, chain)
	show(p)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Output to a pipe has no colour, nor has output to a terminal if NO_COLOR is set.
func TestColourIsForTerminals(t *testing.T) {
	t.Parallel()
	p := testProgram(nil, new(strings.Builder), nil)
	if p.Colour() {
		t.Error("colours in the output to a pipe")
	}
}

// Pages of assets, which Bitcoin does not have.
func TestAssetsArePrinted(t *testing.T) {
	t.Parallel()
	holders, next := uint64(2), "AbC-_1"
	id := "aaaa" + strings.Repeat("0", 52) + "746f6b656e"
	seen := query.FirstSeenAnswer{Tx: strings.Repeat("ab", 32), Index: 3, Height: 4_490_511}
	spent := query.Optional[query.SpentByAnswer]{Value: &query.SpentByAnswer{Tx: strings.Repeat("cd", 32), Input: 1, Height: 4_490_600}}
	out := query.OutputAnswer{
		Tx: seen.Tx, Index: 3, Height: 4_490_511, TxIndex: 7, Value: "1500000",
		Keys:   map[string]any{"address": "addr1", "policy": []string{"p1", "p2"}},
		Assets: []query.AssetEntryAnswer{{Asset: id, Amount: "1000000", Action: "mint"}, {Asset: id + "00", Amount: "1", Action: "transfer"}},
	}
	unspent := out
	unspent.SpentBy = &query.Optional[query.SpentByAnswer]{}
	out.SpentBy = &spent
	var b strings.Builder
	for _, show := range []func(*terminal.Page){
		func(p *terminal.Page) {
			showAsset(p, &query.AssetAnswer{Asset: id, FirstSeen: seen, Minted: "1000001", Burned: "1", Supply: "1000000", MintCount: 2, BurnCount: 1,
				OutputCount: 12, UnspentCount: 3, HolderCount: &holders})
		},
		func(p *terminal.Page) {
			showAssetEvents(p, &query.AssetEventsAnswer{Asset: id, Next: &next, Events: []query.AssetEventAnswer{
				{Tx: seen.Tx, Height: 1, Action: "mint", Amount: "1000001"}, {Tx: seen.Tx, Height: 22, Action: "burn", Amount: "-1"}}})
		},
		func(p *terminal.Page) {
			showAssetHolders(p, &query.AssetHoldersAnswer{Asset: id, Holders: []query.HolderAnswer{{Address: "addr1", Amount: "999999"}, {Address: "addr2", Amount: "1"}}})
		},
		func(p *terminal.Page) { showAssetHolders(p, &query.AssetHoldersAnswer{Asset: id}) },
		func(p *terminal.Page) {
			showAssets(p, &query.AssetsAnswer{Count: 1234, Next: &next, Assets: []query.AssetAnswer{
				{Asset: id, FirstSeen: seen, Supply: "1000000", HolderCount: &holders, Name: "a\x1bname"}, {Asset: id + "00", FirstSeen: seen, Supply: "0"}}})
		},
		func(p *terminal.Page) { showOutput(p, &out) },
		func(p *terminal.Page) { showOutput(p, &unspent) },
		func(p *terminal.Page) {
			showTx(p, &query.TxAnswer{Hash: seen.Tx, Height: 5, BlockHash: "ff", Time: 1_600_000_000, Fee: "170000", Inputs: []query.InputAnswer{{Output: out}},
				Outputs: []query.OutputAnswer{out}, Mints: []query.MintAnswer{{Asset: id, Amount: "-5"}}})
		},
		func(p *terminal.Page) {
			showTx(p, &query.TxAnswer{Hash: seen.Tx, Outputs: []query.OutputAnswer{unspent}})
		},
		func(p *terminal.Page) {
			showBalance(p, &query.BalanceAnswer{Index: "address", Value: "addr1", Balance: "1", Received: "2", Sent: "1", UnspentCount: new(uint64), Assets: []query.AssetBalanceAnswer{{Asset: id, Balance: "999999"}}})
		},
		func(p *terminal.Page) {
			showCheck(p, &check.Result{Blocks: 3, Rows: 1234, Problems: []check.Problem{{Family: "utxo_by_utxo_pk", Key: "00ff", Problem: "has no value"}}})
		},
	} {
		b.WriteString(rendered(t, show))
		b.WriteString("=====\n")
	}
	golden(t, "assets.txt", b.String())
}
