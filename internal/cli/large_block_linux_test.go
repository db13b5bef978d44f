package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"birthmark/bench/benchcmd"
	"birthmark/bench/generate/coingen"
	"birthmark/core/query"
	"birthmark/internal/testseed"
)

// largeVariable is the number of transactions of the large block of TestALargeBlock: 2,000,000 are 1 GB, and need
// BIRTHMARK_LARGE_MEMORY=4GiB.
const (
	largeVariable       = "BIRTHMARK_LARGE"
	largeMemoryVariable = "BIRTHMARK_LARGE_MEMORY"
)

// A block with many transactions, and a transaction with 200,000 outputs, are synced within the memory, also if the sync is
// killed, and rolled back. The database is that of a sync that was not interrupted.
func TestALargeBlock(t *testing.T) {
	slow(t)
	t.Parallel()
	txs, memory := 100_000, "96MiB"
	if text := os.Getenv(largeVariable); text != "" {
		var err error
		if txs, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", largeVariable, err)
		}
		memory = os.Getenv(largeMemoryVariable)
	}
	dir := t.TempDir()
	ask(t, nil, "bench", "generate", "--chain", "bitcoin-sv", "--txs", strconv.Itoa(txs+2000), "--block-txs", "10",
		"--large-block", strconv.Itoa(txs), filepath.Join(dir, "chain"))
	k := &killed{rng: testseed.Rand(t), whole: filepath.Join(dir, "whole"), hits: map[string]int{}}
	k.args = []string{"--chain", "bitcoin-sv", "--network", "regtest", "--source", "file://" + filepath.Join(dir, "chain", "blocks")}
	if os.Getenv(largeVariable) != "" {
		k.args = append(k.args, "--memory", memory)
	}

	cmd, stdout, stderr := process(t, -1, append([]string{"bench", "sync", "--json", "--memory", memory, "--db", k.whole}, k.args...)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	var a benchcmd.SyncAnswer
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	t.Logf("the sync of a block with %d transactions took %d MiB of %d", txs, a.PeakRSS>>20, a.PeakRSSBound>>20)
	if a.WithinBound == nil || !*a.WithinBound {
		t.Error("that is more than the bound")
	}
	digest := digestOf(t, k.whole)

	var block query.BlockAnswer
	ask(t, &block, "block", strconv.Itoa(coingen.LargeHeight), "--db", k.whole)
	if block.TxCount != txs+1 {
		t.Errorf("the block has %d transactions, expected %d", block.TxCount, txs+1)
	}
	var wide query.BlockAnswer
	ask(t, &wide, "block", strconv.Itoa(coingen.LargeHeight+1), "--db", k.whole)
	var tx query.TxAnswer
	ask(t, &tx, "tx", wide.Txs[1], "--db", k.whole)
	if n := len(tx.Outputs); n != coingen.WideOutputs {
		t.Errorf("the transaction has %d outputs, expected %d", n, coingen.WideOutputs)
	}

	db := filepath.Join(dir, "db")
	for n := 0; n < 2 && !t.Failed(); n++ {
		if k.kill(t, db, "any time") {
			break
		}
	}
	k.sync(t, db, nil)
	same(t, db, digest)
	ask(t, nil, "rollback", "--db", db, "--to-height", strconv.Itoa(coingen.LargeHeight-1), "--yes")
	consistent(t, db)
	k.sync(t, db, nil)
	same(t, db, digest)
}

// A block that needs more memory than there is ends the sync with an error that names the memory.
func TestABlockThatNeedsMoreMemory(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	ask(t, nil, "bench", "generate", "--chain", "bitcoin-sv", "--txs", "401000", "--block-txs", "10", "--large-block", "400000", dir)
	db := filepath.Join(dir, "db")
	cmd, stdout, stderr := process(t, -1, "sync", "--memory", "64MiB", "--db", db, "--chain", "bitcoin-sv", "--network", "regtest",
		"--source", "file://"+filepath.Join(dir, "blocks"))
	err := cmd.Run()
	if text := stdout.String() + stderr.String(); cmd.ProcessState.ExitCode() != 5 || !strings.Contains(text, "set memory to at least") {
		t.Errorf("%v: %s", err, text)
	}
	consistent(t, db)
}
