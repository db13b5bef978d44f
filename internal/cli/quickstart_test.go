package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/chains"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/daemon"
	"birthmark/internal/testnode/btcdtest"
	"birthmark/model"
)

// lookup resolves the name of a DNS seed.
type lookup func(ctx context.Context, host string) ([]string, error)

// withSeeds makes regtest a network with one DNS seed. Its peers use a port, and databases without a folder are in
// data.
func withSeeds(p *program, port, data string, resolve lookup) {
	n := *params.Networks[slices.IndexFunc(params.Networks, func(n *params.Network) bool { return n.Name == "regtest" })]
	with := *n.Params
	with.DNSSeeds, with.DefaultPort = []chaincfg.DNSSeed{{Host: "seed.example", HasFiltering: true}}, port
	n.Params, n.LookupHost = &with, resolve
	p.NewChain = func(name, network string) (model.Chain, error) {
		if name == bitcoin.Name && network == n.Name {
			return bitcoin.Custom(&n), nil
		}
		return chains.New(name, network)
	}
	p.LookupEnv = func(name string) (string, bool) {
		if name == "XDG_DATA_HOME" {
			return data, true
		}
		return "", false
	}
}

// The first example of the README with a test network: serve without a node, a folder and settings. Pages that are
// opened before the first block show the progress.
func TestServeFindsPeersAndUsesTheDefaultFolder(t *testing.T) {
	slow(t)
	node := btcdtest.Start(t)
	node.Generate(t, 20)
	host, port, err := net.SplitHostPort(node.P2P)
	if err != nil {
		t.Fatal(err)
	}
	data, asked := t.TempDir(), make(chan string)
	found := func(ctx context.Context, name string) ([]string, error) {
		select {
		case asked <- name:
			return []string{host}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out, in := io.Pipe()
	log := &faultLog{}
	p := testProgram(strings.NewReader(""), in, log)
	withSeeds(p, port, data, found)
	ctx, cancel := context.WithCancel(t.Context())
	status := make(chan int, 1)
	go func() {
		status <- p.run(ctx, strings.Fields("birthmark serve --json --chain bitcoin --network regtest --source p2p:// --listen 127.0.0.1:0"))
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var at daemon.Address
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		t.Fatalf("%v: %s; log: %s", err, line, log)
	}
	page := func(path string) string {
		resp, err := http.Get(at.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
		}
		return string(body)
	}
	for _, path := range []string{"", "bitcoin-regtest", "bitcoin-regtest/status"} { // the first redirects to the second
		const want = "connecting to peers"
		if text := page(path); !strings.Contains(text, "Preparing the sync:") || !strings.Contains(text, want) {
			t.Errorf("/%s before the first block has no %q:\n%s", path, want, text)
		}
	}
	if name := <-asked; name != "x9.seed.example" {
		t.Errorf("the seed was queried as %q", name)
	}
	until(t, "the blocks to be served", func() bool {
		return strings.Contains(page("bitcoin-regtest/blocks"), "/bitcoin-regtest/block/") && strings.Contains(page("v1/bitcoin-regtest/status"), `"height":20,`)
	})
	cancel()
	if code := <-status; code != exitDone {
		t.Errorf("status %d: %s", code, log)
	}
	// Queries find the only database in the data folder, and the database of a chain.
	ask := func(args ...string) (int, string, string) {
		var stdout, stderr strings.Builder
		q := testProgram(strings.NewReader(""), &stdout, &stderr)
		withSeeds(q, port, data, found)
		code := q.run(t.Context(), append([]string{"birthmark"}, args...))
		return code, stdout.String(), stderr.String()
	}
	for _, args := range [][]string{{"status", "--json"}, {"status", "--json", "--chain", "bitcoin", "--network", "regtest"}} {
		if code, answer, message := ask(args...); code != exitDone || !strings.Contains(answer, `"height":20,`) {
			t.Errorf("%v: %d %s%s", args, code, answer, message)
		}
	}
	if code, answer, message := ask("check", "--db", filepath.Join(data, "birthmark", "bitcoin-regtest")); code != exitDone {
		t.Errorf("check: %d %s%s", code, answer, message)
	}
	if err := os.MkdirAll(filepath.Join(data, "birthmark", "ergo"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(data, "birthmark", "ergo", "CURRENT"), "")
	if code, _, message := ask("status"); code != exitUsage || !strings.Contains(message, "has 2 databases (bitcoin-regtest, ergo): select one") {
		t.Errorf("two databases: %d %s", code, message)
	}
}

func TestSyncWithoutPeersNamesTheRemedy(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var stdout, stderr strings.Builder
	p := testProgram(strings.NewReader(""), &stdout, &stderr)
	withSeeds(p, "38333", data, func(context.Context, string) ([]string, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	})
	code := p.run(t.Context(), strings.Fields("birthmark sync --chain bitcoin --network regtest --source p2p://"))
	const want = "no peer of regtest was found: the DNS seed seed.example is an unknown host; " +
		"allow DNS and outgoing connections to port 38333, or name a peer: p2p://host:38333"
	if code != exitSource || !strings.Contains(stderr.String(), want) {
		t.Errorf("%d %s", code, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(data, "birthmark")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was created: %v", err)
	}
}
