package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A server that cannot start fails before it writes anything.
func TestServersThatCannotStartAreRefused(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	db, none := filepath.Join(dir, "db"), filepath.Join(dir, "none")
	source := "file://" + realBlocks(t)
	syncTo(t, db, source, "--to-height", "10")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "birthmark.yaml")
		write(t, path, text)
		return path
	}
	two := file("chains:\n- {chain: bitcoin, db: " + db + "}\n- {chain: bitcoin, db: " + db + "/}\n")
	networks := file("chains:\n- {chain: bitcoin, db: " + db + "}\n- {chain: bitcoin, source: '" + source + "', db: " + none + "}\n")
	for _, c := range []struct {
		status        int
		code, message string
		args          []string
	}{
		{exitUsage, "missing_flag", `^nothing to serve: expected --db DIR, --chain with --source, or chains in the settings \(--config FILE\)$`, nil},
		{exitRefused, "no_database", `^no database in .*/bitcoin: create one`, []string{"--chain", "bitcoin"}},
		{exitRefused, "no_database", `no database in .*: create one with birthmark sync$`, []string{"--db", none}},
		{exitRefused, "no_database", `no database in `, []string{"--db", none, "--source", source, "--read-only"}},
		{exitRefused, "wrong_chain", `^database .*/db contains bitcoin, not ergo: name another folder \(--db\), or leave out --chain and --network$`, []string{"--db", db, "--chain", "ergo"}},
		{exitUsage, "bad_source", `^unsupported source ftp:// for bitcoin`, []string{"--db", none, "--chain", "bitcoin", "--source", "ftp://x"}},
		{exitUsage, "bad_setting", `^two chains use the database folder ` + db, []string{"--config", two}},
		{exitUsage, "bad_setting", `^two databases of bitcoin mainnet: a server can serve only one per network$`, []string{"--config", networks}},
		{exitUsage, "bad_setting", `memory is too small for 2 chains`, []string{"--config", networks, "--memory", "100MiB"}},
		{exitRefused, "address_in_use", `^listen: ` + taken.Addr().String() + ` is in use by another program`, []string{"--db", db, "--listen", taken.Addr().String()}},
		{exitUsage, "bad_value", `^listen: nonsense: .*expected host:port`, []string{"--db", db, "--listen", "nonsense"}},
		{exitUsage, "bad_setting", `^--tls-key: tls.key without tls.cert`, []string{"--db", db, "--tls-key", "k"}},
		{exitUsage, "bad_tls", `^tls: /nowhere/c, /nowhere/k: `, []string{"--db", db, "--listen", "127.0.0.1:0", "--tls-cert", "/nowhere/c", "--tls-key", "/nowhere/k"}},
		{exitUsage, "bad_keys", `^--api-keys-file: open /nowhere/keys: no such file or directory: expected a file of lines NAME:KEY$`, []string{"--db", db, "--listen", "127.0.0.1:0", "--api-keys-file", "/nowhere/keys"}},
		{exitUsage, "bad_value", `^pprof: .*use a loopback address`, []string{"--db", db, "--listen", "127.0.0.1:0", "--pprof", "0.0.0.0:0"}},
		{exitUsage, "bad_setting", `^--cors-origins: "example.org" is not an origin`, []string{"--db", db, "--cors-origins", "example.org"}},
	} {
		wantFailure(t, c.status, c.code, c.message, append([]string{"serve"}, c.args...)...)
	}
	running := slowSync(t, 20*time.Millisecond, "--source", source, "--db", db)
	until(t, "the sync to write", func() bool { return tipHeight(t, db) > 10 })
	wantFailure(t, exitRefused, "locked", fmt.Sprintf(`in use by pid %d, birthmark sync, since`, running.Process.Pid), "serve", "--db", db, "--source", source, "--listen", "127.0.0.1:0")
	wantFailure(t, exitRefused, "address_in_use", "is in use by another program", "sync", "--serve", taken.Addr().String(), "--chain", "bitcoin", "--source", source, "--db", none)
	if left, err := os.Stat(none); err == nil {
		entries, _ := os.ReadDir(none)
		t.Errorf("remaining folder %s with %v", left.Name(), entries)
	}
}
