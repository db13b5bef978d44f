package export_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/export"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// run exports a database to a folder.
func run(t testing.TB, db *core.DB, dir string, o export.Options) *export.Result {
	t.Helper()
	r, err := db.Export(t.Context(), export.LocalFolder(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// generated returns a database of a variant and its blocks.
func generated(t *testing.T, v modeltest.Variant, seed uint64, n int) (*core.DB, []*model.Block) {
	t.Helper()
	blocks := v.NewGenerator(testseed.Of(t, seed)).Blocks(n)
	db := coretest.Open(t, memory.New(), v, 1<<20)
	coretest.AppendAll(t, db, blocks, 7)
	coretest.Consistent(t, db)
	return db, blocks
}

// The rows of each table and format equal the answers to queries, with chunks, groups, parts and caches of any size.
func TestRowsEqualTheAnswersToQueries(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		db, blocks := generated(t, v, 900, 40)
		export.SetLimits(t, 1+rng.IntN(20), 1+rng.IntN(50), 1+rng.IntN(1000))
		var first map[string][]row
		for i, format := range export.Formats {
			dir := t.TempDir()
			o := export.Options{Format: format, Partition: 1 + rng.IntN(15), Confirmations: rng.IntN(12), Memory: 1 + rng.Int64N(4000)}
			if i == len(export.Formats)-1 {
				o.Memory = export.DefaultMemory
			}
			r := run(t, db, dir, o)
			tables := readTables(t, dir)
			for _, size := range r.Tables {
				if got := len(tables[size.Table]); uint64(got) != size.Rows {
					t.Errorf("%s: %d rows of %s, the result has %d", format, got, size.Table, size.Rows)
				}
			}
			if first == nil {
				first = tables
				compareWithQueries(t, db, blocks, tables)
				compareWithStatus(t, db, tables)
				continue
			}
			for _, name := range export.Tables {
				sameRows(t, format+": "+name, tables[name], first[name])
			}
		}
	})
}

func sameRows(t *testing.T, what string, got, want []row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, expected %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if g, w := fmt.Sprint(got[i]), fmt.Sprint(want[i]); g != w {
			t.Errorf("%s: row %d is\n%s, expected\n%s", what, i, g, w)
			return
		}
	}
}

// compareWithStatus compares the numbers of rows with the totals of the database.
func compareWithStatus(t *testing.T, db *core.DB, tables map[string][]row) {
	t.Helper()
	s, err := db.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	genesis := 0
	for _, r := range tables["transactions"] {
		if r["is_genesis"] == "true" {
			genesis++
		}
	}
	for _, c := range []struct {
		table string
		want  uint64
	}{
		{"blocks", s.Totals.Blocks}, {"transactions", s.Totals.Txs + uint64(genesis)},
		{"outputs", s.Totals.Outputs + s.Totals.GenesisOutputs}, {"inputs", s.Totals.Inputs}, {"assets", s.Totals.Assets},
	} {
		if got := uint64(len(tables[c.table])); got != c.want {
			t.Errorf("%d rows of %s, the status has %d", got, c.table, c.want)
		}
	}
}

// compareWithQueries compares all rows with answers.
func compareWithQueries(t *testing.T, db *core.DB, blocks []*model.Block, tables map[string][]row) {
	t.Helper()
	c := &comparison{
		T: t, db: db, tables: tables, txs: map[string]row{}, outputs: map[string]row{}, inputs: map[string][]row{},
		made: map[string][]row{}, assets: map[string][]row{}, events: map[string][]row{},
	}
	for _, r := range tables["transactions"] {
		c.txs[r["tx_id"]] = r
	}
	for _, r := range tables["outputs"] {
		c.outputs[r["output_id"]] = r
		c.made[r["tx_id"]] = append(c.made[r["tx_id"]], r)
	}
	for _, r := range tables["inputs"] {
		c.inputs[r["tx_id"]] = append(c.inputs[r["tx_id"]], r)
	}
	for _, r := range tables["assets"] {
		c.assets[r["output_id"]] = append(c.assets[r["output_id"]], r)
	}
	for _, r := range tables["asset_events"] {
		c.events[r["tx_id"]] = append(c.events[r["tx_id"]], r)
	}
	next, compared := 0, 0
	for i, b := range blocks {
		c.block(b, tables["blocks"][i])
		for n, txs := range [][]model.Tx{b.Genesis, b.Txs} {
			for j := range txs {
				r := tables["transactions"][next]
				next++
				if b.Place != nil && n == 1 {
					c.equal("the size in a file", r["size"], b.Place.Sizes[j])
				}
				answer, err := db.Tx(t.Context(), db.Chain().FormatHash(txs[j].Hash))
				if err != nil {
					t.Fatal(err)
				}
				if r["hash"] != answer.Hash || (r["is_genesis"] == "true") != (n == 0) {
					t.Fatalf("transaction %v, expected %s", r, answer.Hash)
				}
				if r["block_number"] != fmt.Sprint(answer.Height) {
					continue // the hash is repeated
				}
				compared++
				c.tx(r, answer)
			}
		}
	}
	if next != len(tables["transactions"]) || compared < next/2 {
		t.Errorf("%d of %d transactions, %d compared", next, len(tables["transactions"]), compared)
	}
}

type comparison struct {
	*testing.T
	db     *core.DB
	tables map[string][]row

	txs, outputs                 map[string]row   // by id
	inputs, made, assets, events map[string][]row // by transaction, assets by output
}

func (c *comparison) equal(what string, got, want any) {
	c.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("%s is %v, expected %v", what, got, want)
	}
}

func (c *comparison) block(b *model.Block, r row) {
	c.Helper()
	sums, err := c.db.BlockTotals(c.Context(), c.db.Chain().FormatHash(b.Hash))
	if err != nil {
		c.Fatal(err)
	}
	what := "block " + r["block_number"] + ": "
	c.equal(what+"height", r["block_number"], sums.Height)
	c.equal(what+"hash", r["hash"], sums.Hash)
	c.equal(what+"parent", r["parent_hash"], c.db.Chain().FormatHash(b.Parent))
	c.equal(what+"time", r["block_timestamp"], clock(b.Time))
	c.equal(what+"size", r["size"], sums.Size)
	c.equal(what+"transactions", r["transaction_count"], sums.TxCount)
	c.equal(what+"inputs", r["input_count"], sums.Inputs)
	c.equal(what+"outputs", r["output_count"], sums.Outputs)
	c.equal(what+"input value", r["input_value"], sums.InputValue)
	c.equal(what+"output value", r["output_value"], sums.OutputValue)
	c.equal(what+"fee", r["fee"], orNull(sums.Fees))
	reward := null
	if c.db.Chain().Traits().Coinbase && len(b.Txs) > 0 && len(b.Txs[0].Inputs) == 0 {
		sum := uint64(0)
		for _, o := range b.Txs[0].Outputs {
			sum += o.Value
		}
		reward = fmt.Sprint(sum)
	}
	c.equal(what+"reward", r["reward"], reward)
	if !strings.Contains(r["header"], fmt.Sprintf("%x", b.Header)) {
		c.Errorf("%s header %s", what, r["header"])
	}
}

func orNull(text string) string {
	if text == "" {
		return null
	}
	return text
}

func clock(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.DateTime) }

func (c *comparison) tx(r row, a *query.TxAnswer) {
	c.Helper()
	what := "transaction " + a.Hash + ": "
	when := null
	if a.BlockHash != "" {
		when = clock(a.Time)
	}
	c.equal(what+"height", r["block_number"], a.Height)
	c.equal(what+"time", r["block_timestamp"], when)
	c.equal(what+"index", r["index"], a.Index)
	c.equal(what+"fee", r["fee"], orNull(a.Fee))
	c.equal(what+"coinbase", r["is_coinbase"], a.Coinbase)
	c.equal(what+"inputs", r["input_count"], len(a.Inputs))
	c.equal(what+"outputs", r["output_count"], len(a.Outputs))
	c.equal(what+"mints", r["mint_count"], len(a.Mints))
	if size, ok := r["size"]; ok && a.Size > 0 {
		c.equal(what+"size", size, a.Size)
	}
	in, out := new(big.Int), new(big.Int)
	inputs, outputs := c.inputs[r["tx_id"]], c.made[r["tx_id"]]
	if len(inputs) != len(a.Inputs) || len(outputs) != len(a.Outputs) {
		c.Fatalf("%s%d inputs and %d outputs", what, len(inputs), len(outputs))
	}
	for i := range a.Outputs {
		add(out, a.Outputs[i].Value)
		c.output(what+"output: ", outputs[i], &a.Outputs[i], r, when)
	}
	for i := range a.Inputs {
		add(in, a.Inputs[i].Output.Value)
		c.input(what+"input: ", inputs[i], &a.Inputs[i], r, when)
	}
	c.equal(what+"input value", r["input_value"], in)
	c.equal(what+"output value", r["output_value"], out)
	var events, want []string
	for _, e := range c.events[r["tx_id"]] {
		c.equal(what+"time of an event", e["block_timestamp"], when)
		c.equal(what+"block of an event", e["block_number"], a.Height)
		if e["minted"] != null || e["minted_text"] != "" && e["minted_text"] != null {
			events = append(events, e["asset"]+" "+exact(e, "minted"))
		}
		if e["burned"] != null || e["burned_text"] != "" && e["burned_text"] != null {
			burned, _ := new(big.Int).SetString(exact(e, "burned"), 10)
			events = append(events, e["asset"]+" "+burned.Neg(burned).String())
		}
	}
	for _, m := range a.Mints {
		want = append(want, m.Asset+" "+m.Amount)
	}
	slices.Sort(events)
	slices.Sort(want)
	c.equal(what+"mints and burns", events, want)
}

// exact returns an amount, from the text if there is one.
func exact(r row, column string) string {
	if text, ok := r[column+"_text"]; ok {
		return text
	}
	return r[column]
}

func add(sum *big.Int, amount string) {
	n, _ := new(big.Int).SetString(amount, 10)
	sum.Add(sum, n)
}

func (c *comparison) output(what string, r row, a *query.OutputAnswer, tx row, when string) {
	c.Helper()
	c.equal(what+"block", r["block_number"], tx["block_number"])
	c.equal(what+"time", r["block_timestamp"], when)
	c.equal(what+"index", r["index"], a.Index)
	c.equal(what+"value", r["value"], a.Value)
	c.keys(what, r, a)
	c.equal(what+"assets", r["asset_count"], len(a.Assets))
	assets := c.assets[r["output_id"]]
	if len(assets) != len(a.Assets) {
		c.Fatalf("%s%d rows of assets, expected %d", what, len(assets), len(a.Assets))
	}
	for i, e := range a.Assets {
		c.equal(what+"asset", assets[i]["asset"], e.Asset)
		c.equal(what+"amount", exact(assets[i], "amount"), e.Amount)
		c.equal(what+"mint", assets[i]["is_mint"], e.Action == "mint")
		c.equal(what+"index of the asset", assets[i]["index"], i)
		c.equal(what+"time of the asset", assets[i]["block_timestamp"], when)
		c.equal(what+"transaction of the asset", assets[i]["tx_id"], tx["tx_id"])
	}
}

// keys compares the values of the indexes of an output.
func (c *comparison) keys(what string, r row, a *query.OutputAnswer) {
	c.Helper()
	for _, x := range c.db.Chain().Indexes() {
		want := any(null)
		if x.Kind == model.ManyValued {
			want = "[]"
		}
		switch v := a.Keys[x.Name].(type) {
		case string:
			want = v
		case []string:
			want = listText(v)
		}
		c.equal(what+x.Name, r[x.Name], want)
	}
}

func (c *comparison) input(what string, r row, a *query.InputAnswer, tx row, when string) {
	c.Helper()
	c.equal(what+"block", r["block_number"], tx["block_number"])
	c.equal(what+"time", r["block_timestamp"], when)
	c.equal(what+"index", r["index"], a.Index)
	c.equal(what+"value", r["value"], a.Output.Value)
	spent := c.outputs[r["spent_output_id"]]
	c.equal(what+"spent output", spent["index"], a.Output.Index)
	c.equal(what+"spent transaction", c.txs[spent["tx_id"]]["hash"], a.Output.Tx)
	c.equal(what+"address", r["address"], spent["address"])
	c.equal(what+"id of the address", r["address_id"], spent["address_id"])
	height, _ := strconv.Atoi(tx["block_number"])
	c.equal(what+"age", r["age"], height-int(a.Output.Height))
}

// sameFolder compares the files of two exports.
func sameFolder(t *testing.T, what, got, want string) {
	t.Helper()
	a, b := files(t, got), files(t, want)
	for name, content := range b {
		if a[name] != content {
			t.Errorf("%s: %s differs, or is missing", what, name)
			if name == "/"+export.ManifestName {
				t.Errorf("%s\nexpected\n%s", a[name], content)
			}
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			t.Errorf("%s: %s should not exist", what, name)
		}
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sha256Of(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func contains(list []string, name string) bool { return slices.Contains(list, name) }

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
