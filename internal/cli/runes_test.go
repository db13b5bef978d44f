package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/runes"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// A rune is created with a commitment, minted, moved and burned, in blocks of regtest. Every command answers with it;
// the commands are those of docs/runes.md. A rollback and the same blocks again give the same answers.
func TestRunesFromBlockFiles(t *testing.T) {
	t.Parallel()
	taproot := func(n byte) []byte { return append([]byte{0x51, 32}, bytes.Repeat([]byte{n}, 32)...) }
	paid := func(script []byte) *wire.TxOut { return wire.NewTxOut(1000, script) }
	told := func(s *runes.Runestone) *wire.TxOut { return wire.NewTxOut(0, s.Script()) }
	number := func(n uint64) runes.Option[model.Uint128] { return runes.Some(model.Uint128Of(n)) }

	name, spacers, ok := runes.ParseSpaced("BIRTH•MARK•RUNES")
	if !ok {
		t.Fatal("the name is not read")
	}
	chain := bitcointest.NewChain()
	chain.PayTo = taproot(1)
	coin := func() *wire.MsgTx { return chain.Mine().Transactions[0] }
	commit := bitcointest.Spend(coin(), 0, paid(taproot(2)))
	chain.Mine(commit)
	chain.MineEmpty(4)
	etch := func(from *wire.MsgTx) *wire.MsgTx {
		tx := bitcointest.Spend(from, 0, told(&runes.Runestone{Etching: &runes.Etching{
			Name: runes.Some(name), Spacers: spacers, Symbol: runes.Some('¤'), Divisibility: 2, Premine: model.Uint128Of(1000),
			Terms: runes.Some(runes.Terms{Amount: number(50), Cap: number(2)}),
		}}), paid(taproot(3)))
		commitment := name.Commitment()
		leaf := append([]byte{byte(len(commitment))}, commitment...)
		tx.TxIn[0].Witness = wire.TxWitness{leaf, append([]byte{0xc0}, make([]byte, 32)...)}
		return tx
	}
	early := bitcointest.Spend(coin(), 0, paid(taproot(2))) // with too few confirmations
	chain.Mine(early)
	chain.Mine(etch(early))
	created := etch(commit)
	chain.Mine(created)
	id := runes.ID{Block: uint64(chain.Height()), Tx: 1}
	mint := func() *wire.MsgTx {
		return bitcointest.Spend(coin(), 0, told(&runes.Runestone{Mint: runes.Some(id)}), paid(taproot(4)))
	}
	first, second, late := mint(), mint(), mint()
	chain.Mine(first, second, late)
	moved := bitcointest.Spend(created, 1, told(&runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: model.Uint128Of(300), Output: 2}}}),
		paid(taproot(3)), paid(taproot(5)))
	burned := bitcointest.Spend(moved, 2, wire.NewTxOut(0, runes.ScriptOf(runes.AppendTag(nil, 126, model.Uint128Of(1)))), paid(taproot(6)))
	chain.Mine(moved, burned)

	dir := t.TempDir()
	blocks, db := filepath.Join(dir, "blk00000.dat"), filepath.Join(dir, "db")
	write(t, blocks, string(bitcointest.BlockFile(wire.TestNet, chain.Blocks()...)))
	sync := func() {
		t.Helper()
		ask(t, nil, "sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://"+blocks, "--assets", "runes", "--db", db)
	}
	sync()
	answers := func() (texts []string) {
		t.Helper()
		for _, text := range []string{id.String(), "BIRTH•MARK•RUNES", "BIRTH.MARK.RUNES", "BIRTHMARKRUNES"} {
			var a query.AssetAnswer
			ask(t, &a, "asset", "--db", db, text)
			if a.Asset != id.String() || a.Name != "BIRTH•MARK•RUNES" || a.Decimals == nil || *a.Decimals != 2 ||
				a.Minted != "1100" || a.Burned != "300" || a.Supply != "800" || a.MintCount != 3 || a.FirstSeen.Tx != created.TxHash().String() {
				t.Errorf("asset %s: %+v", text, a)
			}
			texts = append(texts, jsonText(t, a))
		}
		var holders query.AssetHoldersAnswer
		ask(t, &holders, "asset-holders", "--db", db, "BIRTHMARKRUNES")
		var amounts []string
		for _, h := range holders.Holders {
			amounts = append(amounts, h.Amount)
		}
		if slices.Sort(amounts); !slices.Equal(amounts, []string{"100", "700"}) {
			t.Errorf("holders %+v", holders.Holders)
		}
		var events query.AssetEventsAnswer
		ask(t, &events, "asset-events", "--db", db, id.String())
		var changes []string
		for _, e := range events.Events {
			changes = append(changes, e.Action+" "+e.Amount)
		}
		slices.Sort(changes)
		if want := []string{"burn -300", "mint 1000", "mint 50", "mint 50"}; !slices.Equal(changes, want) {
			t.Errorf("events %q, expected %q", changes, want)
		}
		var tx query.TxAnswer
		ask(t, &tx, "tx", "--db", db, moved.TxHash().String())
		if len(tx.Outputs) != 3 || len(tx.Outputs[0].Assets) != 0 || tx.Outputs[1].Assets[0].Amount != "700" || tx.Outputs[2].Assets[0].Amount != "300" {
			t.Errorf("%+v", tx)
		}
		address, _ := tx.Outputs[1].Keys["address"].(string)
		var balance query.BalanceAnswer
		ask(t, &balance, "balance", "--db", db, "address", address)
		if len(balance.Assets) != 1 || balance.Assets[0].Balance != "700" {
			t.Errorf("balance %+v", balance)
		}
		var checked check.Result
		ask(t, &checked, "check", "--db", db)
		if !checked.OK {
			t.Errorf("%+v", checked)
		}
		ask(t, nil, "verify", "--db", db, "--source", "file://"+blocks)
		return append(texts, jsonText(t, holders), jsonText(t, events), jsonText(t, balance))
	}
	before := answers()
	ask(t, nil, "rollback", "--db", db, "--to-height", fmt.Sprint(id.Block-1))
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"birthmark", "asset", "--db", db, "BIRTHMARKRUNES"}, nil, &stdout, &stderr); status != 1 {
		t.Errorf("after the rollback: status %d, %s%s", status, &stdout, &stderr)
	}
	sync()
	if after := answers(); !slices.Equal(after, before) {
		t.Errorf("after the rollback and the same blocks:\n%q\nexpected\n%q", after, before)
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Runes are added to a database that was created without them, in parts of the chain. It then has the rows of a database
// that was created with them.
func TestRunesAreAddedToADatabase(t *testing.T) {
	t.Parallel()
	name, _, _ := runes.ParseSpaced("BIRTHMARKRUNES")
	paid := func(n byte) *wire.TxOut {
		return wire.NewTxOut(1000, append([]byte{0x51, 32}, bytes.Repeat([]byte{n}, 32)...))
	}
	told := func(s *runes.Runestone) *wire.TxOut { return wire.NewTxOut(0, s.Script()) }
	chain := bitcointest.NewChain()
	coin := func() *wire.MsgTx { return chain.Mine().Transactions[0] }
	commit := bitcointest.Spend(coin(), 0, paid(2))
	chain.Mine(commit)
	chain.MineEmpty(4)
	created := bitcointest.Spend(commit, 0, told(&runes.Runestone{Etching: &runes.Etching{
		Name: runes.Some(name), Premine: model.Uint128Of(1000), Terms: runes.Some(runes.Terms{
			Amount: runes.Some(model.Uint128Of(50)), Cap: runes.Some(model.Uint128Of(9)),
		}),
	}}), paid(3))
	commitment := name.Commitment()
	leaf := append([]byte{byte(len(commitment))}, commitment...)
	created.TxIn[0].Witness = wire.TxWitness{leaf, append([]byte{0xc0}, make([]byte, 32)...)}
	chain.Mine(created)
	id := runes.ID{Block: uint64(chain.Height()), Tx: 1}
	half := chain.Height()
	last := created
	for n := range byte(12) {
		mint := bitcointest.Spend(coin(), 0, told(&runes.Runestone{Mint: runes.Some(id)}), paid(4+n%3))
		moved := bitcointest.Spend(last, 1, told(&runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: model.Uint128Of(70), Output: 2}}}),
			paid(3), paid(5))
		chain.Mine(mint, moved)
		last = moved
	}
	dir := t.TempDir()
	blocks, with, plain := filepath.Join(dir, "blk00000.dat"), filepath.Join(dir, "with"), filepath.Join(dir, "plain")
	write(t, blocks, string(bitcointest.BlockFile(wire.TestNet, chain.Blocks()...)))
	sync := func(db, assets string, to int) {
		t.Helper()
		ask(t, nil, "sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://"+blocks, "--assets", assets, "--db", db,
			"--to-height", fmt.Sprint(to))
	}
	dump := func(db string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"birthmark", "dump", "--db", db}, nil, &stdout, &stderr); status != 0 {
			t.Fatalf("status %d, %s", status, &stderr)
		}
		return stdout.String()
	}
	fails := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), append([]string{"birthmark"}, args...), nil, &stdout, &stderr); status == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("status %d, %s, expected %s", status, &stderr, want)
		}
	}
	sync(with, "runes", chain.Height())
	for _, to := range []int{half, half + 9, chain.Height()} {
		db := fmt.Sprint(plain, to)
		sync(db, "off", to)
		fails("birthmark index add runes", "sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://"+blocks, "--assets", "runes", "--db", db)
		fails("missing --source", "index", "add", "--db", db, "runes")
		var a changeAnswer
		ask(t, &a, "index", "add", "--db", db, "--source", "file://"+blocks, "runes")
		if !a.Done || a.Index == nil || a.Index.Name != "runes" || a.Index.Kind != query.AssetsKind || a.Index.Values != 1 {
			t.Errorf("%+v", a)
		}
		fails("already", "index", "add", "--db", db, "--source", "file://"+blocks, "runes")
		fails("cannot be dropped", "index", "drop", "--db", db, "runes")
		sync(db, "runes", chain.Height())
		if got, want := dump(db), dump(with); got != want || len(want) < 1000 {
			t.Errorf("added at height %d: %d bytes of rows differ from %d", to, len(got), len(want))
		}
		var checked check.Result
		ask(t, &checked, "check", "--db", db)
		if !checked.OK {
			t.Errorf("%+v", checked)
		}
	}
}
