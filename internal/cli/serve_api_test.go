package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/core/query"
	"birthmark/internal/daemon"
	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// The answer to every query over HTTP is byte for byte the JSON document of the command. The HTTP status corresponds
// to the exit status, and the error code is the same.
func TestServerAndCommandLineAgree(t *testing.T) {
	slow(t)
	t.Parallel()
	const options = "{ balance: true, unspent: true, history: true, prefix: true }"
	for _, c := range []struct {
		chain, network string
		source         func(t *testing.T) string
		indexes        []string // the first with all options
		asset          string   // an unknown asset for failing queries; empty to skip them, since the three chains share that code
	}{
		{"bitcoin", "mainnet", realBlocks, []string{"address", "script_hash"}, ""},
		{"cardano", "preview", func(t *testing.T) string { return testblocks.Path(t, "cardano", "dingo-immutable") },
			[]string{"address", "payment_credential", "policy"}, strings.Repeat("00", 28)},
		{"ergo", "mainnet", func(t *testing.T) string { return testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz") },
			[]string{"address", "box_id", "ergo_tree_hash"}, ""},
	} {
		t.Run(c.chain, func(t *testing.T) {
			dir := t.TempDir()
			db, file := filepath.Join(dir, "db"), filepath.Join(dir, "birthmark.yaml")
			set := fmt.Sprintf("chain: %s\nnetwork: %s\nraw: true\nindexes:\n  %s: %s\n", c.chain, c.network, c.indexes[0], options)
			for _, name := range c.indexes[1:] {
				set += "  " + name + ": {}\n"
			}
			write(t, file, set)
			// Every command would replay a write-ahead log.
			ask(t, nil, "sync", "--config", file, "--wal=off", "--source", "file://"+c.source(t), "--db", db)
			n := testseed.Of(t, 910)
			l := &comparison{T: t, db: db, chain: c.chain, rng: rand.New(rand.NewPCG(n, 0))}
			l.serve()
			l.chainWide()
			l.blocks(4)
			for _, index := range c.indexes {
				l.values(index, 2)
			}
			l.assets(2)
			if c.asset != "" {
				l.wrong(c.indexes[0], c.asset)
			}
			t.Logf("%d queries, %d of them with errors", l.asked, l.failed)
			if l.asked < 50 || c.asset != "" && l.failed < 20 {
				t.Errorf("only %d queries, %d of them with errors", l.asked, l.failed)
			}
		})
	}
}

// comparison sends the same query to the command line and to the server.
type comparison struct {
	*testing.T
	db, chain     string
	url           string // base of the chain's paths
	rng           *rand.Rand
	asked, failed int
}

// serve serves the database until the test ends.
func (l *comparison) serve() {
	l.Helper()
	ctx, stop := context.WithCancel(context.Background())
	said, says := io.Pipe()
	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"birthmark", "serve", "--db", l.db, "--listen", "127.0.0.1:0", "--json"}, strings.NewReader(""), says, &stderr)
		says.Close()
	}()
	l.Cleanup(func() {
		stop()
		if status := <-ended; status != exitDone {
			l.Errorf("serve ended with %d: %s", status, stderr.String())
		}
	})
	line, err := bufio.NewReader(said).ReadBytes('\n')
	var a daemon.Address
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil || len(a.Chains) != 1 || !strings.HasPrefix(a.Chains[0], l.chain) {
		l.Fatalf("serve printed %q: %v", line, err)
	}
	l.url = a.URL + "v1/" + a.Chains[0] + "/"
}

// at returns the path with the given segments.
func at(words ...string) string {
	for i := range words {
		words[i] = url.PathEscape(words[i])
	}
	return strings.Join(words, "/")
}

// statuses are the HTTP statuses by exit status.
var statuses = map[int]int{exitDone: 200, exitFailed: 404, exitUsage: 400, exitRefused: 503, exitSource: 502}

// same sends a query to both and returns the answer, or nil if there is none. Query has alternating names and values,
// which are also flags.
func (l *comparison) same(path string, query []string, command ...string) []byte {
	l.Helper()
	l.asked++
	args := slices.Clone(command)
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		name := query[i]
		if l.asked%2 == 0 { // parameters have underscores, and accept the dashes of flags
			name = strings.ReplaceAll(name, "-", "_")
		}
		values.Add(name, query[i+1])
		args = append(args, "--"+query[i]+"="+query[i+1])
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	told := birthmark(append(args, "--json")...)
	answer, body := l.fetch("GET", path, nil)
	if answer.StatusCode != statuses[told.status] {
		l.Fatalf("%s: status %d: %s\nbirthmark %s: %d: %s%s", path, answer.StatusCode, body, strings.Join(args, " "), told.status, told.stdout, told.stderr)
	}
	if answer.Header.Get("X-Tip") == "" && told.status == exitDone {
		l.Errorf("%s: no X-Tip", path)
	}
	if told.status == exitDone {
		if normalized(string(body)) != normalized(told.stdout) {
			l.Errorf("%s: over HTTP\n%.2000s\nbirthmark %s:\n%.2000s", path, body, strings.Join(args, " "), told.stdout)
		}
		return body
	}
	l.failed++
	var f failure
	var p struct{ Code, Detail string }
	if err := json.Unmarshal([]byte(told.stdout), &f); err != nil || json.Unmarshal(body, &p) != nil || p.Code != f.Error.Code {
		l.Errorf("%s: %s\nbirthmark %s: %s", path, body, strings.Join(args, " "), told.stdout)
	}
	return nil
}

// ask calls same with a query of the database.
func (l *comparison) ask(path string, query []string, command ...string) []byte {
	l.Helper()
	return l.same(path, query, append(command, "--db", l.db)...)
}

func (l *comparison) fetch(method, path string, body []byte) (*http.Response, []byte) {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), method, l.url+path, bytes.NewReader(body))
	if err != nil {
		l.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		l.Fatal(err)
	}
	return answer, said
}

// list requests a list from both, in pages of limit entries. It returns nil if there is none.
func (l *comparison) list(entries string, limit int, path string, query []string, command ...string) (list []json.RawMessage) {
	l.Helper()
	after := []string(nil)
	for {
		page := map[string]json.RawMessage{}
		body := l.ask(path, slices.Concat(query, []string{"limit", strconv.Itoa(limit)}, after), command...)
		if body == nil {
			return nil
		}
		var some []json.RawMessage
		var next *string
		if json.Unmarshal(body, &page) != nil || json.Unmarshal(page[entries], &some) != nil || json.Unmarshal(page["next"], &next) != nil {
			l.Fatalf("%s: %s", path, body)
		}
		list = append(list, some...)
		if next == nil {
			return list
		}
		after = []string{"after", *next}
	}
}

// many sends a request for many values at once. Each answer equals that of the command line for the single value.
func (l *comparison) many(what, entries string, body any, n int, command func(i int) []string) {
	l.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		l.Fatal(err)
	}
	answer, said := l.fetch("POST", what, text)
	var found map[string]json.RawMessage
	var list []json.RawMessage
	if answer.StatusCode != 200 || json.Unmarshal(said, &found) != nil || json.Unmarshal(found[entries], &list) != nil || len(list) != n {
		l.Fatalf("POST %s %s: %d %s", what, text, answer.StatusCode, said)
	}
	for i := range list {
		args := append(command(i), "--db", l.db, "--json")
		told := birthmark(args...)
		want := strings.TrimSuffix(told.stdout, "\n")
		if told.status == exitFailed {
			want = "null"
		} else if entries == "outputs" {
			want = withoutDetails(want)
		}
		if l.asked++; string(list[i]) != want {
			l.Errorf("%s, place %d: %s\nbirthmark %s: %s", what, i, list[i], strings.Join(args, " "), told.stdout)
		}
	}
}

// withoutDetails removes the details that require the raw transaction from an output: lists of outputs do not have
// them.
func withoutDetails(output string) string {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[model.OutputDetails]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		// The details are between the spending input and the fields of the block.
		if i := strings.LastIndex(output, `,"`+name+`":`); i > strings.Index(output, `"spent_by":`) {
			output = output[:i] + "}"
		}
	}
	return output
}

func (l *comparison) chainWide() {
	l.ask("status", nil, "status")
	l.ask("indexes", nil, "index", "list")
	l.same("fields", nil, "fields", "--chain", l.chain)
	l.ask("forks", []string{"limit", "3"}, "forks")
	var status query.StatusAnswer
	ask(l.T, &status, "status", "--db", l.db)
	l.same("schema", nil, "schema", "--chain", l.chain, "--network", status.Network)
}

// blocks requests the list of blocks, and everything in n of them.
func (l *comparison) blocks(n int) {
	l.ask("blocks", []string{"limit", "20", "order", "desc"}, "blocks")
	blocks := l.list("blocks", 9000, "blocks", nil, "blocks")
	var hashes, outputs []string
	for i := range n {
		var b query.BlockSummaryAnswer
		// The selection has the first and the last block, and others between them. Half of these are near the tip,
		// which has larger blocks.
		at1 := l.rng.IntN(len(blocks))
		switch {
		case i == 0:
			at1 = 0
		case i == 1:
			at1 = len(blocks) - 1
		case i%2 == 0:
			at1 = len(blocks) - 1 - l.rng.IntN(len(blocks)/10)
		}
		if err := json.Unmarshal(blocks[at1], &b); err != nil {
			l.Fatal(err)
		}
		var block query.BlockAnswer
		if err := json.Unmarshal(l.ask(at("block", b.Hash), nil, "block", b.Hash), &block); err != nil {
			l.Fatal(err)
		}
		height := strconv.Itoa(int(b.Height))
		l.ask(at("block", height), nil, "block", height)
		for _, hash := range block.Txs[:min(len(block.Txs), 2)] {
			var tx query.TxAnswer
			if err := json.Unmarshal(l.ask(at("tx", hash), nil, "tx", hash), &tx); err != nil {
				l.Fatal(err)
			}
			l.ask(at("tx", hash, "raw"), nil, "tx", "--raw", hash)
			hashes = append(hashes, hash)
			for _, o := range tx.Outputs[:min(len(tx.Outputs), 2)] {
				ref := fmt.Sprintf("%s:%d", o.Tx, o.Index)
				l.ask(at("output", ref), nil, "output", ref)
				outputs = append(outputs, ref)
				if box, ok := o.Keys["box_id"].(string); ok {
					l.ask(at("output", box), nil, "output", box)
					outputs = append(outputs, box)
				}
			}
		}
	}
	l.ask("block/tip", nil, "block", "tip")
	hashes, outputs = hashes[:min(len(hashes), 6)], outputs[:min(len(outputs), 6)]
	l.many("txs", "txs", api.TxHashes{Txs: hashes}, len(hashes), func(i int) []string { return []string{"tx", hashes[i]} })
	outputs = append(outputs, strings.Repeat("ab", 32)+":0", hashes[0]+":9999")
	l.many("outputs", "outputs", api.OutputRefs{Outputs: outputs}, len(outputs), func(i int) []string { return []string{"output", outputs[i]} })
}

// values requests the list of values of an index, and everything about n of them.
func (l *comparison) values(index string, n int) {
	all := l.list("values", 10_000, at("values", index), []string{"order", "desc"}, "values", index)
	l.ask(at("richest", index), []string{"limit", "20"}, "richest", index)
	l.ask(at("values", index), []string{"prefix", "", "limit", "50"}, "values", index)
	var some []string
	for range n {
		var v query.ValueAnswer
		if err := json.Unmarshal(all[l.rng.IntN(len(all))], &v); err != nil {
			l.Fatal(err)
		}
		some = append(some, v.Value)
	}
	for i, value := range some {
		l.ask(at("balance", index, value), nil, "balance", index, value)
		other := index + "=" + some[l.rng.IntN(n)]
		var terms []string
		switch i % 4 {
		case 1:
			terms = []string{"unspent", "true"}
		case 2:
			terms = []string{"or", other, "or", index + "=" + some[0], "order", "desc"}
		case 3:
			terms = []string{"and", other, "height-from", "5", "time-to", "2100-01-01T00:00:00Z"}
		}
		l.list("outputs", 20+l.rng.IntN(200), at("find", index, value), terms, "find", index, value)
		l.list("txs", 20+l.rng.IntN(200), at("history", index, value), []string{"order", []string{"asc", "desc"}[i%2]}, "history", index, value)
	}
	l.many("balances", "balances", api.IndexValues{Index: index, Values: some}, n, func(i int) []string { return []string{"balance", index, some[i]} })
}

// assets requests the list of assets, and everything about n of them.
func (l *comparison) assets(n int) {
	all := l.list("assets", 3000, "assets", nil, "assets")
	for range min(n, len(all)) {
		var a query.AssetAnswer
		if err := json.Unmarshal(all[l.rng.IntN(len(all))], &a); err != nil {
			l.Fatal(err)
		}
		id := a.Asset
		l.ask(at("asset", id), nil, "asset", id)
		if a.Fingerprint != "" {
			l.ask(at("asset", a.Fingerprint), nil, "asset", a.Fingerprint)
		}
		l.list("events", 2, at("asset", id, "events"), []string{"order", "desc"}, "asset-events", id)
		l.list("holders", 10+l.rng.IntN(50), at("asset", id, "holders"), nil, "asset-holders", id)
		l.list("outputs", 10+l.rng.IntN(50), at("find", "asset", id), nil, "find", "asset", id)
		l.ask("richest/address", []string{"asset", id, "limit", "4"}, "richest", "address")
	}
}

// wrong sends queries that are invalid or have no result.
func (l *comparison) wrong(index, asset string) {
	none := strings.Repeat("ab", 32)
	for _, c := range []struct {
		path    string
		query   []string
		command []string
	}{
		{at("block", none), nil, []string{"block", none}},
		{at("block", "60000000"), nil, []string{"block", "60000000"}},
		{at("block", "99999999999999999999"), nil, []string{"block", "99999999999999999999"}},
		{at("block", "nonsense"), nil, []string{"block", "nonsense"}},
		{at("tx", none), nil, []string{"tx", none}},
		{at("tx", none, "raw"), nil, []string{"tx", "--raw", none}},
		{at("tx", "a/b"), nil, []string{"tx", "a/b"}},
		{at("output", none+":0"), nil, []string{"output", none + ":0"}},
		{at("output", none+":x"), nil, []string{"output", none + ":x"}},
		{at("output", "nothing at all"), nil, []string{"output", "nothing at all"}},
		{at("find", "colour", "red"), nil, []string{"find", "colour", "red"}},
		{at("find", index, "…/%2F?&"), nil, []string{"find", index, "…/%2F?&"}},
		{at("balance", index, "…"), nil, []string{"balance", index, "…"}},
		{at("history", "colour", "red"), nil, []string{"history", "colour", "red"}},
		{at("values", "colour"), nil, []string{"values", "colour"}},
		{at("values", index), []string{"prefix", strings.Repeat("x", 256)}, []string{"values", index}},
		{at("values", index), []string{"limit", "0"}, []string{"values", index}},
		{at("values", index), []string{"limit", "many"}, []string{"values", index}},
		{at("values", index), []string{"order", "up"}, []string{"values", index}},
		{at("values", index), []string{"after", "AAAA"}, []string{"values", index}},
		{at("values", index), []string{"after", ""}, []string{"values", index}},
		{at("find", index, "…"), []string{"and", "nothing"}, []string{"find", index, "…"}},
		{"blocks", []string{"height-from", "-1"}, []string{"blocks"}},
		{"blocks", []string{"height-from", "9", "height-to", "8"}, []string{"blocks"}},
		{"blocks", []string{"height-from", "60000000"}, []string{"blocks"}},
		{"blocks", []string{"time-from", "noon"}, []string{"blocks"}},
		{"blocks", []string{"time-from", "2100-01-01T00:00:00Z"}, []string{"blocks"}},
		{at("richest", "colour"), nil, []string{"richest", "colour"}},
		{at("richest", index), []string{"asset", "…"}, []string{"richest", index}},
		{at("asset", "…"), nil, []string{"asset", "…"}},
		{at("asset", "…", "events"), nil, []string{"asset-events", "…"}},
		{at("asset", "…", "holders"), nil, []string{"asset-holders", "…"}},
	} {
		if l.ask(c.path, c.query, c.command...) != nil {
			l.Errorf("%s has an answer", c.path)
		}
	}
	if l.ask(at("asset", asset), nil, "asset", asset) != nil {
		l.Errorf("asset %s has an answer", asset)
	}
}
