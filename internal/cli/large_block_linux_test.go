package cli

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"birthmark/bench/benchcmd"
	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/params"
	"birthmark/core/query"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testseed"
)

// largeVariable is the number of transactions of the large block of TestALargeBlock: 2,000,000 are 1 GB, and need
// BIRTHMARK_LARGE_MEMORY=4GiB. BIRTHMARK_KILLS is the number of kills, 2 by default.
const (
	largeVariable       = "BIRTHMARK_LARGE"
	largeMemoryVariable = "BIRTHMARK_LARGE_MEMORY"
)

// A block with many transactions, and a transaction with 200,000 outputs, are synced within the memory, also if the sync is
// killed, and rolled back. The database is that of a sync that was not interrupted.
func TestALargeBlock(t *testing.T) {
	slow(t)
	t.Parallel()
	txs, memory, kills, caches := 100_000, "96MiB", 2, longCaches
	var err error
	if text := os.Getenv(largeVariable); text != "" {
		if txs, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", largeVariable, err)
		}
		memory, caches = os.Getenv(largeMemoryVariable), 0
	}
	if text := os.Getenv(killsVariable); text != "" {
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
	}
	dir := t.TempDir()
	ask(t, nil, "bench", "generate", "--chain", "bitcoin-sv", "--txs", strconv.Itoa(txs+2000), "--block-txs", "10",
		"--large-block", strconv.Itoa(txs), filepath.Join(dir, "chain"))
	k := &killed{rng: testseed.Rand(t), caches: caches, whole: filepath.Join(dir, "whole"), hits: map[string]int{}}
	k.args = []string{"--chain", "bitcoin-sv", "--network", "regtest", "--source", "file://" + filepath.Join(dir, "chain", "blocks")}
	if os.Getenv(largeVariable) != "" {
		k.args = append(k.args, "--memory", memory)
	}

	cmd, stdout, stderr := process(t, -1, append([]string{"bench", "sync", "--json", "--memory", memory, "--db", k.whole}, k.args...)...)
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	k.latest = time.Since(began)
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
	before := func() {
		ask(t, nil, "rollback", "--db", db, "--to-height", strconv.Itoa(coingen.LargeHeight-1), "--yes")
	}
	for n := 0; n < kills && !t.Failed(); n++ {
		k.kill(t, db, "any time")
		var status query.StatusAnswer
		if ask(t, &status, "status", "--db", db); status.Tip != nil && status.Tip.Height >= coingen.LargeHeight && n < kills-1 {
			before() // the next one interrupts the large block too
		}
	}
	t.Logf("%d of %d syncs were killed", k.hits["any time"], kills)
	k.sync(t, db, nil)
	same(t, db, digest)
	before()
	consistent(t, db)
	k.sync(t, db, nil)
	same(t, db, digest)
}

// The same block is synced within the memory from a node, by REST and JSON-RPC, and from a peer. The databases are equal.
// A block of a million transactions does not fit into 1 GiB: the error names the memory that is enough.
func TestALargeBlockOfNodesAndPeers(t *testing.T) {
	slow(t)
	t.Parallel()
	txs, memory, little := 150_000, "256MiB", "1GiB"
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
	var blocks [][]byte
	files, _ := filepath.Glob(filepath.Join(dir, "chain", "blocks", "blk*.dat")) // the pattern is valid
	for _, name := range files {
		for file := mapped(t, name); len(file) > 0 && binary.LittleEndian.Uint32(file) != 0; {
			size := binary.LittleEndian.Uint32(file[4:])
			blocks, file = append(blocks, file[8:8+size:8+size]), file[8+size:]
		}
	}
	sv, _ := coingen.Find("bitcoin-sv")
	network := sv.Spec.Networks[slices.IndexFunc(sv.Spec.Networks, func(n *params.Network) bool { return n.Name == "regtest" })]
	serve := func() [][]byte { return blocks }
	args := func(source, db, memory string) []string {
		return []string{"--json", "--memory", memory, "--db", db, "--chain", "bitcoin-sv", "--network", "regtest", "--source", source}
	}
	digest := ""
	for _, of := range []struct{ name, source string }{
		{"files", "file://" + filepath.Join(dir, "chain", "blocks")},
		{"REST", cointest.Node(t, sv.Spec.Format, true, serve)},
		{"JSON-RPC", cointest.Node(t, sv.Spec.Format, false, serve)},
		{"a peer", (&cointest.Peer{Network: network, Blocks: serve}).Start(t)},
	} {
		db := filepath.Join(dir, "db")
		cmd, stdout, stderr := process(t, -1, append([]string{"bench", "sync"}, args(of.source, db, memory)...)...)
		began := time.Now()
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v: %s%s", of.name, err, stdout, stderr)
		}
		var a benchcmd.SyncAnswer
		if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: a block of %d MiB with %d transactions took %d MiB of %d, and %v", of.name, len(blocks[coingen.LargeHeight])>>20, txs,
			a.PeakRSS>>20, a.PeakRSSBound>>20, time.Since(began).Round(time.Second))
		if a.WithinBound == nil || !*a.WithinBound {
			t.Errorf("%s: that is more than the bound", of.name)
		}
		if got := digestOf(t, db); digest == "" {
			digest = got
		} else if got != digest {
			t.Errorf("%s: the dump differs", of.name)
		}
		if err := os.RemoveAll(db); err != nil {
			t.Fatal(err)
		}
		if txs < 1_000_000 {
			continue // a smaller block fits into any memory
		}
		cmd, stdout, stderr = process(t, -1, append([]string{"sync"}, args(of.source, db, little)...)...)
		err := cmd.Run()
		if text := stdout.String() + stderr.String(); cmd.ProcessState.ExitCode() != 5 || !strings.Contains(text, "set memory to at least") {
			t.Errorf("%s: %v: %s", of.name, err, text)
		}
		if err := os.RemoveAll(db); err != nil {
			t.Fatal(err)
		}
	}
}

// mapped maps a file into memory until the end of the test.
func mapped(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b
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
