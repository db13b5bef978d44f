package cli

import (
	crand "crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"

	"birthmark/internal/testnode/s3test"
)

// snapshotAnswer is a part of the answers of snapshot create, restore, verify and list.
type snapshotAnswer struct {
	OK              bool
	Snapshot        string
	Files           int
	Bytes           int64
	UploadedFiles   int   `json:"uploaded_files"`
	UploadedBytes   int64 `json:"uploaded_bytes"`
	DownloadedFiles int   `json:"downloaded_files"`
	Signed          bool
	SignedBy        string `json:"signed_by"`
	Digest          any
	Removed         []string
	Tip             struct {
		Height int
		Hash   string
	}
	Snapshots []struct {
		Snapshot string
		Latest   bool
	}
	Problems []struct{ File, Problem string }
	Database struct {
		SameTip     bool `json:"same_tip"`
		Digest      bool
		Differences []string
	}
}

// signingKeys returns files with a new secret and public key of minisign.
func signingKeys(t *testing.T) (secret, public string) {
	t.Helper()
	pub, key, err := minisign.GenerateKey(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	secret, public = filepath.Join(dir, "key"), filepath.Join(dir, "key.pub")
	write(t, secret, string(text)+"\n")
	write(t, public, pub.String()+"\n")
	return secret, public
}

// optionSettings are all options of two indexes, and raw transactions.
const optionSettings = `chain: bitcoin
raw: keep
indexes:
  address: { balance: true, unspent: true, history: true, prefix: true }
  script_hash: { balance: true, unspent: true, history: true, prefix: true }
`

// A database with all options, restored from a folder, a bucket and over HTTPS, is the same to the byte.
func TestARestoredDatabaseIsEqual(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	settings, db := filepath.Join(dir, "birthmark.yaml"), filepath.Join(dir, "db")
	write(t, settings, optionSettings)
	ask(t, nil, "sync", "--config", settings, "--source", "file://"+realBlocks(t), "--db", db)
	digest := digestOf(t, db)
	secret, public := signingKeys(t)
	folder := filepath.Join(dir, "repository")
	bucket := "s3://" + s3test.Bucket + "/a/b?region=us-east-1&endpoint=" + s3test.Start(t)
	web := httptest.NewTLSServer(http.FileServer(http.Dir(folder)))
	defer web.Close()
	certificate := filepath.Join(dir, "cert.pem")
	write(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})))
	for i, url := range []string{folder, bucket, web.URL} {
		if i < 2 {
			var a snapshotAnswer
			ask(t, &a, "snapshot", "create", "--db", db, "--to", url, "--sign", secret, "--digest")
			if !a.Signed || a.Digest != digest || a.Tip.Height != 14131 || a.UploadedFiles != a.Files || a.UploadedBytes != a.Bytes {
				t.Errorf("%s: %+v", url, a)
			}
			var again snapshotAnswer // tables are hashed once and stored once
			if ask(t, &again, "snapshot", "create", "--db", db, "--to", url, "--sign", secret, "--keep", "1"); again.UploadedFiles > 4 || again.Digest != nil {
				t.Errorf("%s: %+v", url, again)
			}
			if !slices.Equal(again.Removed, []string{a.Snapshot}) && again.Snapshot != a.Snapshot {
				t.Errorf("%s: removed %v", url, again.Removed)
			}
			ask(t, nil, "snapshot", "create", "--db", db, "--to", url, "--sign", secret, "--digest")
			var listed snapshotAnswer
			if ask(t, &listed, "snapshot", "list", url); len(listed.Snapshots) == 0 || !listed.Snapshots[0].Latest {
				t.Errorf("%+v", listed)
			}
		}
		to := filepath.Join(dir, "restored-"+strconv.Itoa(i))
		cmd, stdout, stderr := process(t, all, "snapshot", "restore", url, "--json", "--chain", "bitcoin", "--db", to, "--trust", public, "--check", "--digest")
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+certificate)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v: %s%s", url, err, stdout, stderr)
		}
		var a snapshotAnswer
		if err := json.Unmarshal(stdout.Bytes(), &a); err != nil || a.DownloadedFiles < a.Files-1 || len(a.SignedBy) != 16 {
			t.Errorf("%s: %v in %s", url, err, stdout)
		}
		same(t, to, digest)
		if i < 2 {
			var v snapshotAnswer
			ask(t, &v, "snapshot", "verify", url, "--trust", public, "--db", to, "--digest")
			if !v.OK || !v.Database.SameTip || !v.Database.Digest || len(v.Problems)+len(v.Database.Differences) > 0 || v.Files != a.Files {
				t.Errorf("%s: %+v", url, v)
			}
		}
	}
	// A restored database grows like any other. It is the snapshot's, with more blocks.
	short, grown := filepath.Join(dir, "short"), filepath.Join(dir, "grown")
	ask(t, nil, "sync", "--config", settings, "--source", "file://"+realBlocks(t), "--db", short, "--to-height", "9000")
	other := filepath.Join(dir, "other")
	ask(t, nil, "snapshot", "create", "--db", short, "--to", other, "--digest")
	ask(t, nil, "snapshot", "restore", other, "--config", settings, "--db", grown)
	ask(t, nil, "sync", "--config", settings, "--source", "file://"+realBlocks(t), "--db", grown)
	same(t, grown, digest)
	var v snapshotAnswer
	if ask(t, &v, "snapshot", "verify", other, "--db", grown); !v.OK || v.Database.SameTip {
		t.Errorf("%+v", v)
	}
	wantFailure(t, exitRefused, "behind_snapshot", "below block 14131", "snapshot", "verify", folder, "--db", short)
	wantFailure(t, exitRefused, "other_tip", "at block 14131", "snapshot", "verify", other+"@9000", "--db", grown, "--digest")
}

// A snapshot has the files of RocksDB only: not the snapshot of the caches, whose key makes collisions possible, nor locks
// or unfinished tables.
func TestASnapshotHasNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, repository := filepath.Join(dir, "db"), filepath.Join(dir, "repository")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "500")
	caches := readText(t, filepath.Join(db, "notes", "caches"))
	if err := os.MkdirAll(filepath.Join(db, "staging"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(db, "staging", "7.sst"), "unfinished")
	ask(t, nil, "snapshot", "create", "--db", db, "--to", repository)
	to := filepath.Join(dir, "restored")
	ask(t, nil, "snapshot", "restore", repository, "--db", to)
	for _, root := range []string{repository, to} {
		err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			if text := readText(t, path); strings.Contains(text, caches) || text == "unfinished" || strings.Contains(text, dir) {
				t.Errorf("%s contains what belongs to this machine", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"notes", "overflow", "snapshot", "control.sock", "staging"} {
		if exists(filepath.Join(to, name)) {
			t.Errorf("the restored database has %s", name)
		}
	}
}

// Snapshots are created while another process syncs. Each is the chain up to its tip.
func TestSnapshotsAreCreatedBesideASync(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, wal := range []string{"--wal=on", "--wal=off"} {
		t.Run(wal, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db, repository := filepath.Join(dir, "db"), filepath.Join(dir, "repository")
			source := "file://" + realBlocks(t)
			running := slowSync(t, 200*time.Millisecond, "--chain", "bitcoin", "--source", source, "--db", db, wal)
			var heights []int
			for i := range 3 {
				var a snapshotAnswer
				until(t, "a snapshot with more blocks", func() bool {
					r := birthmark("snapshot", "create", "--json", "--db", db, "--to", repository)
					return json.Unmarshal([]byte(r.stdout), &a) == nil && r.status == exitDone && (i == 0 || a.Tip.Height > heights[i-1])
				})
				heights = append(heights, a.Tip.Height)
				to := filepath.Join(dir, "restored-"+strconv.Itoa(i))
				ask(t, nil, "snapshot", "restore", repository+"@"+a.Snapshot, "--db", to, "--check")
			}
			t.Logf("heights %v", heights)
			if err := errors.Join(running.Process.Signal(syscall.SIGTERM), running.Wait()); err != nil {
				t.Fatal(err)
			}
			ask(t, nil, "rollback", "--db", db, "--to-height", strconv.Itoa(heights[2]), "--yes")
			same(t, db, digestOf(t, filepath.Join(dir, "restored-2")))
		})
	}
}

// serve --bootstrap restores a missing database, serves it and follows its source. A database that exists is used.
func TestServeRestoresAMissingDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	source, made, repository := "file://"+realBlocks(t), filepath.Join(dir, "made"), filepath.Join(dir, "repository")
	syncTo(t, made, source, "--to-height", "9000")
	secret, public := signingKeys(t)
	ask(t, nil, "snapshot", "create", "--db", made, "--to", repository, "--sign", secret)
	db := filepath.Join(dir, "db")
	args := []string{"--chain", "bitcoin", "--db", db, "--bootstrap", repository, "--trust", public}
	s := startServer(t, args...)
	if height, _ := s.tip(t, "bitcoin"); height != 9000 {
		t.Errorf("at block %d", height)
	}
	s.stop(t)
	if err := os.RemoveAll(repository); err != nil { // not needed any more
		t.Fatal(err)
	}
	s = startServer(t, append(args, "--source", source)...)
	s.reaches(t, "bitcoin", 14131)
	s.stop(t)
	syncTo(t, made, source)
	same(t, db, digestOf(t, made))
	wantFailure(t, exitFailed, "no_snapshot", "bootstrap: .*repository has no snapshot of bitcoin mainnet",
		"serve", "--listen", "127.0.0.1:0", "--chain", "bitcoin", "--db", db+"2", "--bootstrap", repository)
	wantFailure(t, exitUsage, "bad_setting", "--bootstrap: the URL contains credentials",
		"serve", "--listen", "127.0.0.1:0", "--chain", "bitcoin", "--db", db+"2", "--bootstrap", "https://me:secret@host/")
}

// serve creates snapshots at the tip as the settings say, and keeps as many as they say.
func TestServeCreatesSnapshots(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	db, repository, settings := filepath.Join(dir, "db"), filepath.Join(dir, "repository"), filepath.Join(dir, "birthmark.yaml")
	secret, public := signingKeys(t)
	write(t, settings, "chain: bitcoin\ndb: "+db+"\nsnapshots: { to: "+repository+", every: 1s, keep: 1, sign: "+secret+" }\n")
	source := "file://" + realBlocks(t)
	names := func() (names []string) {
		r := birthmark("snapshot", "list", "--config", settings, "--json")
		var a snapshotAnswer
		if r.status == exitDone && json.Unmarshal([]byte(r.stdout), &a) == nil {
			for _, s := range a.Snapshots {
				names = append(names, s.Snapshot)
			}
		}
		return names
	}
	syncTo(t, db, source, "--to-height", "5000")
	s := startServer(t, "--config", settings, "--read-only")
	until(t, "a snapshot of a database that is only read", func() bool { return len(names()) == 1 })
	s.stop(t)
	s = startServer(t, "--config", settings, "--source", source)
	until(t, "a snapshot at the tip", func() bool {
		all := names()
		return len(all) == 1 && strings.HasPrefix(all[0], "000014131-")
	})
	s.stop(t)
	ask(t, nil, "snapshot", "verify", repository, "--trust", public, "--db", db)
	if exists(filepath.Join(db, "snapshot", "checkpoint")) {
		t.Error("the checkpoint is left")
	}
}

// The commands in docs/snapshots.md work as written, with other folders, a test server for S3 and one for HTTPS.
func TestCommandsInTheSnapshotPageWork(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	secret, public := signingKeys(t)
	syncTo(t, filepath.Join(dir, "btc"), "file://"+realBlocks(t), "--to-height", "1000")
	backup := filepath.Join(dir, "backup")
	web := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "web-root"))))
	defer web.Close()
	ask(t, nil, "snapshot", "create", "--db", filepath.Join(dir, "btc"), "--to", filepath.Join(dir, "web-root"), "--sign", secret, "--digest")
	s3 := s3test.Start(t)
	page := readText(t, filepath.Join("..", "..", "docs", "snapshots.md"))
	count := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			args := strings.Fields(strings.NewReplacer("'", "", "https://s3.example.org", s3, "s3://backup", "s3://"+s3test.Bucket,
				"https://snapshots.example.org", web.URL, "minisign.pub", public, "/backup/blocks", realBlocks(t), "/backup", backup,
			).Replace(line))
			for i, arg := range args {
				if i > 0 && args[i-1] == "--db" {
					args[i] = filepath.Join(dir, arg)
				}
			}
			count++
			if args[1] == "replicate" { // of a primary with snapshots of its own
				db, snapshots := filepath.Join(dir, "primary"), filepath.Join(dir, "of-primary")
				cmd, _, stderr := process(t, 501, "serve", "--json", "--listen", "127.0.0.1:0", "--chain", "bitcoin", "--source",
					"file://"+realBlocks(t), "--db", db, "--segments-keep", "1MiB")
				primary := startServing(t, cmd, stderr)
				primary.reaches(t, "bitcoin", 500)
				ask(t, nil, "snapshot", "create", "--db", db, "--to", snapshots, "--sign", secret)
				for i := range args {
					args[i] = strings.NewReplacer("http://primary:8080/", primary.URL, web.URL, snapshots).Replace(args[i])
				}
			}
			if args[1] == "serve" {
				s := startServer(t, args[2:]...)
				if height, _ := s.tip(t, "bitcoin"); height != 1000 {
					t.Errorf("%s: block %d", line, height)
				}
				s.stop(t)
				continue
			}
			if strings.Contains(line, "create --db btc --to /backup") { // later commands compare its digest and its signature
				args = append(args, "--digest", "--sign", secret)
			}
			if r := birthmark(args[1:]...); r.status != exitDone {
				t.Errorf("%s: %+v", line, r)
			}
		}
	}
	if count < 9 {
		t.Errorf("%d commands in the page", count)
	}
}
