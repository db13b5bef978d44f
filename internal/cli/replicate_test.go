package cli

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/internal/testnode/s3test"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

const ergoTestnet = "ergo-testnet"

// atTip waits until servers have the tip of the node.
func (f *forking) atTip(t *testing.T, servers ...*serverProcess) {
	t.Helper()
	want := hashOf(f.best[len(f.best)-1])
	for i, s := range servers {
		until(t, fmt.Sprintf("server %d to have the node's tip", i), func() bool { _, hash := s.tip(t, ergoTestnet); return hash == want })
	}
}

// equalDigests fails if databases are not equal, byte for byte.
func equalDigests(t *testing.T, what string, dbs ...string) {
	t.Helper()
	want := digestOf(t, dbs[0])
	for _, db := range dbs[1:] {
		if got := digestOf(t, db); got != want {
			t.Fatalf("%s: %s has the digest %s, %s has %s", what, db, got, dbs[0], want)
		}
	}
}

// Servers that follow the same node are equal at each of its tips, byte for byte. They see different forks of the node,
// have different amounts of memory, and are restarted.
func TestServersOfOneSourceAreEqual(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	source := f.Start(t)
	var servers []*serverProcess
	var dbs []string
	start := func(i int) *serverProcess {
		return startServer(t, "--chain", "ergo", "--network", "testnet", "--source", source, "--db", dbs[i], "--memory", fmt.Sprint(64<<i, "MiB"))
	}
	for i := range 3 {
		dbs = append(dbs, filepath.Join(t.TempDir(), "db"))
		servers = append(servers, start(i))
	}
	for n, depth := range []int{1, 2, 3, 10, 50, 100} {
		f.grow(2 + rng.IntN(3))
		if n%2 == 0 {
			f.atTip(t, servers...) // otherwise they see only the final chain
		}
		f.fork(depth)
		if n == 3 {
			servers[1].kill()
			servers[1] = start(1)
		}
		f.atTip(t, servers...)
		equalDigests(t, fmt.Sprintf("after a fork of depth %d", depth), dbs...)
	}
	for i, s := range servers {
		s.stop(t)
		consistent(t, dbs[i])
	}
}

// startReplica starts `birthmark replicate --serve`.
func startReplica(t *testing.T, from, db string, more ...string) *serverProcess {
	t.Helper()
	cmd, _, stderr := process(t, all, append([]string{"replicate", "--from", from, "--db", db, "--serve", "127.0.0.1:0", "--quiet"}, more...)...)
	cmd.Stderr = nil
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &serverProcess{cmd: cmd, stderr: stderr, client: &http.Client{Timeout: patience}}
	t.Cleanup(s.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		stderr.WriteString(lines.Text() + "\n")
		if m := regexp.MustCompile(` at (http://\S+/)  \(API`).FindStringSubmatch(lines.Text()); m != nil {
			s.URL = m[1]
			go func() { // keeps the pipe from filling up
				for lines.Scan() {
				}
			}()
			return s
		}
	}
	t.Fatalf("the replica ended: %s", stderr)
	return nil
}

// primary starts a server that records segments and publishes them to a folder.
func (f *forking) primary(t *testing.T, source, db, to string) *serverProcess {
	t.Helper()
	return startServer(t, "--chain", "ergo", "--network", "testnet", "--source", source, "--db", db, "--segments-keep", "64MiB", "--segments-to", to)
}

// replicationOfDB returns the replication in the status of a database.
func replicationOfDB(t *testing.T, db string) (s replicationState) {
	t.Helper()
	var a struct{ Replication *replicationState }
	ask(t, &a, "status", "--db", db)
	if a.Replication == nil {
		t.Fatalf("%s: no replication in its status", db)
	}
	return *a.Replication
}

// Replicas over HTTP and from a folder follow their primary through forks. They answer requests while they apply
// segments: each answer matches one chain of the primary. In the end they equal it, byte for byte.
func TestReplicasFollowThePrimary(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	dir := t.TempDir()
	db, over, from, to := filepath.Join(dir, "primary"), filepath.Join(dir, "over"), filepath.Join(dir, "from"), filepath.Join(dir, "segments")
	primary := f.primary(t, f.Start(t), db, to)
	f.atTip(t, primary)
	until(t, "the first segment to be published", func() bool { return exists(filepath.Join(to, "lineage")) })
	http1 := startReplica(t, primary.URL+"v1/"+ergoTestnet, over)
	folder := startReplica(t, to, from)
	f.atTip(t, http1, folder)
	done := make(chan struct{})
	var asking sync.WaitGroup
	var asked atomic.Int64
	for _, s := range []*serverProcess{http1, folder} {
		seed := rng.Uint64()
		asking.Go(func() { asked.Add(int64(f.askAround(t, s, seed, done))) })
	}
	for _, depth := range []int{1, 2, 7, 30, 100} {
		f.grow(1 + rng.IntN(4))
		f.fork(depth)
		f.atTip(t, primary, http1, folder)
		equalDigests(t, fmt.Sprintf("after a fork of depth %d", depth), db, over, from)
	}
	until(t, "the replicas to be ready", func() bool {
		return http1.get(t, "readyz").status == http.StatusOK && folder.get(t, "readyz").status == http.StatusOK
	})
	close(done)
	asking.Wait()
	if asked.Load() == 0 {
		t.Error("no request was sent")
	}
	for i, s := range []*serverProcess{http1, folder} { // for docs/scaling.md
		f.grow(1)
		f.atTip(t, primary, http1, folder)
		delay := regexp.MustCompile(`birthmark_replica_delay_seconds\{.*\} (.*)`).FindSubmatch(s.get(t, "metrics").body)
		t.Logf("delay of replica %d: %s s", i, delay[1])
	}
	until(t, "the status to show no lag", func() bool { s := replicationOfDB(t, over); return s.Lag != nil && *s.Lag == 0 })
	is, want := replicationOfDB(t, over), replicationOfDB(t, db)
	if is.Lineage != want.Lineage || is.Seq != want.Seq || is.Primary == "" || want.Primary != "" || *is.Behind != 0 {
		t.Errorf("the replica is at %+v, the primary at %+v", is, want)
	}
	scrape := string(http1.get(t, "metrics").body)
	for _, line := range []string{`birthmark_replica_lag_seconds{chain="ergo-testnet"} 0`, `birthmark_replica_behind_updates{chain="ergo-testnet"} 0`} {
		if !strings.Contains(scrape, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	// Other commands cannot write to a replica.
	for _, s := range []*serverProcess{primary, http1, folder} {
		s.stop(t)
	}
	wantFailure(t, exitRefused, "replica", "replicate --promote", "rollback", "--db", over, "--to-height", "3", "--yes")
	wantFailure(t, exitRefused, "replica", "replicate --promote", "sync", "--source", f.Start(t), "--db", over)
	for _, one := range []string{db, over, from} {
		consistent(t, one)
	}
	if s := replicationOfDB(t, over); s.Lag != nil || s.Primary == "" {
		t.Errorf("a replica that is not running: %+v", s)
	}
}

// noPrimary matches the errors of a first connection to a primary that was killed before or during it.
var noPrimary = regexp.MustCompile(`the primary http.*(connection refused|connection reset by peer|EOF)`)

// The primary, which publishes to a bucket, and its replicas are killed at random moments, also during their starts. In
// the end all databases are equal.
func TestKillsOfPrimariesAndReplicas(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	dir := t.TempDir()
	db, over, from := filepath.Join(dir, "primary"), filepath.Join(dir, "over"), filepath.Join(dir, "from")
	endpoint := s3test.Start(t)
	to := "s3://" + s3test.Bucket + "/segments?region=us-east-1&endpoint=" + endpoint
	source := f.Start(t)
	primary := f.primary(t, source, db, to)
	f.atTip(t, primary)
	until(t, "the first segment to be published", func() bool {
		r, err := http.Get(endpoint + "/" + s3test.Bucket + "/segments/lineage")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	feeds := map[string]string{over: primary.URL + "v1/" + ergoTestnet, from: to}
	run := func(db string) (kill func()) {
		cmd, _, stderr := process(t, all, "replicate", "--from", feeds[db], "--db", db, "--quiet")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			_ = cmd.Process.Kill()
			err := cmd.Wait()
			if err != nil && err.Error() == "exit status 4" && noPrimary.MatchString(stderr.String()) {
				return // the primary was killed before the replica was connected for the first time
			}
			if err == nil || err.Error() != "signal: killed" {
				t.Fatalf("a replica ended without a kill: %v %s", err, stderr)
			}
		}
	}
	for range testrun.Amount(12, 3) {
		kills := []func(){run(over), run(from)}
		for range 1 + rng.IntN(6) {
			f.grow(1 + rng.IntN(3))
			if rng.IntN(3) == 0 {
				f.fork(1 + rng.IntN(5))
			}
		}
		time.Sleep(time.Duration(rng.IntN(700)) * time.Millisecond) // moments of the kills
		if rng.IntN(2) == 0 {
			primary.kill()
			primary = f.primary(t, source, db, to)
			feeds[over] = primary.URL + "v1/" + ergoTestnet // used in the next round
		}
		for _, kill := range kills {
			time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			kill()
		}
	}
	f.grow(1)
	f.atTip(t, primary)
	want := replicationOfDB(t, db)
	for feedDB := range feeds {
		until(t, feedDB+" to have the last update", func() bool {
			r := birthmark("replicate", "--once", "--from", feeds[feedDB], "--db", feedDB)
			if r.status != exitDone {
				t.Fatalf("%+v", r)
			}
			return replicationOfDB(t, feedDB).Seq >= want.Seq
		})
	}
	primary.stop(t)
	equalDigests(t, "after the kills", db, over, from)
	for _, one := range []string{db, over, from} {
		consistent(t, one)
	}
}

// A replica is promoted after its primary is gone. It syncs from a source, other replicas follow it, and the old
// primary cannot publish to the folder any more.
func TestPromotionOfAReplica(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	dir := t.TempDir()
	old, one, two, to := filepath.Join(dir, "old"), filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "segments")
	source := f.Start(t)
	primary := f.primary(t, source, old, to)
	f.atTip(t, primary)
	f.grow(5)
	f.atTip(t, primary)
	published := func(seq uint64) func() bool {
		return func() bool {
			newest, _ := filepath.Glob(filepath.Join(to, "*", fmt.Sprintf("%012d.segment", seq)))
			return len(newest) > 0
		}
	}
	until(t, "all segments to be published", published(replicationOfDB(t, old).Seq))
	primary.kill()
	for _, db := range []string{one, two} {
		ask(t, nil, "replicate", "--once", "--from", to, "--db", db)
	}
	equalDigests(t, "before the promotion", old, one, two)
	var a promoteAnswer
	ask(t, &a, "replicate", "--promote", "--db", one)
	before := replicationOfDB(t, two)
	if a.Lineage == before.Lineage || a.Seq != before.Seq+1 {
		t.Errorf("promoted to %+v, the other replica is at %+v", a, before)
	}
	wantFailure(t, exitRefused, "no_replica", "not a replica", "replicate", "--promote", "--db", one)

	promoted := f.primary(t, source, one, to)
	f.grow(3)
	f.atTip(t, promoted)
	until(t, "the segments of the new primary", published(replicationOfDB(t, one).Seq))
	ask(t, nil, "replicate", "--once", "--from", to, "--db", two)
	if s := replicationOfDB(t, two); s.Lineage != a.Lineage {
		t.Errorf("the other replica is at %+v, expected lineage %s", s, a.Lineage)
	}
	equalDigests(t, "after the promotion", one, two)

	// The old primary returns and is fenced.
	back := f.primary(t, source, old, to)
	f.grow(2)
	f.atTip(t, back, promoted)
	back.stop(t)
	if !strings.Contains(back.stderr.String(), "was taken over by lineage "+a.Lineage) {
		t.Errorf("the log of the old primary: %s", back.stderr)
	}
	// The old primary has its own updates, so it cannot follow the new one.
	wantFailure(t, exitRefused, "diverged", "restore a copy", "replicate", "--once", "--from", promoted.URL+"v1/"+ergoTestnet, "--db", old)
	promoted.stop(t)
	for _, db := range []string{old, one, two} {
		consistent(t, db)
	}
}

// The errors of wrong uses and of gaps contain the remedy.
func TestReplicateRefusals(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	dir := t.TempDir()
	db, to := filepath.Join(dir, "db"), filepath.Join(dir, "segments")
	source, copied := f.Start(t), filepath.Join(dir, "copied")
	keys := filepath.Join(dir, "keys")
	write(t, keys, "alice:correct-horse-battery\n")

	plain := startServer(t, "--chain", "ergo", "--network", "testnet", "--source", source, "--db", db)
	f.atTip(t, plain)
	at := plain.URL + "v1/" + ergoTestnet
	wantFailure(t, exitRefused, "not_offered", "segments.keep", "replicate", "--once", "--from", at, "--db", copied)
	plain.stop(t)
	wantFailure(t, exitUsage, "bad_setting", "write-ahead log", "sync", "--wal=off", "--segments-keep", "1MiB", "--source", source, "--db", db)

	s := startServer(t, "--source", source, "--db", db, "--segments-keep", "1MiB", "--segments-to", to, "--api-keys-file", keys)
	f.grow(3)
	until(t, "the new blocks", func() bool { return replicationOfDB(t, db).Seq >= 2 })
	at = s.URL + "v1/" + ergoTestnet
	wantFailure(t, exitRefused, "unauthorized", "API key required", "replicate", "--once", "--from", at, "--db", copied)
	write(t, filepath.Join(dir, "key"), "correct-horse-battery\n")
	wantFailure(t, exitRefused, "segment_gap", "restore the newest snapshot", "replicate", "--once", "--from", at, "--key-file", filepath.Join(dir, "key"), "--db", copied)
	if exists(copied) {
		t.Error("a replica that never started created a folder")
	}
	until(t, "published segments", func() bool { return exists(filepath.Join(to, "lineage")) })
	wantFailure(t, exitRefused, "segment_gap", "restore the newest snapshot", "replicate", "--once", "--from", to, "--db", copied)
	s.stop(t)

	// A copy of the database can follow.
	if err := os.CopyFS(copied, os.DirFS(db)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(copied, "segments")); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, "--source", source, "--db", db, "--segments-keep", "1MiB", "--segments-to", to)
	f.grow(3)
	f.atTip(t, s)
	ask(t, nil, "replicate", "--once", "--from", s.URL+"v1/"+ergoTestnet, "--db", copied)
	equalDigests(t, "a copy", db, copied)
	s.stop(t)

	wantFailure(t, exitUsage, "missing_flag", "--from", "replicate", "--db", copied)
	wantFailure(t, exitUsage, "bad_value", "expected http", "replicate", "--from", "ftp://x/v1/y", "--db", copied)
	wantFailure(t, exitSource, "unreachable", "primary", "replicate", "--once", "--from", "http://127.0.0.1:9/v1/x", "--db", copied)
	wantFailure(t, exitSource, "unreachable", "folder of segments", "replicate", "--once", "--from", dir, "--db", filepath.Join(dir, "none"))
	other := filepath.Join(dir, "other")
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", source, "--db", other)
	wantFailure(t, exitRefused, "no_replica", "neither a replica nor a copy", "replicate", "--once", "--from", to, "--db", other)
}
