package cli

import (
	"bufio"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// rendered is what a person sees of an answer.
func rendered(t *testing.T, colour bool, show func(*page)) string {
	t.Helper()
	chain, err := chains.New("bitcoin", "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	p := &page{w: bufio.NewWriter(&b), colour: colour, chain: chain, unit: humanize.UnitOf(chain)}
	show(p)
	if err := p.w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestColumnsAlignWhateverIsInThem(t *testing.T) {
	t.Parallel()
	show := func(p *page) {
		p.table([]column{{"n", true}, {name: "name"}, {name: "last"}}, [][]cell{
			{{"1", faint}, {"é", green}, text("x")},
			{text("1,000"), text("longer"), {"", red}},
		})
	}
	const want = "    n  name    last\n    1  é       x\n1,000  longer\n"
	if got := rendered(t, false, show); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	coloured := rendered(t, true, show)
	if !strings.Contains(coloured, "\x1b[32mé\x1b[0m") {
		t.Errorf("no colour in %q", coloured)
	}
	for code := range strings.SplitSeq("0 1 2 31 32", " ") {
		coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
	}
	if coloured != want {
		t.Errorf("without its colours it is\n%s\nwant\n%s", coloured, want)
	}
}

// A pipe gets no colour, and neither does a terminal whose user does not want it.
func TestColourIsForTerminals(t *testing.T) {
	t.Parallel()
	p := newProgram(nil, new(strings.Builder), nil)
	if p.colourful(p.stdout) {
		t.Error("colour for what is no terminal")
	}
}

// Bitcoin has no assets: the pages of those that have.
func TestAssetsForPeople(t *testing.T) {
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
	for _, show := range []func(*page){
		func(p *page) {
			p.asset(&query.AssetAnswer{Asset: id, FirstSeen: seen, Minted: "1000001", Burned: "1", Supply: "1000000", MintCount: 2, BurnCount: 1,
				OutputCount: 12, UnspentCount: 3, HolderCount: &holders})
		},
		func(p *page) {
			p.assetEvents(&query.AssetEventsAnswer{Asset: id, Next: &next, Events: []query.AssetEventAnswer{
				{Tx: seen.Tx, Height: 1, Action: "mint", Amount: "1000001"}, {Tx: seen.Tx, Height: 22, Action: "burn", Amount: "-1"}}})
		},
		func(p *page) {
			p.assetHolders(&query.AssetHoldersAnswer{Asset: id, Holders: []query.HolderAnswer{{Address: "addr1", Amount: "999999"}, {Address: "addr2", Amount: "1"}}})
		},
		func(p *page) { p.assetHolders(&query.AssetHoldersAnswer{Asset: id}) },
		func(p *page) {
			p.assets(&query.AssetsAnswer{Count: 1234, Next: &next, Assets: []query.AssetAnswer{
				{Asset: id, FirstSeen: seen, Supply: "1000000", HolderCount: &holders, Name: "a\x1bname"}, {Asset: id + "00", FirstSeen: seen, Supply: "0"}}})
		},
		func(p *page) { p.output(&out) },
		func(p *page) { p.output(&unspent) },
		func(p *page) {
			p.tx(&query.TxAnswer{Hash: seen.Tx, Height: 5, BlockHash: "ff", Time: 1_600_000_000, Fee: "170000", Inputs: []query.InputAnswer{{Output: out}},
				Outputs: []query.OutputAnswer{out}, Mints: []query.MintAnswer{{Asset: id, Amount: "-5"}}})
		},
		func(p *page) { p.tx(&query.TxAnswer{Hash: seen.Tx, Outputs: []query.OutputAnswer{unspent}}) },
		func(p *page) {
			p.balance(&query.BalanceAnswer{Index: "address", Value: "addr1", Balance: "1", Received: "2", Sent: "1", Assets: []query.AssetBalanceAnswer{{Asset: id, Balance: "999999"}}})
		},
		func(p *page) {
			p.check(&check.Result{Blocks: 3, Rows: 1234, Problems: []check.Problem{{Family: "utxo_by_utxo_pk", Key: "00ff", Problem: "has no value"}}})
		},
	} {
		b.WriteString(rendered(t, false, show))
		b.WriteString("=====\n")
	}
	golden(t, "assets.txt", b.String())
}
