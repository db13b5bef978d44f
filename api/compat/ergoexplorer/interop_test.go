//go:build interop

package ergoexplorer_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergographql"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
)

// Clients of the node, the explorer and ergo-graphql decode every answer, and sigma-rust recomputes the id of every box
// and transaction in them. Answers have the fields and types of the OpenAPI documents of the node and
// the explorer. It is run by `make test-interop`.
func TestInteropClients(t *testing.T) {
	real, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	made := ergotest.Made(ergogen.New(ergogen.Options{Seed: 2, TxsPerBlock: 8}), 22)
	for network, blocks := range map[string][]ergotest.Block{"mainnet": real[:602], "testnet": made} {
		t.Run(network, func(t *testing.T) {
			w := newWorld(t, network)
			last := len(blocks) - 2
			w.Sync(t, 0, blocks[:last]...)
			w.Naive = w.Settled(t)
			next := w.Possible(append(ergotest.Txs(blocks[last]), ergotest.Txs(blocks[last+1])...))[:2]
			w.Node.Expect(next...)
			w.answers(t, next)
		})
	}
}

func (w *world) answers(t *testing.T, next []ergotest.Tx) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/node/", ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"}))
	mux.Handle(path+"/", w)
	mux.Handle("/graphql", ergographql.New(ergographql.Options{Chain: w.Chain, Path: "/graphql"}))
	s := httptest.NewServer(mux)
	defer s.Close()
	questions := map[string]any{"submit": []json.RawMessage{next[0].JSON, next[1].JSON}}
	add := func(kind, value string) {
		list, _ := questions[kind].([]string)
		for _, known := range list {
			if known == value {
				return
			}
		}
		questions[kind] = append(list, value)
	}
	for _, kind := range []string{"addresses", "boxes", "txs", "blocks", "tokens", "templates"} {
		questions[kind] = []string{}
	}
	step := len(w.Boxes)/60 | 1 // odd: every second box of the first blocks is the emission
	for i := w.GenesisBoxes; i < len(w.Boxes); i += step {
		b := w.Boxes[i]
		add("addresses", w.address(b.Tree))
		add("boxes", b.ID)
		add("txs", b.Tx.ID)
		add("blocks", b.Tx.Block.ID)
		hash := b.ExplorerTemplate()
		if len(w.Where(func(c *Box) bool { return c.ExplorerTemplate() == hash })) < 200 {
			add("templates", hash)
		}
		if len(b.Tokens) > 0 {
			add("tokens", b.Tokens[0].ID)
		}
	}
	body, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--import", "./resolve.js", "apis.js", s.URL+"/node", s.URL+path, s.URL+"/graphql")
	cmd.Dir = filepath.Join("..", "..", "..", "tools", "interop", "ergo")
	cmd.Stderr, cmd.Stdin = os.Stderr, bytes.NewReader(body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: make test-interop installs it", err)
	}
	var got struct {
		Boxes, Txs                  [][2]string
		Unread, Failed, Differences []string
		Calls                       map[string]int
		Compared                    int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, pair := range append(got.Boxes, got.Txs...) {
		if pair[0] != pair[1] {
			t.Errorf("%s: its bytes have the id %s", pair[0], pair[1])
		}
	}
	for _, text := range got.Failed {
		t.Errorf("a call failed: %.400s", text)
	}
	for _, text := range got.Differences {
		t.Errorf("answers differ from the document: %.600s", text)
	}
	for _, text := range got.Unread {
		// sigma-rust rejects trees of later versions, and allows fewer tokens per box than the reference
		// implementation.
		if !strings.Contains(text, "Invalid version") && !strings.Contains(text, "MAX_TOKENS_COUNT") {
			t.Errorf("sigma-rust cannot read: %.400s", text)
		}
	}
	t.Logf("%d answers of both APIs compared with the documents", got.Compared)
	if got.Compared < 150 {
		t.Error("expected more answers that are compared with the documents")
	}
	t.Logf("%d boxes and %d transactions recomputed, %d that sigma-rust cannot read, calls: %v", len(got.Boxes), len(got.Txs), len(got.Unread), got.Calls)
	if len(got.Boxes) < 100 || len(got.Txs) < 20 || len(got.Calls) < 33 {
		t.Error("expected more answers")
	}
}
