package cli

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// A snapshot of another chain, network or with other indexes is refused before anything is written.
func TestUnsuitableSnapshotsAreRefused(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	db, repository, to := filepath.Join(dir, "db"), filepath.Join(dir, "repository"), filepath.Join(dir, "to")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "200")
	wantFailure(t, exitFailed, "no_snapshot", "has no snapshot", "snapshot", "list", repository)
	ask(t, nil, "snapshot", "create", "--db", db, "--to", repository)
	own := filepath.Join(repository, "bitcoin-mainnet")
	_, public := signingKeys(t)
	settings := filepath.Join(dir, "birthmark.yaml")
	write(t, settings, "chain: bitcoin\nindexes:\n  address: {}\n  op_return: {}\n")
	options := filepath.Join(dir, "options.yaml")
	write(t, options, "chain: bitcoin\nindexes:\n  address: { history: true }\n")
	for _, c := range []struct {
		status        int
		code, message string
		args          []string
	}{
		{exitRefused, "wrong_chain", "contains bitcoin, not ergo", []string{"restore", own, "--chain", "ergo"}},
		{exitRefused, "wrong_network", "contains bitcoin mainnet, not signet", []string{"restore", own, "--chain", "bitcoin", "--network", "signet"}},
		{exitFailed, "no_snapshot", "no snapshot of ergo mainnet", []string{"restore", repository, "--chain", "ergo"}},
		{exitFailed, "no_snapshot", "has no snapshot 7", []string{"restore", repository + "@7"}},
		{exitRefused, "bad_signature", "is not signed", []string{"restore", repository, "--trust", public}},
		{exitUsage, "bad_key", "neither a public key", []string{"restore", repository, "--trust", "RWno"}},
		{exitUsage, "no_digest", "has no digest", []string{"restore", repository, "--digest"}},
		{exitRefused, "index_mismatch", "birthmark.yaml:4: snapshot .* lacks index op_return", []string{"restore", repository, "--config", settings}},
		{exitRefused, "index_mismatch", "lacks option history of index address", []string{"restore", repository, "--config", options}},
		{exitUsage, "bad_url", `scheme "ftp"`, []string{"restore", "ftp://host/"}},
		{exitUsage, "bad_url", "contains credentials", []string{"restore", "s3://id:secret@bucket"}},
		{exitUsage, "bad_value", "--jobs", []string{"restore", repository, "--jobs", "0"}},
		{exitSource, "storage_failed", "read bitcoin-mainnet/latest.json", []string{"restore", "http://127.0.0.1:9", "--chain", "bitcoin"}},
		{exitUsage, "missing_argument", "missing URL", []string{"restore"}},
	} {
		wantFailure(t, c.status, c.code, c.message, append([]string{"snapshot"}, append(c.args, "--db", to)...)...)
		if exists(to) {
			t.Fatalf("%v created %s", c.args, to)
		}
	}
	write(t, db+"-file", "")
	for _, c := range []struct {
		status        int
		code, message string
		args          []string
	}{
		{exitUsage, "missing_flag", "missing --to URL", []string{"create", "--db", db}},
		{exitUsage, "bad_url", "can only be read", []string{"create", "--db", db, "--to", "https://127.0.0.1:9"}},
		{exitUsage, "bad_key", "signing key: .*absent", []string{"create", "--db", db, "--to", repository, "--sign", dir + "/absent"}},
		{exitRefused, "no_database", "no database", []string{"create", "--db", to, "--to", repository}},
		{exitUsage, "bad_value", "--keep", []string{"prune", repository, "--keep", "0"}},
		{exitUsage, "bad_value", "URL of a storage", []string{"prune", repository + "@200"}},
		{exitUsage, "missing_flag", "--digest needs --db", []string{"verify", repository, "--digest"}},
		{exitRefused, "not_empty", "is not empty", []string{"restore", repository, "--db", db}},
	} {
		wantFailure(t, c.status, c.code, c.message, append([]string{"snapshot"}, c.args...)...)
	}
	// A database on another branch of the chain.
	other := filepath.Join(dir, "other")
	syncTo(t, other, "file://"+realBlocks(t), "--to-height", "300")
	var a snapshotAnswer
	ask(t, &a, "snapshot", "verify", repository, "--db", other)
	if !a.OK || a.Database.SameTip {
		t.Errorf("%+v", a)
	}
}

// A flipped byte of a stored table is named by verify, with exit status 1, and not restored.
func TestDamagedSnapshotsAreNamed(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	dir := t.TempDir()
	db, repository, to := filepath.Join(dir, "db"), filepath.Join(dir, "repository"), filepath.Join(dir, "to")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "300")
	ask(t, nil, "snapshot", "create", "--db", db, "--to", repository)
	for i := range 5 {
		to := to + strconv.Itoa(i) // files that an earlier restore checked are used again
		path := anyFileOf(t, rng, filepath.Join(repository, "bitcoin-mainnet"))
		text := []byte(readText(t, path))
		at := rng.IntN(len(text))
		text[at] ^= 1 << rng.IntN(8)
		write(t, path, string(text))
		r := birthmark("snapshot", "verify", repository, "--json")
		var a snapshotAnswer
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.status != exitFailed || a.OK || len(a.Problems) != 1 ||
			!strings.HasSuffix(a.Problems[0].File, filepath.Base(path)) {
			t.Errorf("byte %d of %s: %+v", at, path, r)
		}
		wantFailure(t, exitSource, "snapshot_damaged", filepath.Base(path), "snapshot", "restore", repository, "--db", to)
		if exists(to) || exists(to+".restoring/CURRENT") {
			t.Fatalf("%s was restored", path)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		// The file is missing: the next snapshot stores it again.
		wantFailure(t, exitSource, "snapshot_damaged", "is missing", "snapshot", "restore", repository, "--db", to)
		ask(t, nil, "snapshot", "create", "--db", db, "--to", repository)
	}
	ask(t, nil, "snapshot", "restore", repository, "--db", to, "--check")
	same(t, to, digestOf(t, db))
	latest := filepath.Join(repository, "bitcoin-mainnet", "latest.json")
	write(t, latest, strings.Replace(readText(t, latest), "000", "001", 1))
	if r := birthmark("snapshot", "verify", repository, "--json"); r.status != exitFailed || !strings.Contains(r.stdout, `"ok":false`) {
		t.Errorf("%+v", r)
	}
}

// anyFileOf returns the path of a random file of the latest snapshot in a repository that is not empty.
func anyFileOf(t *testing.T, rng *rand.Rand, repository string) string {
	t.Helper()
	var latest struct{ Snapshot string }
	var manifest struct {
		Files []struct {
			Size   int64
			SHA256 string
		}
	}
	if err := json.Unmarshal([]byte(readText(t, filepath.Join(repository, "latest.json"))), &latest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(readText(t, filepath.Join(repository, "snapshots", latest.Snapshot+".json"))), &manifest); err != nil {
		t.Fatal(err)
	}
	for {
		if f := manifest.Files[rng.IntN(len(manifest.Files))]; f.Size > 0 {
			return filepath.Join(repository, "files", f.SHA256[:2], f.SHA256)
		}
	}
}
