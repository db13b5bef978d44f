//go:build interop

package ergo

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
)

// oracle sends queries to sigma-rust, one at a time.
type oracle struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	cmd := exec.Command("node", "oracle.js")
	cmd.Dir = filepath.Join("..", "..", "tools", "interop", "ergo")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make test-interop installs what it needs", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	out := bufio.NewScanner(stdout)
	out.Buffer(nil, 16<<20)
	return &oracle{t, stdin, out}
}

func (o *oracle) ask(question string) (a struct {
	Address, ID, Error string
	Boxes              []string
}) {
	o.t.Helper()
	if _, err := fmt.Fprintln(o.in, question); err != nil || !o.out.Scan() {
		o.t.Fatalf("the oracle ended: %v, %v", err, o.out.Err())
	}
	if err := json.Unmarshal(o.out.Bytes(), &a); err != nil {
		o.t.Fatal(err)
	}
	return a
}

// Generated blocks have every kind of script, including kinds that no real block has.
func TestInteropSigmaRustAgreesOnGeneratedBlocks(t *testing.T) {
	kinds := agreed(t, "testnet", ergotest.Made(ergogen.New(ergogen.Options{Seed: 9}), 230))
	if kinds[typeP2PK] < 100 || kinds[typeP2SH] < 5 || kinds[typeP2S] < 100 {
		t.Error("too few scripts of some kind")
	}
}

func TestInteropSigmaRustAgreesOnRealBlocks(t *testing.T) {
	var all []ergotest.Block
	for _, f := range realFiles {
		blocks, err := ergotest.ReadFile(testblocks.Path(t, f.path...))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, blocks...)
	}
	kinds := agreed(t, "mainnet", all)
	if kinds[typeP2PK] < 100 || kinds[typeP2S] < 100 {
		t.Error("too few scripts of some kind")
	}
}

// agreed compares blocks with sigma-rust: the ids of transactions and boxes, and the address of each script, except for
// known differences from the reference implementation. It returns the number of scripts per kind of address. `make
// test-interop` runs it.
func agreed(t *testing.T, network string, blocks []ergotest.Block) map[byte]int {
	t.Helper()
	o := startOracle(t)
	n, err := networks.Get(Name, network)
	if err != nil {
		t.Fatal(err)
	}
	d := decoderAs(t, n, indexAddress)
	txs, unread := 0, 0
	trees := map[string][]byte{} // scripts by address
	for _, b := range blocks {
		made, err := d.block(b.JSON)
		if err != nil {
			t.Fatal(err)
		}
		var full struct {
			BlockTransactions struct{ Transactions []json.RawMessage }
		}
		if err := json.Unmarshal(b.JSON, &full); err != nil {
			t.Fatal(err)
		}
		for i, raw := range full.BlockTransactions.Transactions {
			var tx struct {
				ID      string
				Outputs []struct{ BoxID, ErgoTree string }
			}
			var line bytes.Buffer
			if err := json.Compact(&line, raw); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &tx); err != nil {
				t.Fatal(err)
			}
			txs++
			a := o.ask("tx " + line.String())
			if a.Error != "" {
				unread++
				// sigma-rust rejects trees of later versions, and allows fewer tokens per box than the reference
				// implementation.
				if !strings.Contains(a.Error, "Invalid version") && !strings.Contains(a.Error, "MAX_TOKENS_COUNT") {
					t.Errorf("block %d, transaction %d: %.300s", b.Height, i, a.Error)
				}
			} else if a.ID != tx.ID || len(a.Boxes) != len(tx.Outputs) {
				t.Errorf("block %d: transaction %s is %s with %d boxes", b.Height, tx.ID, a.ID, len(a.Boxes))
			}
			for j, out := range tx.Outputs {
				trees[out.ErgoTree] = made.Txs[i].Outputs[j].Keys[0].Value
				if a.Error == "" && a.Boxes[j] != out.BoxID {
					t.Errorf("block %d: box %s is %s", b.Height, out.BoxID, a.Boxes[j])
				}
			}
		}
	}
	t.Logf("%d transactions, of which sigma-rust cannot read %d", txs, unread)
	kinds, broken := map[byte]int{}, 0
	for text, address := range trees {
		tree, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		kinds[address[0]]++
		a := o.ask(fmt.Sprintf("tree %d %s", n.prefix, text))
		want := address
		if want[0] == typeP2SH {
			want = append([]byte{typeP2S}, tree...) // sigma-rust does not derive this kind from its own scripts
		}
		switch got := formatAddress(n, want); {
		case a.Error != "":
			if broken++; address[0] != typeP2S {
				t.Errorf("tree %s is %s, sigma-rust cannot read it: %s", text, got, a.Error)
			}
		case a.Address != got && !segregatedKey(tree):
			t.Errorf("tree %s is %s, sigma-rust has %s", text, got, a.Address)
		}
	}
	t.Logf("%d scripts: %d keys, %d hashes, %d others, of which sigma-rust cannot read %d", len(trees), kinds[typeP2PK], kinds[typeP2SH], kinds[typeP2S], broken)
	if broken*10 > len(trees) {
		t.Error("sigma-rust cannot read enough of them")
	}
	return kinds
}

// segregatedKey reports whether a script is a key in the segregated constants. sigma-rust gives it a P2PK address; the
// reference implementation does not.
func segregatedKey(tree []byte) bool {
	parsed, err := sigma.ParseTree(tree)
	return err == nil && parsed.Segregated() && bytes.Equal(parsed.Template, []byte{0x73, 0})
}
