package cli

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/testseed"
)

// snapshotKills returns how often a test kills processes: BIRTHMARK_KILLS, or a few times.
func snapshotKills(t *testing.T) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	if text == "" {
		return 6
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", killsVariable, err)
	}
	return n
}

// snapshotKiller kills processes at random moments.
type snapshotKiller struct {
	rng  *rand.Rand
	last time.Duration // of the last process that was not killed
}

// kill runs the program and kills it at a random moment. It returns false if the process ended before.
func (k *snapshotKiller) kill(t *testing.T, args ...string) bool {
	t.Helper()
	cmd, stdout, stderr := process(t, all, args...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() }
	if k.last > 0 {
		defer time.AfterFunc(time.Duration(k.rng.Int64N(int64(k.last))), kill).Stop()
	}
	err := cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %v: %s%s", args, err, stdout, stderr)
	}
	k.last = time.Since(began)
	return false
}

// killSource is a generated chain for tests that kill snapshots.
func killSource(t *testing.T) (args []string) {
	dir := t.TempDir()
	ask(t, nil, "bench", "generate", "--chain", "bitcoin", "--txs", "20000", "--block-txs", "100", dir)
	return []string{"--chain", "bitcoin", "--network", "regtest", "--source", "file://" + filepath.Join(dir, "blocks")}
}

// A create that is killed leaves the latest snapshot complete. The next create continues, and the database is as before.
func TestKillsOfSnapshotCreate(t *testing.T) {
	slow(t)
	t.Parallel()
	k := &snapshotKiller{rng: testseed.Rand(t)}
	dir := t.TempDir()
	db, repository, to := filepath.Join(dir, "db"), filepath.Join(dir, "repository"), filepath.Join(dir, "to")
	const blocks = 190
	sync := append([]string{"sync", "--db", db, "--to-height", strconv.Itoa(blocks)}, killSource(t)...)
	ask(t, nil, sync...)
	digest := digestOf(t, db)
	create := []string{"snapshot", "create", "--db", db, "--to", repository}
	if k.kill(t, create...) {
		t.Fatal("killed")
	}
	kills, complete, want := 0, 0, snapshotKills(t)
	for kills < want && !t.Failed() {
		// New tables, so that there is something to store.
		ask(t, nil, "rollback", "--db", db, "--to-height", strconv.Itoa(blocks-1-k.rng.IntN(20)), "--yes")
		ask(t, nil, sync...)
		for kills < want && k.kill(t, create...) {
			kills++
			ask(t, nil, "snapshot", "verify", repository)
		}
		complete++
	}
	if k.last = 0; k.kill(t, create...) {
		t.Fatal("killed")
	}
	ask(t, nil, "snapshot", "verify", repository, "--db", db)
	ask(t, nil, "snapshot", "restore", repository, "--db", to, "--check")
	same(t, to, digest)
	same(t, db, digest)
	if exists(filepath.Join(db, "snapshot", "checkpoint")) {
		t.Error("the checkpoint is left")
	}
	t.Logf("%d kills, %d complete snapshots", kills, complete)
}

// The checkpoint of a killed create, which keeps the room of old tables, is removed when the database is opened.
func TestTheCheckpointOfAKilledCreateIsRemoved(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "100")
	for _, name := range []string{"checkpoint", "checkpoint.tmp"} {
		if err := os.MkdirAll(filepath.Join(db, "snapshot", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "110")
	if exists(filepath.Join(db, "snapshot", "checkpoint")) || exists(filepath.Join(db, "snapshot", "checkpoint.tmp")) {
		t.Error("the checkpoint is left")
	}
}

// A restore that is killed leaves no database. The next one continues, and the result is equal.
func TestKillsOfSnapshotRestore(t *testing.T) {
	slow(t)
	t.Parallel()
	k := &snapshotKiller{rng: testseed.Rand(t)}
	dir := t.TempDir()
	db, repository, to := filepath.Join(dir, "db"), filepath.Join(dir, "repository"), filepath.Join(dir, "to")
	ask(t, nil, append([]string{"sync", "--db", db}, killSource(t)...)...)
	digest := digestOf(t, db)
	ask(t, nil, "snapshot", "create", "--db", db, "--to", repository)
	restore := []string{"snapshot", "restore", repository, "--db", to}
	kills, partial, complete, want := 0, 0, 0, snapshotKills(t)
	for kills < want && !t.Failed() {
		for k.kill(t, restore...) {
			kills++
			if exists(to) {
				break // it was killed after its last step
			}
			if entries, _ := os.ReadDir(to + ".restoring"); len(entries) > 1 {
				partial++
			}
			wantFailure(t, exitRefused, "no_database", "no database", "status", "--db", to)
		}
		complete++
		same(t, to, digest)
		if exists(to + ".restoring") {
			t.Error("the folder of the restore is left")
		}
		if kills >= want {
			consistent(t, to)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, of which %d left files, and %d complete restores", kills, partial, complete)
}

// A disk that is full fails create and restore with one line, leaves nothing that can be opened, and the next run
// continues if there is room.
func TestSnapshotsOnAFullDisk(t *testing.T) {
	slow(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, 0); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	db, repository, to := filepath.Join(dir, "db"), filepath.Join(small, "repository"), filepath.Join(small, "to")
	syncTo(t, db, "file://"+realBlocks(t))
	wantFailure(t, exitMachine, "no_space", "no space left on device", "snapshot", "create", "--db", db, "--to", repository)
	wantFailure(t, exitFailed, "no_snapshot", "no snapshot", "snapshot", "restore", repository, "--db", to)
	grow := func(size string) {
		t.Helper()
		if err := syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
	grow("5m")
	var a snapshotAnswer
	if ask(t, &a, "snapshot", "create", "--db", db, "--to", repository); a.UploadedFiles == 0 || a.UploadedFiles >= a.Files {
		t.Errorf("%+v", a)
	}
	wantFailure(t, exitMachine, "no_space", `restoring snapshot .* needs .* more, and .* has .* free`, "snapshot", "restore", repository, "--db", to)
	if exists(to) || exists(to+".restoring/CURRENT") {
		t.Error("a database that is not complete can be opened")
	}
	grow("20m")
	ask(t, nil, "snapshot", "restore", repository, "--db", to)
	same(t, to, digestOf(t, db))
}
