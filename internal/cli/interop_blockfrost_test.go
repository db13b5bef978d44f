//go:build interop

package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blinklabs-io/gouroboros/cbor"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
)

// besideNode serves the API on the blocks of a node up to a height. It returns the URL, and the transactions of the
// next block. The first of them is in the node's mempool.
func besideNode(t *testing.T, network string, magic uint32, blocks []ouroborostest.Block, height int, sync string) (url string, txs []string) {
	t.Helper()
	node := ouroborostest.Start(t, magic, blocks[:height+1])
	next, err := blocks[height+1].Txs()
	if err != nil {
		t.Fatal(err)
	}
	node.Answers(stateOfTheNode(t, next[0].Era))
	for _, tx := range next {
		txs = append(txs, hex.EncodeToString(tx.Raw))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("memory: 256MiB\nchain: cardano\nnetwork: %s\nsource: %s\ndb: %s\nraw: true\n"+
		"indexes: blockfrost\nserve: { blockfrost: /api/v0, kupo: /kupo, ogmios: /ogmios }\n", network, node.Unix(), filepath.Join(dir, "db")))
	if sync == "" {
		sync = node.Unix()
	}
	if r := birthmark("sync", "--config", file, "--source", sync, "--to-height", fmt.Sprint(height)); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	s := startRealServer(t, "--config", file)
	node.SetMempool(next[0])
	var status struct{ Chains []struct{ Name string } }
	s.get(t, "v1").into(t, &status)
	until(t, "an unconfirmed transaction", func() bool {
		var a struct {
			State string
			Count int
		}
		s.get(t, "v1/"+status.Chains[0].Name+"/mempool").into(t, &a)
		return a.State == "live" && a.Count == 1
	})
	return s.URL + "api/v0", txs
}

// stateOfTheNode sets the node's responses to queries of epoch, parameters and accounts in an era, Babbage or later.
func stateOfTheNode(t *testing.T, era uint) map[int][]byte {
	t.Helper()
	ratio := func(a, b int64) any { return cbor.Rat{Rat: big.NewRat(a, b)} }
	account := struct {
		cbor.StructAsArray
		Kind uint
		Hash cbor.ByteString
	}{Hash: cbor.NewByteString(bytes.Repeat([]byte{1}, 28))}
	parameters := []any{
		44, 155381, 90112, 16384, 1100, 2_000_000, 500_000_000, 18, 500, ratio(3, 10), ratio(3, 1000), ratio(1, 5), []int{8, 0},
		170_000_000, 4310, map[int][]int64{0: make([]int64, 166), 1: make([]int64, 175), 2: make([]int64, 297)},
		[]any{ratio(577, 10_000), ratio(721, 10_000_000)}, []int{14_000_000, 10_000_000_000}, []int{62_000_000, 20_000_000_000}, 5000, 150, 3,
	}
	if era >= 6 { // Conway
		parameters = append(parameters, slices.Repeat([]any{ratio(51, 100)}, 5), slices.Repeat([]any{ratio(67, 100)}, 10), 7, 146, 6,
			100_000_000_000, 500_000_000, 20, ratio(15, 1))
	}
	results := map[int][]byte{}
	for number, result := range map[int]any{
		1:  13,
		3:  parameters,
		10: []any{map[any]any{account: bytes.Repeat([]byte{2}, 28)}, map[any]any{account: 1000}},
		13: []any{0, []any{1, map[int]int{}, []int{0}, []int{0}, []any{1, bytes.Repeat([]byte{3}, 32)}}},
		18: []any{[]any{500, ratio(3, 10), 0, 1}, map[any]any{}},
		20: []any{map[any]any{}, 0, 0, 0},
		22: map[any]any{account: 2_000_000},
		25: map[any]any{},
		26: map[any]any{},
		28: map[any]any{account: []any{2}},
	} {
		raw, err := cbor.Encode(result)
		if err != nil {
			t.Fatal(err)
		}
		results[number] = raw
	}
	return results
}

// clientReport is the report of a client about the answers that it received.
type clientReport struct {
	Counts     map[string]int
	Faults     []string
	Unanswered []string // requests with the status 501
	Unreached  []string // operations that are answered, of which the client has seen no answer
}

// reportOf runs a client. It fails the test if the client reports faults or made too few kinds of requests.
func reportOf(t *testing.T, cmd *exec.Cmd, least int) clientReport {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: make test-interop installs the packages", cmd.Args[:1], err)
	}
	var a clientReport
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Faults) > 0 {
		t.Errorf("%d faults:\n%s", len(a.Faults), strings.Join(a.Faults[:min(len(a.Faults), 20)], "\n"))
	}
	if len(a.Counts) < least {
		t.Errorf("only %d kinds of requests", len(a.Counts))
	}
	t.Logf("%v, unanswered: %q, unreached: %q", a.Counts, a.Unanswered, a.Unreached)
	return a
}

// meshOfOgmios submits a transaction with Mesh's provider of Ogmios. It enters the node's mempool.
func meshOfOgmios(t *testing.T, url, tx string) {
	t.Helper()
	ogmios := "ws" + strings.TrimPrefix(strings.TrimSuffix(url, "api/v0"), "http") + "ogmios"
	cmd := exec.CommandContext(t.Context(), "node", "--experimental-websocket", "ogmios.js", ogmios, tx)
	cmd.Dir, cmd.Stderr = filepath.Join("..", "..", "tools", "interop", "blockfrost"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: make test-interop installs the packages", err)
	}
	var a struct {
		Hash   string
		Faults []string
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(tx)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ledger.HashTx(raw)
	if err != nil || a.Hash != want.String() || len(a.Faults) > 0 {
		t.Errorf("submitted as %s, expected %s: %v %q", a.Hash, want, err, a.Faults)
	}
}

// Every answer has the schema of Blockfrost's OpenAPI document. blockfrost-js, blockfrost-go, Lucid Evolution and Mesh return
// the server's answers, and submit transactions to the node through it: for real blocks of preview, which are of Babbage,
// and for generated ones of Conway.
func TestInteropBlockfrost(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "blockfrost-go")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir, build.Env = filepath.Join("..", "..", "tools", "interop", "blockfrost-go"), append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	clients := func(t *testing.T, url string, txs []string, walk ...string) {
		args := append([]string{url}, walk...)
		cmd := exec.CommandContext(t.Context(), "node", slices.Concat([]string{"client.js"}, args, txs[1:4])...)
		cmd.Dir = filepath.Join("..", "..", "tools", "interop", "blockfrost")
		reportOf(t, cmd, 55)
		if a := reportOf(t, exec.CommandContext(t.Context(), program, append(args, txs[4])...), 40); len(a.Unanswered) > 0 && walk[0] == "46000" {
			t.Errorf("unanswered: %q", a.Unanswered)
		}
	}
	t.Run("preview", func(t *testing.T) {
		chunks := testblocks.Path(t, "cardano", "dingo-immutable")
		blocks, err := ouroborostest.Chunks(chunks)
		if err != nil {
			t.Fatal(err)
		}
		url, txs := besideNode(t, "preview", 2, blocks, 50_934, "file://"+chunks) // six transactions follow
		clients(t, url, txs, "46000", "50900", "100")
		meshOfOgmios(t, url, txs[5])
	})
	t.Run("generated", func(t *testing.T) {
		b := newBranch()
		var raws [][]byte
		for range 21 {
			raws = append(raws, b.chain.NextOf(12).Raw)
		}
		blocks, err := ouroborostest.Blocks(raws...)
		if err != nil {
			t.Fatal(err)
		}
		url, txs := besideNode(t, b.network(t), cardanogen.DefaultMagic, blocks, 19, "")
		clients(t, url, txs, "5", "19", "7")
		kupmiosOfANode(t, strings.TrimSuffix(url, "/api/v0"), txs[5])
	})
}
