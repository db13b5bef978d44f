package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/rocks"
)

// Bitcoin's first 14,132 blocks through the whole program. A database at block 14,131 is the same, byte for byte, for
// any sequence of syncs and rollbacks.
func TestRealBlocksGiveOneDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + realBlocks(t)
	plain := filepath.Join(t.TempDir(), "plain")
	syncTo(t, plain, source)

	var status query.StatusAnswer
	ask(t, &status, "status", "--db", plain)
	expected := query.TotalsAnswer{
		Blocks: 14_132, Txs: 14_247, Inputs: 865, Outputs: 14_282, Unspent: 13_417, UnspentValue: "70660000000000",
	}
	if status.Totals != expected {
		t.Errorf("totals %+v, expected %+v", status.Totals, expected)
	}
	if tip := status.Tip; tip == nil || tip.Height != 14_131 || tip.Hash != "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c" {
		t.Errorf("the tip is %+v", tip)
	}
	consistent(t, plain)
	digest := digestOf(t, plain)

	t.Run("synced again", func(t *testing.T) {
		syncTo(t, plain, source)
		same(t, plain, digest)
	})
	t.Run("synced to 9000 and on, rolled back, and synced", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "db")
		syncTo(t, db, source, "--to-height", "9000")
		at9000 := digestOf(t, db)
		if at9000 == digest {
			t.Error("the database of 9,001 blocks equals that of all blocks")
		}
		syncTo(t, db, source)
		same(t, db, digest)
		ask(t, nil, "rollback", "--db", db, "--to-height", "9000")
		same(t, db, at9000) // values that first occur in removed blocks must be removed
		consistent(t, db)
		syncTo(t, db, source)
		same(t, db, digest)
	})
	t.Run("without the write-ahead log and with little memory", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "db")
		syncTo(t, db, source, "--wal=off", "--memory", "64MiB")
		same(t, db, digest)
	})
	t.Run("in small batches without caches", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "db")
		store, err := rocks.Open(db, rocks.Options{WAL: true, BlockCache: 8 << 20, WriteBuffers: 32 << 20})
		if err != nil {
			t.Fatal(err)
		}
		syncInBatches(t, store, "mainnet", source, 500, 0) // caches must not change the written rows
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		same(t, db, digest)
	})
	t.Run("in memory, block by block", func(t *testing.T) {
		inMemory, onDisk := dumpOf(t, syncInBatches(t, memory.New(), "mainnet", source, 1, 1<<20)), dumpOf(t, openReadOnly(t, plain))
		if !bytes.Equal(inMemory, onDisk) {
			t.Errorf("dumps of %d and %d bytes differ", len(inMemory), len(onDisk))
		}
	})
}

// realBlocks returns the file of Bitcoin's first blocks in a Go module.
func realBlocks(t *testing.T) string {
	t.Helper()
	dir := btcdDir()
	if dir == "" {
		t.Skip("real blocks are missing: run make blocks")
	}
	return filepath.Join(dir, "blockchain", "testdata", "blk_0_to_14131.dat")
}

// btcdDir returns the folder of the module btcd, or "" if it is missing.
var btcdDir = sync.OnceValue(func() string {
	out, err := exec.Command("go", "-C", filepath.Join("..", "..", "tools"), "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

// ask runs a command that must succeed, and decodes its JSON into answer unless answer is nil.
func ask(t *testing.T, answer any, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(context.Background(), append([]string{"birthmark", "--json"}, args...), strings.NewReader(""), &stdout, &stderr); status != exitDone {
		t.Fatalf("birthmark %s: status %d\n%s", strings.Join(args, " "), status, stderr.String())
	}
	if answer == nil {
		return
	}
	if err := json.Unmarshal(stdout.Bytes(), answer); err != nil {
		t.Fatalf("birthmark %s: %v in %s", strings.Join(args, " "), err, stdout.String())
	}
}

func syncTo(t *testing.T, db, source string, more ...string) {
	t.Helper()
	ask(t, nil, append([]string{"sync", "--chain", "bitcoin", "--source", source, "--db", db}, more...)...)
}

func consistent(t *testing.T, db string) {
	t.Helper()
	var a check.Result
	ask(t, &a, "check", "--db", db)
	if !a.OK || len(a.Problems) > 0 || a.Rows == 0 {
		t.Errorf("check: %+v", a)
	}
}

func digestOf(t *testing.T, db string) string {
	t.Helper()
	var a core.Digest
	ask(t, &a, "dump", "--digest", "--db", db)
	return a.SHA256
}

func same(t *testing.T, db, digest string) {
	t.Helper()
	if got := digestOf(t, db); got != digest {
		t.Errorf("the dump's digest is %s, expected %s", got, digest)
	}
}

// syncInBatches syncs all blocks of a network into a new database in s, in batches of the given weight.
func syncInBatches(t *testing.T, s storage.Store, network, source string, weight int, caches int64) *core.DB {
	t.Helper()
	ctx := context.Background()
	chain, err := bitcoin.New(network)
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(ctx, s, core.Options{Chain: chain, CacheBytes: caches})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(ctx, model.SourceOptions{URI: source, Indexes: db.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(ctx, db, src, core.SyncOptions{BatchWeight: weight}); err != nil {
		t.Fatal(err)
	}
	return db
}

func dumpOf(t *testing.T, db *core.DB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := db.Dump(context.Background(), func(family string, key, value []byte) error {
		for _, part := range [][]byte{[]byte(family), key, value} {
			b.WriteString(strconv.Itoa(len(part)))
			b.WriteByte(' ')
			b.Write(part)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
