package cli

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"birthmark/core/schema"
	"birthmark/internal/snapshot"
	targets "birthmark/internal/snapshot/target"
	"birthmark/internal/testseed"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// A snapshot of a database of format 5 is listed and verified, and is upgraded while it is restored: the database
// equals one that never had that format.
func TestSnapshotsOfFormat5AreUpgraded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, now, repository := filepath.Join(dir, "db"), filepath.Join(dir, "now"), filepath.Join(dir, "repository")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "300", "--raw=keep")
	digest := digestOf(t, db)
	ask(t, nil, "snapshot", "create", "--db", db, "--to", now, "--digest")
	m := manifestIn(t, filepath.Join(now, "bitcoin-mainnet"))
	checksum := storeFormat5(t, db, &m, repository)

	var a snapshotAnswer
	if ask(t, &a, "snapshot", "list", repository); len(a.Snapshots) != 1 {
		t.Errorf("%+v", a)
	}
	if ask(t, &a, "snapshot", "verify", repository); !a.OK {
		t.Errorf("%+v", a)
	}
	to := filepath.Join(dir, "to")
	var restored struct {
		UpgradedFrom int `json:"upgraded_from"`
	}
	ask(t, &restored, "snapshot", "restore", repository, "--db", to, "--check", "--digest")
	if restored.UpgradedFrom != 5 {
		t.Errorf("upgraded from format %d, expected 5", restored.UpgradedFrom)
	}
	same(t, to, digest)
	if ask(t, &a, "snapshot", "verify", repository, "--db", to, "--digest"); !a.OK || !a.Database.Digest {
		t.Errorf("%+v", a)
	}
	syncTo(t, to, "file://"+realBlocks(t), "--to-height", "310")
	consistent(t, to)

	other := m // the manifest of another database
	other.Checksum = fmt.Sprintf("%016x", checksum+1)
	storeFormat5(t, db, &other, filepath.Join(dir, "other"))
	none := filepath.Join(dir, "none")
	r := birthmark("snapshot", "restore", filepath.Join(dir, "other"), "--db", none)
	if r.status != exitSource || !strings.Contains(r.stderr,
		"differs from the manifest") || !strings.Contains(r.stderr, "the checksum is") || exists(none) {
		t.Errorf("a database that differs from its manifest: %+v", r)
	}
}

// A restore that is killed while it upgrades the database leaves no database, and the next one upgrades it to the same rows.
func TestKillsOfARestoreThatUpgrades(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	dir := t.TempDir()
	db, now, repository, to := filepath.Join(dir, "db"), filepath.Join(dir, "now"), filepath.Join(dir, "repository"), filepath.Join(dir, "to")
	ask(t, nil, append([]string{"sync", "--db", db, "--raw=keep"}, killSource(t)...)...)
	digest := digestOf(t, db)
	ask(t, nil, "snapshot", "create", "--db", db, "--to", now)
	m := manifestIn(t, filepath.Join(now, "bitcoin-regtest"))
	storeFormat5(t, db, &m, repository)
	var last time.Duration // from the begin of the upgrade to the end of the process, of one that was not killed
	kills, want := 0, snapshotKills(t)
	for complete := false; kills < want || !complete; {
		cmd, stdout, _ := process(t, all, "snapshot", "restore", repository, "--db", to)
		stderr := &upgradeWatch{began: make(chan time.Time, 1)}
		cmd.Stderr = stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var began time.Time
		var err error
		select {
		case began = <-stderr.began:
			if last > 0 && kills < want {
				time.Sleep(time.Duration(rng.Int64N(int64(last))))
				_ = cmd.Process.Kill()
			}
			err = <-ended
		case err = <-ended:
			t.Fatalf("the restore ended without an upgrade: %v: %s%s", err, stdout, stderr)
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			if kills++; !exists(to) {
				wantFailure(t, exitRefused, "no_database", "no database", "status", "--db", to)
				continue
			}
		} else if err != nil {
			t.Fatalf("%v: %s%s", err, stdout, stderr)
		}
		last, complete = max(last, time.Since(began)), true
		same(t, to, digest)
		consistent(t, to)
		if kills < want {
			if err := os.RemoveAll(to); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// upgradeWatch is the standard error of a restore.
type upgradeWatch struct {
	lockedBuffer
	began chan time.Time // of the upgrade
	once  sync.Once
}

func (w *upgradeWatch) Write(p []byte) (int, error) {
	n, err := w.lockedBuffer.Write(p)
	if strings.Contains(w.lockedBuffer.String(), "upgrading the restored database") {
		w.once.Do(func() { w.began <- time.Now() })
	}
	return n, err
}

// manifestIn returns the manifest of the only snapshot in a repository.
func manifestIn(t *testing.T, repository string) (m snapshot.Manifest) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "snapshots", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := json.Unmarshal([]byte(readText(t, files[0])), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// storeFormat5 brings a database to format 5 if it has another, and stores a snapshot of it with a manifest. It sets the
// format and the checksum of a manifest of the current format.
func storeFormat5(t *testing.T, db string, m *snapshot.Manifest, repository string) (checksum uint64) {
	t.Helper()
	work, err := snapshot.BeginWork(db, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer work.End()
	store, err := rocks.Open(db, rocks.Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Declare(schema.Schema[schema.FamilyMeta].Declaration); err != nil {
		t.Fatal(err)
	}
	if m.Format != 5 {
		err = store.Update(t.Context(), func(r storage.Reader, b storage.Batch) error {
			rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTotals})
			if err != nil {
				return err
			}
			row, first := rows[0], 0
			for range 4 {
				_, n := binary.Uvarint(row[first:])
				first += n
			}
			rest := row[first:]
			sum, n := binary.Uvarint(rest)
			raw, k := binary.Uvarint(rest[n:])
			if raw == 0 {
				t.Error("the database has no raw transactions")
			}
			checksum = sum + raw
			made := binary.AppendUvarint(append([]byte{}, row[:first]...), checksum)
			b.Put(schema.FamilyMeta, schema.MetaTotals, append(made, rest[n+k:]...))
			b.Put(schema.FamilyMeta, schema.MetaFormat, binary.AppendUvarint(nil, 5))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.Format, m.Checksum = 5, fmt.Sprintf("%016x", checksum)
	}
	if err := store.Checkpoint(t.Context(), work.Checkpoint()); err != nil {
		t.Fatal(err)
	}
	to, err := targets.Open(repository, targets.Options{Write: true, LookupEnv: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.NewRepository(to, m.Chain, m.Network).Create(t.Context(), work.Checkpoint(), *m,
		snapshot.CreateOptions{Work: work}); err != nil {
		t.Fatal(err)
	}
	checksum, err = strconv.ParseUint(m.Checksum, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return checksum
}
