//go:build interop

package cli

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/export"
	"birthmark/core/query"
	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/rocks"
)

// duckDB is a running tools/interop/duckdb.
type duckDB struct {
	in  *json.Encoder
	out *bufio.Reader
}

type duckAnswer struct {
	Columns []string
	Rows    [][]string
	Error   string
}

// startDuckDB builds the program if needed and starts it in a folder.
func startDuckDB(t *testing.T, dir string) *duckDB {
	t.Helper()
	program := filepath.Join(t.TempDir(), "duckdb")
	build := exec.Command("go", "-C", filepath.Join("..", "..", "tools", "interop", "duckdb"), "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_LDFLAGS=", "CGO_CFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build tools/interop/duckdb: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &duckDB{json.NewEncoder(in), bufio.NewReaderSize(out, 1<<20)}
}

// ask runs a statement.
func (d *duckDB) ask(t *testing.T, statement string) [][]string {
	t.Helper()
	if err := d.in.Encode(statement); err != nil {
		t.Fatal(err)
	}
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var a duckAnswer
	if err := json.Unmarshal(line, &a); err != nil || a.Error != "" {
		t.Fatalf("%s\n%s (%v)", statement, a.Error, err)
	}
	return a.Rows
}

// sqlQuery is a question of docs/sql.md.
type sqlQuery struct{ title, text string }

// sqlPage returns the views of docs/sql.md and the questions of a section.
func sqlPage(t *testing.T, section string) (views []string, queries []sqlQuery) {
	t.Helper()
	page := readText(t, filepath.Join("..", "..", "docs", "sql.md"))
	for _, part := range strings.Split(page, "\n## ") {
		title, body, _ := strings.Cut(part, "\n")
		if title == "Views" {
			text := regexp.MustCompile("(?s)```sql\n(.*?)```").FindStringSubmatch(body)[1]
			views = strings.Split(strings.TrimSpace(text), "\n")
		}
		if title != section {
			continue
		}
		for _, m := range regexp.MustCompile("(?s)### (.*?)\n.*?```sql\n(.*?)```").FindAllStringSubmatch(body, -1) {
			queries = append(queries, sqlQuery{m[1], m[2]})
			if n := strings.Count(m[2], "\n"); n > 10 {
				t.Errorf("%s has %d lines", m[1], n)
			}
		}
	}
	return views, queries
}

// sqlCheck compares the rows of a question with answers.
type sqlCheck func(s *sqlSession, rows [][]string)

// sqlSession is the questions about one database.
type sqlSession struct {
	*testing.T
	db      string
	duck    *duckDB
	address string // the richest
	text    string // of the question
	status  struct {
		Tip    struct{ Height uint64 }
		Totals struct {
			Blocks, Txs, Inputs, Outputs, Assets, Unspent uint64
			GenesisOutputs                                uint64 `json:"genesis_outputs"`
			UnspentValue                                  string `json:"unspent_value"`
		}
		Indexes []struct {
			Name   string
			Values uint64
		}
	}
}

func (s *sqlSession) ask(to any, args ...string) {
	s.Helper()
	ask(s.T, to, append(args, "--db", s.db)...)
}

func (s *sqlSession) equal(what string, got, want any) {
	s.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// sum adds a column of rows.
func (s *sqlSession) sum(rows [][]string, column int) *big.Int {
	s.Helper()
	total := new(big.Int)
	for _, r := range rows {
		if r[column] == "null" {
			continue
		}
		n, ok := new(big.Int).SetString(r[column], 10)
		if !ok {
			s.Fatalf("%q is not an integer", r[column])
		}
		total.Add(total, n)
	}
	return total
}

// stats returns the numbers of a series by day.
func (s *sqlSession) stats(series string) map[string]string {
	s.Helper()
	var a query.StatisticsAnswer
	s.ask(&a, "stats", series, "--by", "day", "--limit", "10000")
	days := map[string]string{}
	for _, v := range a.Values {
		days[time.Unix(v.From, 0).UTC().Format(time.DateTime)] = *v.Value
	}
	return days
}

// series compares a column of rows by day with a series; a day without rows is 0.
func (s *sqlSession) series(rows [][]string, column int, series string) {
	s.Helper()
	days := map[string]string{}
	for _, r := range rows {
		days[r[0]] = strings.Replace(r[column], "null", "0", 1)
	}
	for day, want := range s.stats(series) {
		if got := days[day]; got != want && (got != "" || want != "0") {
			s.Errorf("%s on %s: %s, expected %s", series, day, got, want)
		}
	}
}

type sqlBalance struct {
	Balance, Received, Sent string
	OutputCount             uint64  `json:"output_count"`
	UnspentCount            *uint64 `json:"unspent_count"`
	Assets                  []struct{ Asset, Balance string }
}

func (s *sqlSession) balance(index, value string) (a sqlBalance) {
	s.Helper()
	s.ask(&a, "balance", index, value)
	return a
}

// allAssets returns the totals of all assets.
func (s *sqlSession) allAssets() map[string]query.AssetAnswer {
	s.Helper()
	all, after := map[string]query.AssetAnswer{}, []string{}
	for {
		var a query.AssetsAnswer
		s.ask(&a, append([]string{"assets", "--limit", "1000"}, after...)...)
		for _, asset := range a.Assets {
			all[asset.Asset] = asset
		}
		if a.Next == nil {
			return all
		}
		after = []string{"--after", *a.Next}
	}
}

func (s *sqlSession) richest(rows [][]string) {
	s.Helper()
	var a query.RichestAnswer
	s.ask(&a, "richest", "address", "--limit", strconv.Itoa(len(rows)))
	var got, want []string
	for i, r := range rows {
		got, want = append(got, r[1]), append(want, a.Values[i].Balance)
		s.equal("balance of "+r[0], r[1], s.balance("address", r[0]).Balance)
	}
	s.equal("highest balances", got, want)
}

// holders compares assets, numbers of holders and amounts.
func (s *sqlSession) holders(rows [][]string) {
	s.Helper()
	all, most := s.allAssets(), uint64(0)
	for _, a := range all {
		most = max(most, *a.HolderCount)
	}
	for i, r := range rows {
		a := all[r[0]]
		s.equal("holders of "+r[0], r[1], *a.HolderCount)
		s.equal("supply of "+r[0], r[2], a.Supply)
		if i == 0 {
			s.equal("most holders", r[1], most)
		}
	}
}

// sqlChecks are the checks of the questions by title.
var sqlChecks = map[string]sqlCheck{
	"Fees per day": func(s *sqlSession, rows [][]string) { s.series(rows, 1, "fees") },
	"Transactions and value moved per day": func(s *sqlSession, rows [][]string) {
		s.series(rows, 1, "transactions")
		s.series(rows, 2, "output_value")
	},
	"New addresses per day":    func(s *sqlSession, rows [][]string) { s.series(rows, 1, "address.new") },
	"Active addresses per day": func(s *sqlSession, rows [][]string) { s.series(rows, 1, "address.active") },
	"Supply at the end of each day": func(s *sqlSession, rows [][]string) {
		s.series(rows, 1, "supply")
		s.equal("supply", rows[len(rows)-1][1], s.status.Totals.UnspentValue)
	},
	"Revenue of miners per month": func(s *sqlSession, rows [][]string) {
		issued := s.sum(rows, 1)
		s.equal("revenue without fees", issued.Sub(issued, s.sum(rows, 2)), s.status.Totals.UnspentValue)
	},
	"Outputs by type per month": func(s *sqlSession, rows [][]string) {
		counts := map[string]uint64{}
		for _, r := range rows {
			n, _ := strconv.ParseUint(r[2], 10, 64)
			counts[r[1]] += n
		}
		for kind, n := range counts {
			s.equal("outputs of type "+kind, n, s.balance("script_type", kind).OutputCount)
		}
		s.equal("outputs", s.sum(rows, 2), s.status.Totals.Outputs)
	},
	"Unspent outputs by age": func(s *sqlSession, rows [][]string) {
		s.equal("unspent outputs", s.sum(rows, 1), s.status.Totals.Unspent)
		s.equal("their value", s.sum(rows, 2), s.status.Totals.UnspentValue)
	},
	"Age of spent outputs":         func(s *sqlSession, rows [][]string) { s.equal("inputs", s.sum(rows, 1), s.status.Totals.Inputs) },
	"Coin days destroyed per day":  (*sqlSession).coinDays,
	"Richest addresses":            (*sqlSession).richest,
	"Richest addresses of ada":     (*sqlSession).richest,
	"Assets with the most holders": (*sqlSession).holders,
	"Tokens with the most holders": (*sqlSession).holders,
	"Balance of an address after each transaction": func(s *sqlSession, rows [][]string) {
		var a query.HistoryAnswer
		s.ask(&a, "history", "address", s.address, "--limit", "10000")
		if len(rows) != len(a.Txs) || len(rows) == 0 {
			s.Fatalf("%d transactions, expected %d", len(rows), len(a.Txs))
		}
		for i, tx := range a.Txs {
			s.equal("transaction and balance", rows[i], []string{tx.Hash, fmt.Sprint(tx.Height), tx.Balance})
		}
	},
	"Flows of labelled addresses per day": func(s *sqlSession, rows [][]string) {
		b := s.balance("address", s.address)
		s.equal("received and sent", []any{s.sum(rows, 2), s.sum(rows, 3)}, []any{b.Received, b.Sent})
	},
	"Use of addresses": func(s *sqlSession, rows [][]string) {
		s.equal("addresses", s.sum(rows, 1), s.status.Indexes[0].Values)
	},
	"Highest fees": func(s *sqlSession, rows [][]string) {
		for _, r := range rows {
			var tx query.TxAnswer
			s.ask(&tx, "tx", r[0])
			in := new(big.Int)
			for _, i := range tx.Inputs {
				n, _ := new(big.Int).SetString(i.Output.Value, 10)
				in.Add(in, n)
			}
			s.equal("transaction "+r[0], r[1:], []any{tx.Fee, in, len(tx.Inputs), len(tx.Outputs), tx.Height})
		}
	},
	"Supply of assets": func(s *sqlSession, rows [][]string) {
		all := s.allAssets()
		s.equal("assets", len(rows), len(all))
		for _, r := range rows {
			a := all[r[0]]
			s.equal("asset "+r[0], r[1:], []any{a.Minted, a.Burned, a.MintCount, a.BurnCount})
		}
	},
	"Mints per policy": func(s *sqlSession, rows [][]string) {
		assets, mints := map[string]int{}, map[string]uint64{}
		for id, a := range s.allAssets() {
			assets[id[:56]]++
			mints[id[:56]] += a.MintCount
		}
		for _, r := range rows {
			s.equal("policy "+r[0], r[1:], []any{assets[r[0]], mints[r[0]]})
		}
	},
	"Assets of an address": func(s *sqlSession, rows [][]string) {
		var got, want []string
		for _, r := range rows {
			got = append(got, r[0]+" "+r[1])
		}
		for _, a := range s.balance("address", s.address).Assets {
			want = append(want, a.Asset+" "+a.Balance)
		}
		slices.Sort(want)
		s.equal("assets", got, want)
	},
	"Blocks, transactions and fees per epoch": func(s *sqlSession, rows [][]string) {
		fees := new(big.Int)
		for _, v := range s.stats("fees") {
			n, _ := new(big.Int).SetString(v, 10)
			fees.Add(fees, n)
		}
		s.equal("sums", []any{s.sum(rows, 1), s.sum(rows, 2), s.sum(rows, 3)}, []any{s.status.Totals.Blocks, s.status.Totals.Txs, fees})
	},
	"Blocks of pools": (*sqlSession).pools,
	"Outputs by number of assets": func(s *sqlSession, rows [][]string) {
		s.equal("outputs", s.sum(rows, 1), s.status.Totals.Outputs+s.status.Totals.GenesisOutputs)
		entries := uint64(0)
		for _, r := range rows {
			assets, _ := strconv.ParseUint(r[0], 10, 64)
			outputs, _ := strconv.ParseUint(r[1], 10, 64)
			entries += assets * outputs
		}
		s.equal("assets", entries, s.status.Totals.Assets)
	},
	"Contracts by value locked": func(s *sqlSession, rows [][]string) {
		for _, r := range rows {
			b := s.balance("address", r[0])
			s.equal("contract "+r[0], r[1:3], []any{b.Balance, *b.UnspentCount})
		}
	},
	"Tokens minted and burned per month": func(s *sqlSession, rows [][]string) {
		mints, burns := uint64(0), uint64(0)
		for _, a := range s.allAssets() {
			mints, burns = mints+a.MintCount, burns+a.BurnCount
		}
		s.equal("mints and burns", []any{s.sum(rows, 1), s.sum(rows, 2)}, []any{mints, burns})
	},
	"Boxes that pay storage rent":  (*sqlSession).rent,
	"Difficulty and votes per day": (*sqlSession).difficulty,
}

// coinDays compares with the times in the answers about all transactions.
func (s *sqlSession) coinDays(rows [][]string) {
	s.Helper()
	want := map[string]float64{}
	s.eachTx(func(tx *query.TxAnswer) {
		day := time.Unix(tx.Time, 0).UTC().Truncate(24 * time.Hour).Format(time.DateTime)
		for _, in := range tx.Inputs {
			value, _ := strconv.ParseFloat(in.Output.Value, 64)
			want[day] += value / 1e8 * float64(tx.Time-in.Output.BlockTime) / 86400
		}
	})
	if len(rows) != len(want) {
		s.Errorf("%d days, expected %d", len(rows), len(want))
	}
	for _, r := range rows {
		if got, err := strconv.ParseFloat(r[1], 64); err != nil || got < want[r[0]]*0.999999 || got > want[r[0]]*1.000001 {
			s.Errorf("%s: %s coin days, expected %f", r[0], r[1], want[r[0]])
		}
	}
}

// sqlHeader is the fields of headers in questions.
type sqlHeader struct {
	Votes, Difficulty string
	IssuerVkey        string `json:"issuer_vkey"`
}

// eachBlock calls do with every block.
func (s *sqlSession) eachBlock(do func(*query.BlockAnswer, *sqlHeader)) {
	s.Helper()
	visit := func(b *query.BlockAnswer) {
		header := &sqlHeader{}
		text, err := json.Marshal(b.Header)
		if err == nil {
			err = json.Unmarshal(text, header)
		}
		if err != nil {
			s.Fatal(err)
		}
		do(b, header)
	}
	first := s.status.Tip.Height + 1 - s.status.Totals.Blocks
	inProcess := s.opened(func(db *core.DB) {
		for h := first; h <= s.status.Tip.Height; h++ {
			b, err := db.Block(s.Context(), fmt.Sprint(h))
			if err != nil {
				s.Fatal(err)
			}
			visit(b)
		}
	})
	for h := first; !inProcess && h <= s.status.Tip.Height; h++ {
		b := &query.BlockAnswer{}
		s.ask(b, "block", fmt.Sprint(h))
		visit(b)
	}
}

// eachTx calls do with every transaction of blocks.
func (s *sqlSession) eachTx(do func(*query.TxAnswer)) {
	s.Helper()
	s.opened(func(db *core.DB) {
		for h := s.status.Tip.Height + 1 - s.status.Totals.Blocks; h <= s.status.Tip.Height; h++ {
			block, err := db.Block(s.Context(), fmt.Sprint(h))
			if err != nil {
				s.Fatal(err)
			}
			for _, hash := range block.Txs {
				tx, err := db.Tx(s.Context(), hash)
				if err != nil {
					s.Fatal(err)
				}
				do(tx)
			}
		}
	})
}

// pools compares with the headers of all blocks.
func (s *sqlSession) pools(rows [][]string) {
	s.Helper()
	type pool struct {
		key                string
		blocks, txs, bytes int
	}
	pools := map[string]*pool{}
	s.eachBlock(func(b *query.BlockAnswer, h *sqlHeader) {
		if h.IssuerVkey == "" {
			return
		}
		p := pools[h.IssuerVkey]
		if p == nil {
			p = &pool{key: h.IssuerVkey}
			pools[p.key] = p
		}
		p.blocks, p.txs, p.bytes = p.blocks+1, p.txs+b.TxCount, p.bytes+b.Size
	})
	order := slices.SortedFunc(maps.Values(pools), func(a, b *pool) int {
		return cmp.Or(b.blocks-a.blocks, strings.Compare(a.key, b.key))
	})
	var want [][]string
	for _, p := range order {
		want = append(want, []string{p.key, fmt.Sprint(p.blocks), fmt.Sprint(p.txs), fmt.Sprint(math.Round(float64(p.bytes) / float64(p.blocks)))})
	}
	if len(want) == 0 {
		s.Error("no block has a pool")
	}
	s.equal("pools", rows, want)
}

// difficulty compares with the headers of all blocks.
func (s *sqlSession) difficulty(rows [][]string) {
	s.Helper()
	type day struct {
		difficulty    float64
		blocks, votes int
	}
	days := map[string]*day{}
	s.eachBlock(func(b *query.BlockAnswer, h *sqlHeader) {
		name := time.Unix(b.Time, 0).UTC().Truncate(24 * time.Hour).Format(time.DateTime)
		d := days[name]
		if d == nil {
			d = &day{}
			days[name] = d
		}
		difficulty, err := strconv.ParseFloat(h.Difficulty, 64)
		if err != nil {
			s.Fatal(err)
		}
		d.difficulty, d.blocks = d.difficulty+difficulty, d.blocks+1
		if h.Votes != "000000" {
			d.votes++
		}
	})
	s.equal("days", len(rows), len(days))
	for _, r := range rows {
		d := days[r[0]]
		if d == nil {
			s.Fatalf("no block has the day %s", r[0])
		}
		s.equal("blocks and votes of "+r[0], r[2:], []int{d.blocks, d.votes})
		average := d.difficulty / float64(d.blocks)
		if got, err := strconv.ParseFloat(r[1], 64); err != nil || math.Abs(got-average) > average*1e-9 {
			s.Errorf("difficulty of %s: %s, expected %f", r[0], r[1], average)
		}
	}
}

// rent compares with the unspent outputs of all transactions. Chains of tests are too short for storage rent, so that it
// also asks for boxes with less blocks after them.
func (s *sqlSession) rent(rows [][]string) {
	s.Helper()
	const period = 1_051_200
	if n := s.status.Totals.Blocks; n < period && len(rows) > 0 {
		s.Errorf("%d boxes of a chain with %d blocks", len(rows), n)
	}
	after := func(blocks uint64) [][]string {
		replace := strings.NewReplacer(fmt.Sprint(period), fmt.Sprint(blocks), " LIMIT 100", "")
		if text := replace.Replace(s.text); text != s.text {
			return s.duck.ask(s.T, text)
		}
		s.Fatal("the question has neither the period nor a limit")
		return nil
	}
	all := after(0)
	s.equal("boxes and their value", []any{len(all), s.sum(all, 2)}, []any{s.status.Totals.Unspent, s.status.Totals.UnspentValue})
	blocks := s.status.Totals.Blocks / 2
	var want [][]string
	s.eachTx(func(tx *query.TxAnswer) {
		for _, o := range tx.Outputs {
			if o.SpentBy.Value == nil && s.status.Tip.Height-uint64(o.Height) >= blocks {
				want = append(want, []string{fmt.Sprint(o.Keys["box_id"]), fmt.Sprint(o.Keys["address"]), o.Value, fmt.Sprint(o.Height)})
			}
		}
	})
	if len(want) == 0 {
		s.Errorf("no box has %d blocks after it", blocks)
	}
	got := slices.DeleteFunc(after(blocks), func(r []string) bool { return r[3] == "0" }) // of the genesis
	s.equal("old boxes", got, want)
}

// opened calls do with the database. It returns false if the network has a name of its own.
func (s *sqlSession) opened(do func(*core.DB)) bool {
	s.Helper()
	store, err := rocks.Open(s.db, rocks.Options{ReadOnly: true})
	if err != nil {
		s.Fatal(err)
	}
	defer store.Close()
	id, _, err := core.Identify(s.Context(), store)
	if err != nil {
		s.Fatal(err)
	}
	chain, err := chains.New(id.Chain, id.Network)
	if _, code := model.KindOf(err); code == "unknown_network" {
		return false
	}
	if err != nil {
		s.Fatal(err)
	}
	db, err := core.Open(s.Context(), store, core.Options{Chain: chain, ReadOnly: true})
	if err != nil {
		s.Fatal(err)
	}
	do(db)
	return true
}

// sqlSettings are the settings of the databases. The list has the indexes after address.
func sqlSettings(indexes string) string {
	return "statistics: true\nindexes:\n  address: { balance: true, unspent: true, history: true }\n" + indexes
}

// fetch downloads the files that serve offers below /export/ to a folder, in the ranges of a reader of Parquet: the
// length of the footer, the footer, and the rest in parts. It returns the URL of the manifest.
func (s *sqlSession) fetch(settings, dir string, sync []string) (manifest string) {
	s.Helper()
	config := settings + ".serve.yaml"
	write(s.T, config, readText(s.T, settings)+"export: { dir: "+dir+".served }\n")
	server := startServer(s.T, append([]string{"--config", config, "--db", s.db}, sync...)...)
	until(s.T, "the tables", func() bool { return exportedTip(dir+".served") == int(s.status.Tip.Height) })
	var status struct{ Chains []struct{ Name string } }
	server.get(s.T, "v1").into(s.T, &status)
	base := "export/" + status.Chains[0].Name + "/"
	var m export.Manifest
	server.get(s.T, base+export.ManifestName).into(s.T, &m)
	for _, part := range m.Parts {
		for _, f := range part.Files {
			size, content := int(f.Bytes), make([]byte, f.Bytes)
			read := func(from, to int) {
				s.Helper()
				status, body := rangeOf(s.T, server, base+f.Path, from, to)
				if status != http.StatusPartialContent || copy(content[from:to], body) != to-from {
					s.Fatalf("%s, bytes %d to %d: status %d, %d bytes", f.Path, from, to, status, len(body))
				}
			}
			read(size-8, size)
			footer := size - 8 - int(binary.LittleEndian.Uint32(content[size-8:]))
			if footer < 4 || string(content[size-4:]) != "PAR1" {
				s.Fatalf("%s: the footer begins at %d", f.Path, footer)
			}
			read(footer, size-8)
			for from := 0; from < footer; from += 100_000 {
				read(from, min(footer, from+100_000))
			}
			s.equal("SHA-256 of "+f.Path, fmt.Sprintf("%x", sha256.Sum256(content)), f.SHA256)
			file := filepath.Join(dir, f.Path)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				s.Fatal(err)
			}
			write(s.T, file, string(content))
		}
	}
	return server.URL + base + export.ManifestName
}

// Every question in docs/sql.md, by DuckDB over the files, has the answers of the database. For real chains, serve
// writes the files and offers them by URL, where Polars reads them.
func TestInteropDuckDBAnswersTheQuestionsOfThePage(t *testing.T) {
	rng := testseed.Rand(t)
	for _, c := range []struct {
		name, section, indexes string
		sync                   func(t *testing.T, dir string) []string
		partition              string // "": the files that serve writes and offers
	}{
		{"generated bitcoin", "Bitcoin", "  script_type: {}\n", func(t *testing.T, dir string) []string {
			ask(t, nil, "bench", "generate", "--chain", "bitcoin", "--txs", "4000", "--block-txs", "40", dir)
			return []string{"--chain", "bitcoin", "--network", "regtest", "--source", "file://" + filepath.Join(dir, "blocks")}
		}, "50"},
		{"bitcoin", "Bitcoin", "  script_type: {}\n", func(t *testing.T, _ string) []string {
			return []string{"--chain", "bitcoin", "--source", "file://" + realBlocks(t)}
		}, ""},
		{"generated cardano", "Cardano", "", func(t *testing.T, dir string) []string {
			ask(t, nil, "bench", "generate", "--chain", "cardano", "--txs", "3000", dir)
			return []string{"--chain", "cardano", "--network", filepath.Join(dir, "genesis"), "--source", "file://" + filepath.Join(dir, "immutable")}
		}, "100"},
		{"cardano preview", "Cardano", "", func(t *testing.T, _ string) []string {
			return []string{"--chain", "cardano", "--network", "preview", "--source", "file://" + testblocks.Path(t, "cardano", "dingo-immutable")}
		}, ""},
		{"generated ergo", "Ergo", "", func(t *testing.T, dir string) []string {
			ask(t, nil, "bench", "generate", "--chain", "ergo", "--txs", "3000", dir)
			return []string{"--chain", "ergo", "--network", "testnet", "--source", "file://" + filepath.Join(dir, "blocks.jsonl")}
		}, "100"},
		{"ergo", "Ergo", "", func(t *testing.T, _ string) []string {
			return []string{"--chain", "ergo", "--source", "file://" + testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			settings := filepath.Join(dir, "settings.yaml")
			write(t, settings, sqlSettings(c.indexes))
			s := &sqlSession{T: t, db: filepath.Join(dir, "db")}
			sync := c.sync(t, filepath.Join(dir, "generated"))
			ask(t, nil, append([]string{"sync", "--config", settings, "--db", s.db}, sync...)...)
			s.ask(&s.status, "status")
			tables := filepath.Join(dir, "tables")
			read := tables
			if c.partition == "" {
				read = s.fetch(settings, tables, sync)
			} else {
				s.ask(nil, "export", "--out", tables, "--partition", c.partition)
			}
			s.duck = startDuckDB(t, dir)
			var richest query.RichestAnswer
			s.ask(&richest, "richest", "address", "--limit", "1")
			s.address = richest.Values[0].Value
			write(t, filepath.Join(dir, "labels.csv"), "address,label\n"+s.address+",exchange\n")
			views, queries := sqlPage(t, c.section)
			for _, v := range views {
				s.duck.ask(t, v)
			}
			if want := map[string]int{"Bitcoin": 15, "Cardano": 8, "Ergo": 5}[c.section]; len(queries) != want {
				t.Errorf("%d questions, expected %d", len(queries), want)
			}
			for _, q := range queries {
				t.Run(q.title, func(t *testing.T) {
					check := sqlChecks[q.title]
					if check == nil {
						t.Fatal("no check")
					}
					at := *s
					at.T, at.text = t, q.text
					check(&at, s.duck.ask(t, strings.ReplaceAll(q.text, "ADDRESS", s.address)))
				})
			}
			s.sums(rng)
			s.polars(read)
		})
	}
}

// polars compares the columns that Polars reads with those of DuckDB, and the fees per day.
func (s *sqlSession) polars(tables string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "node", "tables.js", tables)
	cmd.Dir, cmd.Stderr = filepath.Join("..", "..", "tools", "interop", "polars"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("node tables.js: %v: run make test-interop, which installs Polars", err)
	}
	var read struct {
		Columns map[string][]string
		Fees    [][]string
	}
	if err := json.Unmarshal(out, &read); err != nil {
		s.Fatalf("node tables.js: %v: %.1000s", err, out)
	}
	columns := 0
	for _, table := range export.Tables {
		for _, c := range s.duck.ask(s.T, "DESCRIBE "+table) {
			if c[0] == "from" { // of the folders
				continue
			}
			columns++
			name := table + "." + c[0]
			rows := s.duck.ask(s.T, fmt.Sprintf(`SELECT count("%s"), count(DISTINCT "%[1]s") FROM %s`, c[0], table))
			s.equal("values and distinct values of "+name, read.Columns[name], rows[0])
		}
	}
	s.equal("columns", len(read.Columns), columns)
	fees := s.duck.ask(s.T, `SELECT strftime(block_timestamp, '%Y-%m-%d') AS day, coalesce(sum(fee), 0) FROM transactions
		WHERE block_timestamp IS NOT NULL GROUP BY day ORDER BY day`)
	s.equal("fees per day", read.Fees, fees)
}

// sums compares sums over the files with the database.
func (s *sqlSession) sums(rng *rand.Rand) {
	s.Helper()
	totals := &s.status.Totals
	rows := s.duck.ask(s.T, `SELECT (SELECT count(*) FROM blocks), (SELECT count(*) FROM transactions WHERE NOT is_genesis),
		(SELECT count(*) FROM inputs), (SELECT count(*) FROM outputs), (SELECT count(*) FROM assets), (SELECT count(*) FROM unspent),
		(SELECT sum(value) FROM outputs) - (SELECT coalesce(sum(value), 0) FROM inputs)`)
	s.equal("rows and supply", rows[0], []any{totals.Blocks, totals.Txs, totals.Inputs, totals.Outputs + totals.GenesisOutputs, totals.Assets,
		totals.Unspent, totals.UnspentValue})
	rows = s.duck.ask(s.T, `SELECT address, coalesce(sum(value), 0) FROM (SELECT DISTINCT address FROM outputs WHERE address IS NOT NULL)
		LEFT JOIN unspent USING (address) GROUP BY address ORDER BY address`)
	check := func(n int, balance func(address string) string) {
		for range min(n, len(rows)) {
			r := rows[rng.IntN(len(rows))]
			s.equal("balance of "+r[0], r[1], balance(r[0]))
		}
	}
	inProcess := s.opened(func(db *core.DB) {
		check(10_000, func(address string) string {
			a, err := db.Balance(s.Context(), "address", address)
			if err != nil {
				s.Fatal(err)
			}
			return a.Balance
		})
	})
	if !inProcess {
		check(200, func(address string) string { return s.balance("address", address).Balance })
	}
}
