package cli

import (
	"path/filepath"
	"testing"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/storage/rocks"
)

// blank creates a database without blocks, as a sync leaves it that fails before its first block.
func blank(t *testing.T, db, chain, network string) {
	t.Helper()
	store, err := rocks.Open(db, rocks.Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c, err := chains.New(chain, network)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Open(t.Context(), store, core.Options{Chain: c}); err != nil {
		t.Fatal(err)
	}
}

// A database without blocks does not prevent a sync with other settings. It becomes the database that the same sync
// makes in a new folder. One with blocks is not changed.
func TestDatabasesWithoutBlocksAreCreatedAgain(t *testing.T) {
	t.Parallel()
	dir, source := t.TempDir(), "file://"+realBlocks(t)
	file := filepath.Join(dir, "custom.yaml")
	write(t, file, "chain: bitcoin\nindexes: {address: {}, short: {kind: one-to-many, value: 'output.script[:2]'}}\n")
	for name, c := range map[string]struct {
		chain, network string
		args           []string
	}{
		"index":   {"bitcoin", "mainnet", []string{"--index", "address,script_hash"}},
		"raw":     {"bitcoin", "mainnet", []string{"--raw=keep"}},
		"preset":  {"bitcoin", "mainnet", []string{"--index", "wallet"}},
		"custom":  {"bitcoin", "mainnet", []string{"--config", file}},
		"network": {"bitcoin", "regtest", []string{"--network", "mainnet"}},
		"chain":   {"ergo", "mainnet", nil},
		"same":    {"bitcoin", "mainnet", nil},
	} {
		db, fresh := filepath.Join(dir, name), filepath.Join(dir, name+"-fresh")
		blank(t, db, c.chain, c.network)
		args := append([]string{"--to-height", "150"}, c.args...)
		syncTo(t, db, source, args...)
		syncTo(t, fresh, source, args...)
		same(t, db, digestOf(t, fresh))
		consistent(t, db)
		if c.chain == "bitcoin" && c.network == "mainnet" {
			wantFailure(t, exitRefused, "wrong_network", "contains bitcoin mainnet", "sync", "--chain", "bitcoin",
				"--network", "regtest",
				"--source", source, "--db", db)
		}
	}
	wantFailure(t, exitRefused, "index_mismatch", "index add script_hash", "sync", "--chain", "bitcoin", "--index",
		"script_hash",
		"--source", source, "--db", filepath.Join(dir, "raw"))
	same(t, filepath.Join(dir, "raw"), digestOf(t, filepath.Join(dir, "raw-fresh")))
}
