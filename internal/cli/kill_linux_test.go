package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"birthmark/core/query"
	"birthmark/internal/testseed"
)

// killsVariable is the number of kills of TestKillsDuringAFirstSyncBeyondMemory: 60 take some 20 minutes on two cores.
// BIRTHMARK_SEED repeats the kills of a run, as far as time permits.
const killsVariable = "BIRTHMARK_KILLS"

// killTxs is the size of a chain whose caches overflow 15 times per shard if they have killCaches bytes. With the caches of
// the minimum of memory, a chain of 200,000 transactions overflows once, and one of a million is merged.
const (
	killTxs    = 20_000
	killCaches = 1 << 19

	longTxs    = 240_000 // with BIRTHMARK_KILLS
	longCaches = 3 << 19
)

// killOptions are all options of accounts of two indexes. At the level debug the log has every start of the caches.
const killOptions = `log_level: debug
indexes:
  address: { balance: true, unspent: true, history: true, prefix: true }
  script_hash: { balance: true, unspent: true, history: true, prefix: true }
`

// A first sync whose caches overflow into files is killed while it writes, merges and deletes files, while it writes
// a snapshot of the caches, and when it has caught up. After each kill the database is a consistent prefix of the chain,
// and the next sync resumes without reading the database for each input. The result equals a sync in memory.
func TestKillsDuringAFirstSyncBeyondMemory(t *testing.T) {
	slow(t)
	t.Parallel()
	kills, txs, caches := 2, killTxs, killCaches
	if text := os.Getenv(killsVariable); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
		txs, caches = longTxs, longCaches
	}
	rng := testseed.Rand(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(killOptions), 0o644); err != nil {
		t.Fatal(err)
	}
	k := &killed{rng: rng, caches: caches, latest: 4 * time.Second, whole: filepath.Join(dir, "whole"), hits: map[string]int{}}
	ask(t, nil, "bench", "generate", "--chain", "bitcoin", "--txs", strconv.Itoa(txs), filepath.Join(dir, "chain"))
	k.args = []string{"--chain", "bitcoin", "--network", "regtest", "--config", config, "--source", "file://" + filepath.Join(dir, "chain", "blocks")}
	ask(t, nil, append([]string{"sync", "--memory", "1GiB", "--db", k.whole}, k.args...)...)
	digest := digestOf(t, k.whole)

	// A database that was killed often writes too little at once to be compacted at the end.
	moments := []string{"snapshot", "merged", "after the snapshot", "writing a run", "any time"}
	rng.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	if few := kills - 1; few < len(moments) { // every run tests some of them
		moments = moments[:few]
	}
	rounds := [][]string{append(moments, "settling"), {"compacting"}}
	for n := 0; n < kills && !t.Failed(); {
		db := filepath.Join(dir, "db")
		done := false
		for _, moment := range rounds[0] {
			if n == kills || t.Failed() {
				break
			}
			if done = k.kill(t, db, moment); done {
				break
			}
			n++
		}
		if !done {
			k.sync(t, db, nil)
		}
		same(t, db, digest)
		for _, left := range overflowFilesOf(db) {
			if !strings.HasPrefix(filepath.Base(left), "outputs-") {
				t.Errorf("%s is left at the tip", left)
			}
		}
		if err := os.RemoveAll(db); err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds[1:], rounds[0])
		rng.Shuffle(len(rounds[0]), func(i, j int) {
			if rounds[0][i] != "settling" && rounds[0][j] != "settling" {
				rounds[0][i], rounds[0][j] = rounds[0][j], rounds[0][i]
			}
		})
	}
	t.Logf("%d syncs resumed from a snapshot, %d of them with files; %d read all rows", k.resumed, k.withFiles, k.reread)
	t.Logf("kills by moment: %v", k.hits)
}

// killed kills syncs of a chain.
type killed struct {
	rng   *rand.Rand
	args  []string // of sync
	whole string   // a database of the whole chain

	caches int           // bytes; 0: those of the memory
	latest time.Duration // of a kill at any time

	snapshot                   bool // the database has a snapshot of the caches
	resumed, withFiles, reread int
	hits                       map[string]int
}

// kill starts a sync, kills it at a moment and checks the database. It returns true if the sync ended before.
func (k *killed) kill(t *testing.T, db, moment string) (done bool) {
	t.Helper()
	n := 1 + k.rng.IntN(4)
	var at func(event) bool
	switch moment {
	case "writing a run":
		n = 1 + k.rng.IntN(12)
		at = after(&n, func(e event) bool { return e.folder == "overflow" && e.mask&unix.IN_CREATE != 0 })
	case "merged":
		n = 1 + k.rng.IntN(16)
		at = after(&n, func(e event) bool { return e.folder == "overflow" && e.mask&unix.IN_CLOSE != 0 })
	case "snapshot":
		n = 1 + k.rng.IntN(10)
		begun := false
		at = after(&n, func(e event) bool {
			begun = begun || len(overflowFilesOf(db)) > 0
			return begun && e.folder == "notes" && e.mask&unix.IN_MODIFY != 0
		})
	case "after the snapshot":
		n = 1 + k.rng.IntN(3)
		moved := false
		at = after(&n, func(e event) bool {
			moved = moved || e.folder == "notes" && e.mask&unix.IN_MOVED_TO != 0
			return moved && e.mask&(unix.IN_MOVED_TO|unix.IN_DELETE) != 0 && len(overflowFilesOf(db)) > 0
		})
	case "settling": // it closes all runs
		open, most := 0, 0
		n = k.rng.IntN(3)
		at = func(e event) bool {
			switch {
			case e.folder != "overflow":
			case e.mask&unix.IN_OPEN != 0:
				open++
				most = max(most, open)
			case e.mask&unix.IN_CLOSE != 0:
				open--
				return most > 5 && open <= n
			}
			return false
		}
	}
	planned, when := n, ""
	p := k.start(t, db, at)
	switch moment {
	case "any time":
		p.killAfter(time.Duration(k.rng.Int64N(int64(k.latest))))
	case "compacting":
		for !strings.Contains(p.stderr.String(), "compacting the database") && !p.ended() {
			time.Sleep(time.Millisecond)
		}
		p.killAfter(time.Duration(k.rng.Int64N(int64(time.Second))))
	}
	killed := p.wait(t)
	k.restored(t, p)
	if !killed {
		t.Logf("%s: the sync ended before", moment)
		return true
	}
	k.hits[moment]++
	k.snapshot = exists(filepath.Join(db, "notes", "caches"))
	left := overflowFilesOf(db)
	if exists(filepath.Join(db, "notes", "caches~")) {
		when += ", a snapshot is incomplete"
	}
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	height := -1
	if status.Tip != nil {
		height = int(status.Tip.Height)
		var block query.BlockAnswer
		if ask(t, &block, "block", strconv.Itoa(height), "--db", k.whole); block.Hash != status.Tip.Hash {
			t.Errorf("%s: block %d is %s, expected %s", moment, height, status.Tip.Hash, block.Hash)
		}
		consistent(t, db)
	}
	t.Logf("%s (n=%d): killed at block %d with %d files, %d of them incomplete%s", moment, planned, height, len(left), incomplete(left), when)
	return false
}

// sync completes a database.
func (k *killed) sync(t *testing.T, db string, at func(event) bool) {
	t.Helper()
	p := k.start(t, db, at)
	if p.wait(t) {
		t.Fatal("killed")
	}
	k.restored(t, p)
}

// restored checks the caches with which a sync began.
func (k *killed) restored(t *testing.T, p *killable) {
	t.Helper()
	log := p.stderr.String()
	if strings.Contains(log, "level=WARN") || strings.Contains(log, "start empty") {
		t.Errorf("the sync continued without the caches:\n%s", log)
	}
	_, line, ok := strings.Cut(log, `msg="restored the caches" `)
	if !ok {
		return // a new database, or killed before
	}
	line, _, _ = strings.Cut(line, "\n")
	t.Logf("resumed: %s", line)
	switch {
	case strings.Contains(line, "snapshot=true"):
		k.resumed++
		if !strings.Contains(line, "files=0") {
			k.withFiles++
		}
	case k.snapshot:
		t.Errorf("the snapshot is not used:\n%s", log)
	default:
		k.reread++
	}
}

// killable is a sync in a process that is killed.
type killable struct {
	cmd    *exec.Cmd
	stdout *bytes.Buffer
	stderr *lockedBuffer
	done   chan struct{}
	err    error
}

// lockedBuffer can be read while a process writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// process returns a sync with the minimum of memory and less for the caches.
func (k *killed) process(t *testing.T, db string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	cmd, stdout, stderr = process(t, -1, slices.Concat([]string{"sync", "--json", "--memory", "64MiB", "--db", db}, k.args, args)...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", cachesVariable, k.caches))
	return cmd, stdout, stderr
}

// start starts a sync, which is killed at the first event for which at returns true.
func (k *killed) start(t *testing.T, db string, at func(event) bool) *killable {
	t.Helper()
	if !exists(db) { // a folder must be there to be watched
		cmd, stdout, _ := k.process(t, db, "--to-height", "0")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
		k.snapshot = true
	}
	for _, folder := range []string{"notes", "overflow"} {
		if err := os.MkdirAll(filepath.Join(db, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := &killable{stderr: &lockedBuffer{}, done: make(chan struct{})}
	p.cmd, p.stdout, _ = k.process(t, db)
	p.cmd.Stderr = p.stderr
	var stop func()
	if at != nil {
		stop = watch(t, db, func(e event) {
			if at(e) {
				_ = p.cmd.Process.Kill()
			}
		})
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	if stop != nil {
		go func() {
			<-p.done
			stop()
		}()
	}
	return p
}

func (p *killable) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *killable) killAfter(d time.Duration) {
	select {
	case <-p.done:
	case <-time.After(d):
		_ = p.cmd.Process.Kill()
	}
}

// wait waits until the process has ended, and reports whether it was killed. Other failures end the test.
func (p *killable) wait(t *testing.T) (killed bool) {
	t.Helper()
	<-p.done
	if p.err != nil && p.err.Error() != "signal: killed" {
		t.Fatalf("sync: %v\n%s%s", p.err, p.stdout, p.stderr)
	}
	return p.err != nil
}

// event is a change of a file in the folder notes or overflow of a database.
type event struct {
	folder, name string
	mask         uint32
}

// after returns a function that returns true at the nth event for which is returns true.
func after(n *int, is func(event) bool) func(event) bool {
	return func(e event) bool {
		if !is(e) {
			return false
		}
		*n--
		return *n == 0
	}
}

// watch calls fn for the events of a database, in order, until stop is called.
func watch(t *testing.T, db string, fn func(event)) (stop func()) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	const mask = unix.IN_CREATE | unix.IN_OPEN | unix.IN_CLOSE | unix.IN_MOVED_TO | unix.IN_DELETE
	folders := map[int32]string{}
	for folder, also := range map[string]uint32{"overflow": 0, "notes": unix.IN_MODIFY} {
		wd, err := unix.InotifyAddWatch(fd, filepath.Join(db, folder), mask|also)
		if err != nil {
			t.Fatal(err)
		}
		folders[int32(wd)] = folder
	}
	file := os.NewFile(uintptr(fd), "inotify") // close ends reads, since it does not block
	go func() {
		for b := make([]byte, 64<<10); ; {
			n, err := file.Read(b)
			if err != nil {
				return
			}
			for rest := b[:n]; len(rest) >= unix.SizeofInotifyEvent; {
				raw := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
				end := unix.SizeofInotifyEvent + int(raw.Len)
				if raw.Mask&unix.IN_ISDIR == 0 {
					name := string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:end], "\x00"))
					fn(event{folders[raw.Wd], name, raw.Mask})
				}
				rest = rest[end:]
			}
		}
	}()
	return func() { _ = file.Close() }
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func overflowFilesOf(db string) []string {
	names, _ := filepath.Glob(filepath.Join(db, "overflow", "*")) // the pattern is valid
	return names
}

// incomplete counts the files whose header was not written: it is written last.
func incomplete(files []string) (n int) {
	for _, name := range files {
		b := make([]byte, 8)
		if f, err := os.Open(name); err == nil {
			if _, err := f.Read(b); err != nil || b[0] == 0 {
				n++
			}
			_ = f.Close()
		}
	}
	return n
}
