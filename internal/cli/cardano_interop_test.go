//go:build interop

package cli

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/cardanogen"
	"birthmark/internal/testnode/ouroborostest"
)

// A client of another project accepts the test node as a Cardano node. This shows that tests with the test node do not
// depend on errors of gouroboros, which the test node uses. `make test-interop` runs it.
func TestInteropAnotherClientAcceptsTheTestNode(t *testing.T) {
	t.Parallel()
	const headers = 300
	b := newBranch()
	b.mine(t, 400)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, b.blocks)
	at, err := url.Parse(n.TCP())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "client.js", at.Hostname(), at.Port(), strconv.Itoa(cardanogen.DefaultMagic), strconv.Itoa(headers))
	cmd.Dir = filepath.Join("..", "..", "tools", "interop", "ouroboros")
	cmd.Stderr = os.Stderr
	first, last := b.blocks[50], b.blocks[59]
	cmd.Stdin = strings.NewReader(fmt.Sprintf("%d %x %d %x\n", first.Slot, first.Hash, last.Slot, last.Hash))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make test-interop installs what it needs", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	says := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the client ended early: %v", lines.Err())
		}
		return lines.Text()
	}
	// Version 14 is the newest that it supports.
	for _, expected := range []string{"version 14", "intersection", "back"} {
		if got := says(); got != expected {
			t.Fatalf("%q, expected %q", got, expected)
		}
	}
	for _, block := range b.blocks[:headers] {
		var wrapped struct {
			_      struct{} `cbor:",toarray"`
			Era    uint
			Header cbor.Tag
		}
		raw, err := hex.DecodeString(strings.TrimPrefix(says(), "header "))
		if err == nil {
			err = cbor.Unmarshal(raw, &wrapped)
		}
		header, _ := wrapped.Header.Content.([]byte)
		if err != nil || wrapped.Era != 6 || blake2b.Sum256(header) != block.Hash {
			t.Fatalf("block %d: %x is not its header: %v", block.Number, raw, err)
		}
	}
	for _, expected := range []string{"tip 399", "alive 48879"} {
		if got := says(); got != expected {
			t.Fatalf("%q, expected %q", got, expected)
		}
	}
	for _, block := range b.blocks[50:60] {
		if got, expected := says(), "block 8207"+hex.EncodeToString(block.CBOR); got != expected {
			t.Fatalf("block %d: %s, expected %s", block.Number, got, expected)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the client: %v", err)
	}
}
