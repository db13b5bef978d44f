package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api"
	"birthmark/chains"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
)

// customSettings defines custom indexes over the first blocks of Bitcoin.
const customSettings = `chain: bitcoin
indexes:
  address: {}
  first_pushes:
    kind: many-valued
    when: "output.script_type == 'p2pk' and block.height > 0"
    value: "map(output.pushes, #[0:1])"
  bits: { value: "block.bits" }
`

func TestCustomIndexesAreDecodedByName(t *testing.T) {
	slow(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, file, customSettings)
	blocks := realBlocks(t)
	for _, c := range []struct {
		indexes, want string
	}{
		{"", `"keys":{"address":"12c6DSiU4Rq3P4ZxziKxzrL5LmMBrzjrJX","bits":"1d00ffff","first_pushes":["04"]}`},
		{"first_pushes", `"keys":{"first_pushes":["04"]}`},
	} {
		args := []string{"decode", "--config", file, blocks}
		if c.indexes != "" {
			args = append(args, "--index", c.indexes)
		}
		r := birthmark(args...)
		lines := strings.Split(r.stdout, "\n")
		if r.status != exitDone || len(lines) < 2 || !strings.Contains(lines[1], c.want) {
			t.Errorf("%q: block 1 has no %s: %.400s%s", c.indexes, c.want, lines[min(1, len(lines)-1)], r.stderr)
		}
		if strings.Contains(lines[0], "first_pushes") {
			t.Errorf("%q: the condition is false for %.400s", c.indexes, lines[0])
		}
	}
}

// The output of config is a settings file with the same definitions.
func TestConfigPrintsDefinitions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, file, customSettings)
	first := birthmark("config", "--config", file)
	write(t, file, first.stdout)
	if again := birthmark("config", "--config", file); first.status != exitDone || again != first || !strings.Contains(first.stdout, "value: 'map(output.pushes, #[0:1])'\n") {
		t.Errorf("%+v, read again %+v", first, again)
	}
}

// An error of an invalid index contains its position in the settings, for every command that reads them.
func TestErrorsOfDefinitionsHaveAPosition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	for _, c := range []struct{ index, message string }{
		{"memo:\n    value: output.dat[0:4]", `:4: index memo: value: 8: unknown field output\.dat, did you mean data\? \(output\.‸dat\[0:4\]\)$`},
		{"memo:\n    value: output.data\n    when: output.value", `:5: index memo: when: 1: expected true or false, got number \(‸output\.value\)$`},
		{"address: { value: output.data }", `:3: index address: bitcoin has a built-in index of that name$`},
		{"Memo: { value: output.data }", `:3: index Memo: invalid name: expected at most`},
		{"asset: { value: output.data }", `:3: index asset: the name is reserved`},
		{"memo: { value: output.pushes }", `:3: index memo: value: 1: a list needs kind many-valued`},
	} {
		write(t, file, "chain: bitcoin\nindexes:\n  "+c.index+"\n")
		for _, command := range []string{"config", "decode -", "sync --source file:///nowhere --db " + dir + "/db"} {
			wantFailure(t, exitUsage, "bad_definition", "^"+file+c.message, append(strings.Fields(command), "--config", file)...)
		}
	}
}

func TestFieldsInTheDocsAreCurrent(t *testing.T) {
	r := birthmark("fields")
	docs := filepath.Join("..", "..", "docs", "fields.md")
	if *update {
		write(t, docs, r.stdout)
	}
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if r.status != exitDone || string(text) != r.stdout {
		t.Errorf("%s differs from the output of birthmark fields: run make docs; %s", docs, r.stderr)
	}
}

func TestFieldsOfEveryChainArePrinted(t *testing.T) {
	t.Parallel()
	for _, chain := range chains.Names() {
		var a api.FieldsAnswer
		r := birthmark("fields", "--chain", chain, "--json")
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || len(a.Chains) != 1 || a.Chains[0].Chain != chain || len(a.Chains[0].Fields) < 20 || len(a.Functions) < 20 {
			t.Errorf("%s: %v: %+v", chain, err, r)
			continue
		}
		for _, f := range a.Chains[0].Fields {
			if f.Name == "" || f.Type == "" || f.Doc == "" || strings.Contains(f.Doc+f.Example, "|") {
				t.Errorf("%s: %+v", chain, f)
			}
		}
	}
	wantFailure(t, exitUsage, "unknown_chain", `^--chain: unknown chain "moon"`, "fields", "--chain", "moon")
}

// The issues, transfers and burns of colored coins are in the history of the index, as docs/indexes.md describes.
func TestHistoryOfAColorHasIssuesTransfersAndBurns(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "indexes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(text), "### Colored coins")
	_, recipe, _ = strings.Cut(recipe, "```yaml\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	dir := t.TempDir()
	file, blocks := filepath.Join(dir, "birthmark.yaml"), filepath.Join(dir, "blk00000.dat")
	write(t, file, "chain: bitcoin\nnetwork: regtest\nsource: file://"+blocks+"\ndb: "+dir+"/db\n"+recipe)

	color := bytes.Repeat([]byte{0xc1}, 33)
	colored := func(units int64) *wire.TxOut {
		return wire.NewTxOut(units, slices.Concat([]byte{33}, color, []byte{0xbc, 0x51}))
	}
	chain := bitcointest.NewChain()
	chain.Mine()
	issue := bitcointest.Spend(chain.Tip().Transactions[0], 0, colored(100), wire.NewTxOut(1000, []byte{0x51}))
	transfer := bitcointest.Spend(issue, 0, colored(60), colored(40))
	burn := bitcointest.Spend(transfer, 0, colored(10), wire.NewTxOut(50, []byte{0x51}))
	chain.Mine(issue, transfer)
	chain.Mine(burn)
	write(t, blocks, string(bitcointest.BlockFile(wire.TestNet, chain.Blocks()...)))

	ask(t, nil, "sync", "--config", file)
	var history query.HistoryAnswer
	ask(t, &history, "history", "--config", file, "--order", "asc", "color", hex.EncodeToString(color))
	for i, want := range []struct{ hash, received, sent string }{
		{issue.TxHash().String(), "100", "0"}, {transfer.TxHash().String(), "100", "100"}, {burn.TxHash().String(), "10", "60"},
	} {
		if len(history.Txs) != 3 || history.Txs[i].Hash != want.hash || history.Txs[i].Received != want.received || history.Txs[i].Sent != want.sent {
			t.Fatalf("transaction %d is not %+v: %+v", i, want, history)
		}
	}
	var balance query.BalanceAnswer
	ask(t, &balance, "balance", "--config", file, "color", hex.EncodeToString(color))
	if balance.Balance != "50" || balance.Received != "210" || balance.Sent != "160" {
		t.Errorf("%+v", balance)
	}
}
