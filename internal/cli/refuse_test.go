package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A use that does not match a database is rejected, and the database does not change.
func TestMismatchedDatabasesAreRefused(t *testing.T) {
	t.Parallel()
	source := "file://" + realBlocks(t)
	db := first200(t)
	digest := digestOf(t, db)
	for _, c := range []struct{ line, code, message string }{
		{"sync --chain bitcoin --network signet --source " + source, "wrong_network", `contains bitcoin mainnet, not bitcoin signet`},
		{"sync --network testnet3 --source " + source, "wrong_network", `contains bitcoin mainnet, not bitcoin testnet3`},
		{"status --network regtest", "wrong_network", `contains bitcoin mainnet, not bitcoin regtest`},
		{"rollback --to-height 3 --network signet", "wrong_network", `contains bitcoin mainnet, not bitcoin signet`},
		{"sync --source " + source + " --index address,script_hash", "index_mismatch", `lacks one thing that its settings need: index script_hash, for indexes \(--index\): birthmark index add script_hash`},
	} {
		wantFailure(t, exitRefused, c.code, c.message, append(strings.Fields(c.line), "--db", db)...)
	}
	same(t, db, digest)
}

func TestNewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	db := first200(t)
	store, err := rocks.Open(db, rocks.Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Declare(storage.Declaration{Family: 0, Name: "meta", Access: storage.Lookup}); err != nil {
		t.Fatal(err)
	}
	err = store.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		b.Put(0, []byte("format"), binary.AppendUvarint(nil, 99))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"status", "block tip", "check", "dump", "rollback --to-height 3", "sync --source file://" + realBlocks(t)} {
		args := append(strings.Fields(line), "--db", db)
		if args[0] == "dump" {
			args = append(args, "--digest")
		}
		wantFailure(t, exitRefused, "wrong_format", `^the database has format 99, this program reads and writes format \d+`, args...)
	}
}

func TestAMissingDatabaseIsReported(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	empty := t.TempDir()
	other := t.TempDir()
	write(t, filepath.Join(other, "thesis.tex"), "x")
	file := filepath.Join(other, "thesis.tex")
	for _, line := range []string{"status", "block 1", "find address X", "check", "dump --digest", "rollback --to-height 3"} {
		for _, db := range []string{none, empty, other, file} {
			wantFailure(t, exitRefused, "no_database", `no database in .*: create one with birthmark sync$`, append(strings.Fields(line), "--db", db)...)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a query created a folder")
	}
	wantFailure(t, exitRefused, "cannot_open", `contains other files \(thesis.tex\) and no database`,
		"sync", "--chain", "bitcoin", "--source", "file://"+realBlocks(t), "--db", other)
	if entries, _ := os.ReadDir(other); len(entries) != 1 {
		t.Errorf("remaining files: %v", entries)
	}
}

// A query without a result exits with 1, an invalid one with 2.
func TestQueriesWithoutAResult(t *testing.T) {
	slow(t)
	t.Parallel()
	db := first200(t)
	hash := strings.Repeat("ab", 32)
	next := func() string {
		var a struct{ Next *string }
		ask(t, &a, "find", "--db", db, "address", satoshi, "--limit", "1")
		return *a.Next
	}()
	for _, c := range []struct {
		status        int
		line          string
		code, message string
	}{
		{exitFailed, "block 200", "unknown_block", `no block at height 200: the tip is 199`},
		{exitFailed, "block 99999999999", "unknown_block", `no block at height 99999999999`},
		{exitFailed, "block " + hash, "unknown_block", `no block ` + hash},
		{exitFailed, "tx " + hash, "unknown_tx", `no transaction ` + hash},
		{exitFailed, "output " + hash + ":0", "unknown_tx", hash},
		{exitFailed, "output " + firstPayment + ":2", "unknown_output", firstPayment},
		{exitFailed, "asset " + hash, "unknown_asset", `unknown asset`},
		{exitFailed, "asset-events " + hash, "unknown_asset", `unknown asset`},
		{exitFailed, "asset-holders " + hash, "unknown_asset", `unknown asset`},
		{exitFailed, "rollback --to-height 200", "unknown_block", `no block at height 200: the tip is 199`},
		{exitUsage, "block " + hash[:63], "bad_value", `named by its hash, its height, tip, tip-N or genesis.*64 hex digits`},
		{exitUsage, "block -- -1", "bad_value", `named by its hash, its height, tip, tip-N or genesis`},
		{exitUsage, "tx " + hash + "ab", "bad_value", `64 hex digits`},
		{exitUsage, "tx nonsense", "bad_value", `64 hex digits`},
		{exitUsage, "output " + hash, "bad_value", `:`},
		{exitUsage, "output " + hash + ":x", "bad_value", `x`},
		{exitUsage, "balance address 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", "bad_value", `1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3`},
		{exitUsage, "find adress " + satoshi, "unknown_index", `bitcoin has no index "adress"; it offers address, `},
		{exitUsage, "find script_hash " + hash, "unknown_index", `^the database has no index script_hash; it has address`},
		{exitUsage, "balance nothing " + satoshi, "unknown_index", `bitcoin has no index "nothing"`},
		{exitUsage, "richest nothing", "unknown_index", `bitcoin has no index "nothing"`},
		{exitUsage, "find address notanaddress", "bad_value", `notanaddress`},
		{exitUsage, "find address tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "bad_value", `tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx`},
		{exitUsage, "find address " + satoshi + " --limit 0", "bad_value", `^--limit: expected a number from 1 to 10000, not "0"$`},
		{exitUsage, "find address " + satoshi + " --limit 10001", "bad_value", `^--limit: expected a number from 1 to 10000, not "10001"$`},
		{exitUsage, "find address " + satoshi + " --limit ten", "bad_value", `^--limit: expected a number from 1 to 10000, not "ten"$`},
		{exitUsage, "find address " + satoshi + " --order up", "bad_value", `^--order: expected asc or desc, not "up"$`},
		{exitUsage, "find address " + satoshi + " --after= ", "bad_value", `^--after: expected the cursor of a page`},
		{exitUsage, "find address " + satoshi + " --after abc", "bad_cursor", `invalid cursor "abc"`},
		{exitUsage, "history address " + satoshi + " --after " + next, "bad_cursor", `belongs to another list`},
		{exitUsage, "find --unspent address " + satoshi + " --after " + next, "bad_cursor", `belongs to another list`},
		{exitUsage, "richest address --limit 0", "bad_value", `^--limit: expected a number`},
	} {
		args := strings.Fields(c.line)
		at := max(1, len(args))
		if i := indexOf(args, "--"); i >= 0 {
			at = i
		}
		args = append(args[:at:at], append([]string{"--db", db}, args[at:]...)...)
		wantFailure(t, c.status, c.code, c.message, args...)
	}
}

func indexOf(args []string, arg string) int {
	for i, a := range args {
		if a == arg {
			return i
		}
	}
	return -1
}

// A source without valid blocks is an error of the source. No database is created, and an existing one does not
// change.
func TestBadSourceChangesNothing(t *testing.T) {
	t.Parallel()
	blocks, err := os.ReadFile(realBlocks(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		write(t, path, string(content))
		return path
	}
	old := first200(t)
	digest := digestOf(t, old)
	wrongMagic := bytes.ReplaceAll(blocks[:1000], blocks[:4], []byte{0xfa, 0xbf, 0xb5, 0xda})
	for name, path := range map[string]string{
		"missing":       filepath.Join(dir, "none.dat"),
		"empty":         file("empty.dat", nil),
		"no block data": file("text.dat", []byte(strings.Repeat("these are no blocks\n", 100))),
		"wrong network": file("regtest.dat", wrongMagic),
		"empty folder":  t.TempDir(),
	} {
		made := filepath.Join(dir, "made")
		for _, args := range [][]string{
			{"sync", "--chain", "bitcoin", "--db", made, "--source", "file://" + path},
			{"sync", "--db", old, "--source", "file://" + path},
		} {
			r := birthmark(args...)
			if r.status != exitSource || !strings.HasPrefix(r.stderr, "birthmark: ") || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if _, err := os.Stat(made); err == nil {
			t.Errorf("%s: a database was created", name)
		}
	}
	same(t, old, digest)

	// An invalid block ends the sync at the block before it.
	broken := bytes.Clone(blocks[:60_000])
	at := bytes.Index(broken[30_000:], blocks[:4]) + 30_000
	broken[at+8+80+10] ^= 1 // in its first transaction
	db := filepath.Join(dir, "broken")
	r := birthmark("sync", "--chain", "bitcoin", "--db", db, "--source", "file://"+file("broken.dat", broken))
	if r.status != exitSource || !strings.Contains(r.stderr, "block ") {
		t.Errorf("broken block: %+v", r)
	}
	consistent(t, db)
}

func TestAnUnwritableFolderIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	r := birthmark("sync", "--chain", "bitcoin", "--source", "file://"+realBlocks(t), "--db", filepath.Join(file, "db"))
	if r.status != exitRefused || !strings.Contains(r.stderr, file) || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("below a file: %+v", r)
	}

	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	// Root may write anywhere, so another process drops this capability first. It must be able to enter the parent
	// folders.
	blocks := filepath.Join(dir, "blocks.dat")
	content, err := os.ReadFile(realBlocks(t))
	if err != nil {
		t.Fatal(err)
	}
	write(t, blocks, string(content[:10_000]))
	for d := dir; d != filepath.Dir(os.TempDir()) && len(d) > 1; d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && strings.HasPrefix(d, os.TempDir()+"/") {
			_ = os.Chmod(d, info.Mode()|0o055)
		}
	}
	cmd, _, stderr := process(t, -1, "sync", "--chain", "bitcoin", "--source", "file://"+blocks, "--db", filepath.Join(closed, "db"))
	cmd.Env = append(cmd.Env, asProgram+"_NOBODY=1")
	_ = cmd.Run()
	if cmd.ProcessState.ExitCode() != exitMachine || !strings.Contains(stderr.String(), closed) || !strings.Contains(stderr.String(), "permission denied") {
		t.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), stderr)
	}
}
