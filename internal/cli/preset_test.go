package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A preset can get custom indexes in a release. A database without them still syncs with it, and they can be added.
func TestDatabasesOfEarlierPresetsStillSync(t *testing.T) {
	dir := t.TempDir()
	var made struct{ Network, Source string }
	ask(t, &made, "bench", "generate", "--chain", "cardano", "--txs", "300", filepath.Join(dir, "made"))
	settings := func(indexes string) string {
		path := filepath.Join(dir, "birthmark.yaml")
		text := fmt.Sprintf("chain: cardano\nnetwork: %s\nsource: %s\ndb: %s\nindexes: %s\n", made.Network, made.Source, filepath.Join(dir, "db"), indexes)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const before = "{address: {unspent: true}, payment_credential: {unspent: true}, stake_credential: {unspent: true}, " +
		"policy: {unspent: true}, datum_hash: {}, script_hash: {}}"
	ask(t, nil, "sync", "--config", settings(before))
	r := birthmark("sync", "--config", settings("kupo"))
	for _, command := range []string{"birthmark index add failed_datum", "birthmark index add raw"} {
		if r.status != exitDone || !strings.Contains(r.stderr, command) {
			t.Fatalf("no %s: %+v", command, r)
		}
	}
	ask(t, nil, "index", "add", "raw", "--config", settings("kupo"))
	ask(t, nil, "index", "add", "failed_datum", "--config", settings("kupo"))
	ask(t, nil, "index", "add", "failed_script", "--config", settings("kupo"))
	if r := birthmark("sync", "--config", settings("kupo")); r.status != exitDone || strings.Contains(r.stderr, "index add") {
		t.Errorf("%+v", r)
	}
}
