package ergo

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

// made returns blocks of a generated chain.
func made(seed uint64, n int) []ergotest.Block {
	return ergotest.Made(ergogen.New(ergogen.Options{Seed: seed, TxsPerBlock: 2}), n)
}

// failsWith checks the last error of a source and the number of blocks before it.
func failsWith(t *testing.T, name string, events []model.Event, err error, blocks int, code string, says ...string) {
	t.Helper()
	kind, got := model.KindOf(err)
	if err == nil || kind != model.BadSource || got != code || len(events) != blocks {
		t.Errorf("%s: %d blocks, then %v (%s), expected %d and %s", name, len(events), err, got, blocks, code)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, which does not contain %q", name, err, text)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: an error of several lines: %q", name, err)
	}
}

func TestErrorsOfANodesBlocks(t *testing.T) {
	leaks(t)
	blocks := made(31, 12)
	strangers := made(32, 12)
	id := func(i int) string { return blocks[i].ID.String() }
	rewrite := func(f func([]byte) []byte) ergotest.Fault {
		return func(r *http.Request, a *ergotest.Answer) {
			if r.URL.Path == "/blocks/headerIds" {
				a.Body = f(a.Body)
			}
		}
	}
	replace := func(old, by string) ergotest.Fault {
		return rewrite(func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(by), 1) })
	}
	_, txs, _ := strings.Cut(string(blocks[6].JSON), `"transactions":[{"id":"`)
	tx := txs[:64]
	for _, c := range []struct {
		name  string
		fault ergotest.Fault
		code  string
		says  []string
	}{
		{"a transaction with another id", replace(tx, strings.Repeat("ab", 32)), "bad_block", []string{"block 7 " + id(6), tx}},
		{"a header with another id", replace(`"id":"`+id(6), `"id":"`+id(5)), "bad_block", []string{"block 7", id(6), id(5)}},
		{"no JSON", rewrite(func([]byte) []byte { return []byte(`[{"header":}]`) }), "bad_block", []string{"block 1"}},
		{"JSON that is cut", rewrite(func(b []byte) []byte { return b[:200] }), "bad_answer", []string{"/blocks/headerIds", "truncated JSON"}},
		{"a block that was not requested", rewrite(func([]byte) []byte { return append(append([]byte("["), strangers[0].JSON...), ']') }), "bad_answer", []string{"block 1 " + id(0), strangers[0].ID.String()}},
		{"headers that are left out", func(r *http.Request, a *ergotest.Answer) {
			if r.URL.Path == "/blocks" {
				a.Body = []byte(`["` + id(1) + `","` + id(3) + `"]`)
			}
		}, "headers_missing", []string{"height 2", "all headers"}},
	} {
		n := ergotest.New(ergotest.Options{Network: "testnet"})
		n.Extend(blocks...)
		url := n.Start(t)
		src := nodeAt(t, url, false)
		n.Break(c.fault)
		events, err := allOf(t, src)
		failsWith(t, c.name, events, err, len(events), c.code, append(c.says, strings.TrimPrefix(url, "http://"))...)
		if len(events) > 6 {
			t.Errorf("%s: %d blocks before the error", c.name, len(events))
		}
	}
}

func TestErrorsOfUnusableNodes(t *testing.T) {
	leaks(t)
	blocks := made(33, 30)
	_, real := firstBlocks(t)
	for _, c := range []struct {
		name, network string
		prepare       func(*ergotest.Node)
		options       ergotest.Options
		code          string
		says          string
		blocks        int
	}{
		{"pruned", "testnet", func(n *ergotest.Node) { n.Extend(blocks...); n.Prune(21) }, ergotest.Options{Network: "testnet"}, "pruned", "does not have the blocks below 21", 0},
		{"of mainnet", "testnet", func(n *ergotest.Node) { n.Extend(real[:3]...) }, ergotest.Options{}, "wrong_network", "ergo mainnet: expected testnet", 0},
		{"of testnet", "mainnet", func(n *ergotest.Node) { n.Extend(blocks...) }, ergotest.Options{Network: "testnet"}, "wrong_network", "ergo testnet: expected mainnet", 0},
		{"of a chain that is not mainnet", "mainnet", func(n *ergotest.Node) { n.Extend(blocks...) }, ergotest.Options{}, "wrong_network", blocks[0].ID.String(), 0},
		{"that asks for a key", "testnet", func(n *ergotest.Node) { n.Extend(blocks...) }, ergotest.Options{Network: "testnet", APIKey: "x"}, "unauthorized", "API key", 0},
	} {
		n := ergotest.New(c.options)
		c.prepare(n)
		events, err := allOf(t, openAt(t, c.network, n.Start(t)))
		failsWith(t, c.name, events, err, c.blocks, c.code, c.says)
	}
}

func TestAnUnsyncedNodeIsAnErrorOrAwaited(t *testing.T) {
	leaks(t)
	blocks := made(34, 8)
	n := ergotest.New(ergotest.Options{Network: "testnet"})
	n.Announce(0, blocks...)
	url := n.Start(t)
	impatient := func(o *model.SourceOptions) { o.Wait = -1 }
	_, err := openAt(t, "testnet", url, impatient).Tip(t.Context())
	failsWith(t, "headers alone", nil, err, 0, "not_synced", "8 headers and no full block yet")
	got := chase(t, nodeAt(t, url, true))
	for n.Requests("/info") < 4 {
		time.Sleep(time.Millisecond)
	}
	n.Deliver()
	got.reaches(n.Tip())
	got.end()
}

func TestANodesGenesisIsUsedIfNoneIsBuiltIn(t *testing.T) {
	blocks := made(35, 2)
	boxes, err := builtIn.ReadFile("genesis/testnet.json")
	if err != nil {
		t.Fatal(err)
	}
	n := ergotest.New(ergotest.Options{Network: "devnet", Genesis: boxes})
	n.Extend(blocks...)
	devnet := &network{name: "devnet", prefix: 0x20}
	o := model.SourceOptions{URI: n.Start(t), Indexes: []string{indexBoxID}}
	src, err := openREST(decoderAs(t, devnet, indexBoxID), "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	events, err := allOf(t, src)
	if err != nil {
		t.Fatal(err)
	}
	testnet, err := networks.Get(Name, "testnet")
	if err != nil {
		t.Fatal(err)
	}
	want, err := decoderAs(t, testnet, indexBoxID).genesis(testnet.genesisBoxes())
	if err != nil || len(events) != 2 || !reflect.DeepEqual(events[0].Block.Genesis, want) {
		t.Errorf("%d events, or a different genesis, %v", len(events), err)
	}
	path := filepath.Join(t.TempDir(), "blocks")
	if err := ergotest.WriteFile(path, blocks); err != nil {
		t.Fatal(err)
	}
	file, err := openFile(decoderAs(t, devnet, indexBoxID), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	events, err = allOf(t, file)
	failsWith(t, "a file", events, err, 0, "no_genesis", "are not known")
	n.Break(func(r *http.Request, a *ergotest.Answer) {
		if r.URL.Path == "/utxo/genesis" {
			a.Body = bytes.Replace(a.Body, []byte(`1000000000`), []byte(`1000000001`), 1)
		}
	})
	events, err = allOf(t, src)
	failsWith(t, "a wrong genesis", events, err, 0, "bad_genesis", "box 1")
}

// fileOf creates a file with the lines of blocks.
func fileOf(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "blocks.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func texts(blocks ...ergotest.Block) (lines []string) {
	for _, b := range blocks {
		lines = append(lines, string(b.JSON))
	}
	return lines
}

func TestErrorsOfFiles(t *testing.T) {
	leaks(t)
	blocks := made(36, 12)
	id := func(i int) string { return blocks[i].ID.String() }
	lines := texts(blocks...)
	with := func(i int, line string) []string {
		changed := append([]string{}, lines...)
		changed[i] = line
		return changed
	}
	for _, c := range []struct {
		name    string
		network string
		lines   []string
		known   []model.Point
		blocks  int
		code    string
		says    []string
	}{
		{"nothing", "testnet", nil, nil, 0, "source_empty", []string{"no blocks"}},
		{"a web page", "testnet", []string{"<html>"}, nil, 0, "bad_block", []string{"line 1", "'<'"}},
		{"other JSON", "testnet", []string{`{"a":1}`}, nil, 0, "bad_block", []string{"line 1", "without a header"}},
		{"a number", "testnet", []string{"17 "}, nil, 0, "bad_block", []string{"line 1", "full block"}},
		{"gzip that is none", "testnet", []string{"\x1f\x8bxx"}, nil, 0, "source_unreadable", nil},
		{"another compression", "testnet", []string{"\x28\xb5\x2f\xfdxx"}, nil, 0, "source_unreadable", []string{"unsupported compression: expected gzip"}},
		{"a line of something else", "testnet", with(5, `{"header":{"height":6}}`), nil, 5, "bad_block", []string{"line 6"}},
		{"a line that is not JSON", "testnet", with(5, `what`), nil, 5, "bad_block", []string{"line 6"}},
		{"a block that is missing", "testnet", append(append([]string{}, lines[:4]...), lines[5:]...), nil, 4, "bad_chain", []string{"line 5", "block 6 " + id(5), "block 4 " + id(3), id(4)}},
		{"a block that stands twice", "testnet", append(append([]string{}, lines[:4]...), lines[3:]...), nil, 4, "bad_chain", []string{"line 5", "block 4"}},
		{"a block that is changed", "testnet", with(7, strings.Replace(lines[7], `"creationHeight":8,`, `"creationHeight":7,`, 1)), nil, 7, "bad_block", []string{"line 8", "block 8 " + id(7)}},
		{"a cut end", "testnet", with(11, lines[11][:400]), nil, 11, "bad_block", []string{"line 12", "in the middle of a block"}},
		{"no beginning", "testnet", lines[3:], nil, 0, "no_genesis", []string{"line 1", "4 " + id(3), "expected block 1"}},
		{"no beginning that is known", "testnet", lines[6:], pointsOf(blocks[:3]), 0, "no_genesis", []string{"7 " + id(6), id(5)}},
		{"another network", "mainnet", lines, nil, 0, "wrong_network", []string{"line 1", id(0)}},
	} {
		path := fileOf(t, c.lines...)
		src, err := tryOpen(t, c.network, path)
		var events []model.Event
		if err == nil {
			events, err = allOf(t, src, newestFirst(c.known)...)
		}
		failsWith(t, c.name, events, err, c.blocks, c.code, append(c.says, path)...)
	}
	for path, code := range map[string]string{"/no/such/file": "source_missing", t.TempDir(): "source_unreadable"} {
		_, err := tryOpen(t, "testnet", path)
		failsWith(t, path, nil, err, 0, code, path)
	}
}

func TestAFileCanBeAListAndBeginLate(t *testing.T) {
	blocks := made(37, 9)
	for name, text := range map[string]string{
		"a list":             "[" + strings.Join(texts(blocks...), ",\n") + "]\n",
		"a list in one line": "[" + strings.Join(texts(blocks...), ",") + "]",
		"one after another":  strings.Join(texts(blocks...), ""),
	} {
		src := openAt(t, "testnet", fileOf(t, text))
		if tip, err := src.Tip(t.Context()); err != nil || tip != blocks[8].Point() {
			t.Errorf("%s: the tip is %v, %v", name, tip, err)
		}
		events, err := allOf(t, src)
		if err != nil || len(apply(t, nil, events...)) != 9 {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
		if b, err := src.(model.BlockReader).BlockAt(t.Context(), 5); err != nil || b.Hash != blocks[4].ID {
			t.Errorf("%s: block 5 read separately: %v", name, err)
		}
	}
	src := openAt(t, "testnet", fileOf(t, texts(blocks[5:]...)...))
	events, err := allOf(t, src, newestFirst(pointsOf(blocks[:5]))...)
	if err != nil || len(events) != 4 || events[0].Block.Hash != blocks[5].ID {
		t.Errorf("a file that continues at the end of the database: %d events, %v", len(events), err)
	}
}
