package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Mistakes that people make: each error names the thing, what was expected, and what to do.
func TestMistakesHaveARemedy(t *testing.T) {
	t.Parallel()
	dir, db := t.TempDir(), first200(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	source, none := "file://"+realBlocks(t), in("none")
	write(t, in("file"), "text")
	write(t, in("keys"), "secret\n")
	write(t, in("beside.yaml"), "chains:\n- {chain: bitcoin, db: "+db+"}\nsnapshots: {to: /backup}\n")
	for _, folder := range []string{"empty", "leveldb"} {
		if err := os.Mkdir(in(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, in("leveldb/CURRENT"), "MANIFEST-000002\n")
	write(t, in("leveldb/000003.ldb"), "")
	sync := func(more ...string) []string {
		return append([]string{"sync", "--chain", "bitcoin", "--source-wait", "0", "--db", none}, more...)
	}
	for _, c := range []struct {
		status        int
		code, message string
		args          []string
	}{
		{exitUsage, "bad_source", `^"127.0.0.1:8332" has no scheme: did you mean http://127.0.0.1:8332 or p2p://127.0.0.1:8332\?$`, sync("--source", "127.0.0.1:8332")},
		{exitUsage, "bad_source", `did you mean http://…@localhost:8332\?$`, sync("--source", "me:secret@localhost:8332")},
		{exitUsage, "bad_source", `^"relay:3001" has no scheme: did you mean tcp://relay:3001\?$`, []string{"sync", "--chain", "cardano", "--source", "relay:3001", "--db", none}},
		{exitUsage, "bad_source", `^unsupported source htp:// for bitcoin \(did you mean http://\?\)`, sync("--source", "htp://localhost")},
		{exitSource, "source_missing", `^nosuch does not exist: expected http://user:password@host:8332 `, sync("--source", "nosuch")},
		{exitSource, "unreachable", `\(is the node running\? the default port of bitcoin regtest is 18443\)$`, sync("--network", "regtest", "--source", "http://127.0.0.1:1")},
		{exitSource, "wrong_network", `blocks of bitcoin mainnet, expected those of bitcoin regtest: use --network mainnet$`, sync("--network", "regtest", "--source", source)},
		{exitSource, "wrong_network", `blocks of bitcoin mainnet, expected those of litecoin mainnet: use --chain bitcoin --network mainnet$`, []string{"sync", "--chain", "litecoin", "--source", source, "--db", none}},
		{exitSource, "source_empty", `holds no \*\.chunk: expected a node's db/immutable$`, []string{"sync", "--chain", "cardano", "--source", in("empty"), "--db", none}},
		{exitRefused, "wrong_network", `^database .* contains bitcoin mainnet, not bitcoin regtest: name another folder \(--db\), or leave out --network$`, []string{"status", "--network", "regtest", "--chain", "bitcoin", "--db", db}},
		{exitRefused, "cannot_open", `leveldb contains a LevelDB database of another program: use an empty or new folder$`, []string{"status", "--db", in("leveldb")}},
		{exitUsage, "unknown_chain", `; did you mean "bitcoin"\?$`, []string{"sync", "--chain", "BTC", "--source", source, "--db", none}},
		{exitUsage, "unknown_chain", `; did you mean "bitcoin"\?$`, []string{"status", "--chain", "btc", "--db", db}},
		{exitUsage, "unknown_network", `; did you mean "mainnet"\?$`, sync("--network", "main", "--source", source)},
		{exitUsage, "unknown_index", `; did you mean "address"\?$`, sync("--index", "adress", "--source", source)},
		{exitUsage, "unknown_index", `; separate names by commas$`, sync("--index", "address script_hash", "--source", source)},
		{exitUsage, "bad_keys", `^--api-keys-file: .*/keys:1: expected NAME:KEY$`, []string{"serve", "--db", db, "--listen", "127.0.0.1:0", "--api-keys-file", in("keys")}},
		{exitUsage, "bad_setting", `beside.yaml:3: snapshots is a setting of a chain: move it into the entries of chains`, []string{"serve", "--config", in("beside.yaml")}},
		{exitUsage, "no_settings", `: is a directory: expected a YAML file, as birthmark init writes it$`, []string{"serve", "--config", in("empty")}},
		{exitUsage, "no_settings", `no such file or directory: expected a YAML file, as birthmark init writes it$`, []string{"serve", "--config", in("nosuch.yaml")}},
		{exitUsage, "bad_value", `has no scheme: did you mean http://localhost:8080/v1/bitcoin\?$`, []string{"replicate", "--from", "localhost:8080/v1/bitcoin", "--db", none}},
		{exitUsage, "unknown_index", `has no index script_type; it has address$`, []string{"index", "drop", "script_type", "--db", db}},
		{exitUsage, "unknown_command", `^the command raw was replaced: run birthmark index add raw, with --raw=files `, []string{"raw", "--add", "--db", db, "--source", source}},
	} {
		wantFailure(t, c.status, c.code, c.message, c.args...)
	}
	if r := birthmark("-v"); r.status != exitDone || r.stdout != birthmark("version").stdout {
		t.Errorf("-v: %+v", r)
	}
}
