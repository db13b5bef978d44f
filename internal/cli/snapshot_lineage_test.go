package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"birthmark/internal/testseed"
)

// A snapshot of a branch that the database of the latest snapshot never followed is refused, that of one which it followed
// and left is not.
func TestSnapshotsOfAnotherBranchAreRefused(t *testing.T) {
	slow(t)
	t.Parallel()
	f := newForking(testseed.Rand(t))
	dir := t.TempDir()
	db, other, to := filepath.Join(dir, "db"), filepath.Join(dir, "other"), filepath.Join(dir, "repository")
	sync := []string{"sync", "--chain", "ergo", "--network", "testnet", "--source", f.Start(t), "--db"}
	create := func(db string, more ...string) []string {
		return append([]string{"snapshot", "create", "--db", db, "--to", to}, more...)
	}
	reorganize := f.branch()
	f.grow(2)
	ask(t, nil, append(sync, db)...)
	var first, second snapshotAnswer
	ask(t, &first, create(db)...)
	reorganize(3)
	ask(t, nil, append(sync, other)...) // never saw the first branch
	wantFailure(t, exitRefused, "other_branch", first.Snapshot+".* ends with block .* is of another branch .*--force", create(other)...)
	var listed snapshotAnswer
	if ask(t, &listed, "snapshot", "list", to); len(listed.Snapshots) != 1 {
		t.Errorf("%+v", listed)
	}
	if exists(filepath.Join(other, "snapshot", "checkpoint")) {
		t.Error("the checkpoint is left")
	}
	ask(t, nil, append(sync, db)...) // follows the reorganization
	ask(t, nil, create(db)...)
	reorganize = f.branch()
	f.grow(1)
	ask(t, nil, append(sync, other)...)
	ask(t, &second, create(other)...) // the same branch: databases of a chain are equal
	reorganize(2)
	third := filepath.Join(dir, "third")
	ask(t, nil, append(sync, third)...)
	ask(t, nil, create(third, "--force")...)
	var v snapshotAnswer // the orphaned branch is found by verify too
	if r := birthmark("snapshot", "verify", to+"@"+second.Snapshot, "--db", third, "--json"); r.status != exitFailed ||
		json.Unmarshal([]byte(r.stdout), &v) != nil || len(v.Database.Differences) != 1 {
		t.Errorf("%+v", r)
	}
}

// Databases that record segments, and replicas, have snapshots, also while they run. A replica can begin with either,
// without the first segments, and is equal to the primary, byte for byte.
func TestReplicasBeginWithSnapshots(t *testing.T) {
	slow(t)
	t.Parallel()
	f := newForking(testseed.Rand(t))
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	source := f.Start(t)
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", source, "--db", in("db")) // not recorded
	ask(t, nil, "snapshot", "create", "--db", in("db"), "--to", in("unnumbered"))
	primary := f.primary(t, source, in("db"), in("segments"))
	f.grow(2)
	f.atTip(t, primary)
	from := primary.URL + "v1/" + ergoTestnet
	replicate := func(db, from, snapshots string) []string {
		return []string{"replicate", "--once", "--from", from, "--db", in(db), "--bootstrap", snapshots}
	}
	ask(t, nil, "snapshot", "create", "--db", in("db"), "--to", in("snapshots"), "--digest")
	f.fork(2)
	f.grow(2)
	f.atTip(t, primary)
	ask(t, nil, replicate("over", from, in("snapshots"))...)
	until(t, "the segments to be published", func() bool {
		r := birthmark(replicate("folder", in("segments"), in("snapshots"))...)
		return r.status == exitDone && replicationOfDB(t, in("folder")).Seq == replicationOfDB(t, in("db")).Seq
	})
	equalDigests(t, "replicas that began with a snapshot", in("db"), in("over"), in("folder"))

	// A running replica.
	replica := startReplica(t, from, in("over"))
	f.grow(1)
	f.atTip(t, primary, replica)
	var a, b snapshotAnswer
	ask(t, &a, "snapshot", "create", "--db", in("over"), "--to", in("of-replica"), "--digest")
	ask(t, nil, "snapshot", "restore", in("of-replica"), "--db", in("restored"), "--check", "--digest")
	wantFailure(t, exitRefused, "replica", "replicate --promote", "rollback", "--db", in("restored"), "--to-height", "3", "--yes")
	f.grow(1)
	f.atTip(t, primary, replica)
	ask(t, nil, "replicate", "--once", "--from", from, "--db", in("restored"))
	equalDigests(t, "a restored replica", in("db"), in("over"), in("restored"))

	// An older copy of the same database does not become the latest snapshot; a new lineage does.
	ask(t, nil, "snapshot", "restore", in("of-replica"), "--db", in("older"))
	ask(t, &b, "snapshot", "create", "--db", in("over"), "--to", in("of-replica"))
	wantFailure(t, exitRefused, "older_copy", b.Snapshot+".* has update .* at update", "snapshot", "create", "--db", in("older"), "--to", in("of-replica"))
	ask(t, nil, "replicate", "--promote", "--db", in("older"))
	ask(t, nil, "snapshot", "create", "--db", in("older"), "--to", in("promoted"))

	// Snapshots that cannot follow the primary are refused before anything is written.
	for _, feed := range []string{from, in("segments")} {
		wantFailure(t, exitRefused, "other_lineage", "records no segments", replicate("none", feed, in("unnumbered"))...)
		wantFailure(t, exitRefused, "other_lineage", "which the primary does not have", replicate("none", feed, in("promoted"))...)
		if exists(in("none")) || exists(in("none.restoring")) {
			t.Fatal("a refused snapshot left a folder")
		}
	}
	wantFailure(t, exitFailed, "no_snapshot", "bootstrap: .* has no snapshot", replicate("none", from, in("absent"))...)
	replica.stop(t)
	primary.stop(t)

	// Without its log, a restored primary begins a lineage when it records.
	ask(t, nil, "snapshot", "restore", in("snapshots"), "--db", in("again"))
	before := replicationOfDB(t, in("again"))
	ask(t, nil, "sync", "--source", source, "--db", in("again"), "--segments-keep", "1MiB")
	if after := replicationOfDB(t, in("again")); before.Lineage == after.Lineage || after.Seq <= before.Seq {
		t.Errorf("%+v, then %+v", before, after)
	}
	equalDigests(t, "a restored primary", in("db"), in("again"))
	for _, db := range []string{"db", "over", "folder", "restored", "older", "again"} {
		consistent(t, in(db))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
