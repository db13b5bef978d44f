package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/control"
	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
)

// all is more than the number of blocks of any source in the tests.
const all = 1 << 30

// threeIndexSettings has two indexes in addition to the default: an index of the chain and a custom one.
const threeIndexSettings = `chain: cardano
network: preview
indexes:
  address: { balance: true }
  policy: { unspent: true, prefix: true }
  holding: { kind: many-valued, history: true, value: "map(output.assets, output.payment_credential + ':' + hex(.id))" }
`

// slowSync starts a sync in another process, whose source waits before every 64th block.
func slowSync(t *testing.T, wait time.Duration, args ...string) *exec.Cmd {
	t.Helper()
	cmd, _, stderr := process(t, all, append([]string{"sync", "--follow"}, args...)...)
	cmd.Env = append(cmd.Env, slowSource+"="+wait.String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if _ = cmd.Wait(); t.Failed() {
			t.Logf("log of the sync: %.4000s", stderr)
		}
	})
	return cmd
}

// listed returns an index of `index list`, or nil if it is absent.
func listed(t *testing.T, db, name string) *query.IndexState {
	t.Helper()
	var a api.IndexesAnswer
	ask(t, &a, "index", "list", "--db", db)
	for i := range a.Indexes {
		if a.Indexes[i].Name == name {
			return &a.Indexes[i]
		}
	}
	return nil
}

func tipHeight(t *testing.T, db string) int {
	t.Helper()
	r := birthmark("status", "--json", "--db", db)
	var a query.StatusAnswer
	if json.Unmarshal([]byte(r.stdout), &a) != nil || a.Tip == nil {
		return -1
	}
	return int(a.Tip.Height)
}

// An index that is added during a sync, with both processes killed twice, equals byte for byte an index that existed
// from the start.
func TestIndexIsAddedDuringASync(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + testblocks.Path(t, "cardano", "dingo-immutable")
	dir := t.TempDir()
	file, first, made := filepath.Join(dir, "birthmark.yaml"), filepath.Join(dir, "first.yaml"), filepath.Join(dir, "made")
	write(t, file, threeIndexSettings)
	write(t, first, threeIndexSettings[:strings.Index(threeIndexSettings, "  policy")])
	ask(t, nil, "sync", "--config", file, "--source", source, "--db", made)
	rng := testseed.Rand(t)

	db := filepath.Join(dir, "db")
	ask(t, nil, "sync", "--config", first, "--source", source, "--db", db, "--to-height", "36500")
	args := []string{"--config", first, "--source", source, "--db", db}
	wal, interrupted := []string{"--wal=on", "--wal=off"}, 0
	for _, name := range []string{"policy", "holding"} {
		stopSync := func() {}
		for kill := range 2 {
			running := slowSync(t, 10*time.Millisecond, append(args, wal[kill%2])...)
			stopSync = sync.OnceFunc(func() {
				_ = running.Process.Kill()
				_ = running.Wait()
			})
			until(t, "the sync to listen", func() bool {
				_, err := control.Ask(context.Background(), db, control.Request{Do: control.State})
				return err == nil
			})
			r := birthmark("index", "add", name, "--config", file, "--db", db, "--detach", "--json")
			var f failure
			if json.Unmarshal([]byte(r.stdout), &f) == nil && f.Error.Code == "exists" {
				break // the sync has completed it
			}
			var a changeAnswer
			if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.status != exitDone {
				t.Fatalf("%v: %+v", err, r)
			}
			if a.PID != running.Process.Pid || a.Index == nil {
				t.Fatalf("added by another process than the sync %d: %+v", running.Process.Pid, a)
			}
			before, to := tipHeight(t, db), uint32(rng.IntN(12_000)*(kill+1))
			until(t, "index and sync to come further", func() bool {
				x := listed(t, db, name)
				moved := tipHeight(t, db) > before || before == 50_939
				return moved && x != nil && (len(x.Adding) == 0 || x.AddedTo != nil && *x.AddedTo >= to)
			})
			x := listed(t, db, name)
			if len(x.Adding) > 0 {
				interrupted++
			}
			if len(x.Adding) > 0 && x.AddedTo != nil && *x.AddedTo+20_000 < *x.Of { // far from complete
				wantFailure(t, exitRefused, "index_building", `^index `+name+` is being added: it has blocks up to \d+ of \d+ \(\d+%\)$`, "values", name, "--db", db)
			}
			stopSync()
			consistent(t, db)
			if len(listed(t, db, name).Adding) == 0 {
				break
			}
		}
		// No other process runs, so the command adds the index itself.
		stopSync()
		var a changeAnswer
		if x := listed(t, db, name); x == nil || len(x.Adding) > 0 {
			ask(t, &a, "index", "add", name, "--config", file, "--source", source, "--db", db)
			if !a.Done || a.PID != 0 || len(a.Index.Adding) > 0 {
				t.Errorf("added %+v", a)
			}
		}
	}
	if interrupted == 0 {
		t.Error("no addition was running when its sync was killed")
	}
	ask(t, nil, "sync", "--source", source, "--db", db)
	same(t, db, digestOf(t, made))
	var checked check.Result
	if ask(t, &checked, "index", "verify", "holding", "--db", db); !checked.OK {
		t.Errorf("%+v", checked)
	}
}

// `index add` completes the backfill itself if the sync that ran it ends.
func TestIndexAddTakesOverWhenTheSyncEnds(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + testblocks.Path(t, "cardano", "dingo-immutable")
	dir := t.TempDir()
	db, made := filepath.Join(dir, "db"), filepath.Join(dir, "made")
	ask(t, nil, "sync", "--chain", "cardano", "--network", "preview", "--source", source, "--db", db, "--to-height", "40000")
	running := slowSync(t, 30*time.Millisecond, "--source", source, "--db", db)
	until(t, "the sync to listen", func() bool {
		_, err := control.Ask(context.Background(), db, control.Request{Do: control.State})
		return err == nil
	})
	cmd, stdout, stderr := process(t, all, "index", "add", "datum_hash", "--source", source, "--db", db, "--json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	until(t, "the index to be added", func() bool { x := listed(t, db, "datum_hash"); return x != nil && x.AddedTo != nil })
	if err := running.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	var a changeAnswer
	if err := cmd.Wait(); err != nil || json.Unmarshal(stdout.Bytes(), &a) != nil || !a.Done || a.PID != 0 || a.Index == nil || a.Index.Values == 0 {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	ask(t, nil, "sync", "--source", source, "--db", db)
	ask(t, nil, "sync", "--chain", "cardano", "--network", "preview", "--source", source, "--db", made, "--index", "address,datum_hash")
	same(t, db, digestOf(t, made))
}

// Only one index at a time is added or dropped. Other requests are rejected and change nothing.
func TestRequestsToARunningSync(t *testing.T) {
	slow(t)
	source := "file://" + realBlocks(t)
	dir := t.TempDir()
	db := filepath.Join(dir, strings.Repeat("long", 30), "db") // too long for a socket's address
	syncTo(t, db, source, "--to-height", "9999")
	running := slowSync(t, 20*time.Millisecond, "--source", source, "--db", db)
	until(t, "the sync to listen", func() bool {
		_, err := control.Ask(context.Background(), db, control.Request{Do: control.State})
		return err == nil
	})
	socket := filepath.Join(db, "control.sock")
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
	wantFailure(t, exitUsage, "unknown_index", `^bitcoin has no index "colour"; it offers address`, "index", "add", "colour", "--db", db)
	ask(t, nil, "index", "add", "script_hash", "--db", db, "--detach")
	for _, c := range []struct{ code, message, args string }{
		{"busy", `^index script_hash is being added: wait until`, "add script_type"},
		{"busy", `^index script_hash is being added: wait until`, "drop address"},
		{"unknown_index", `the database has no index colour`, "drop colour"},
	} {
		wantFailure(t, exitUsage, c.code, c.message, append([]string{"index"}, append(strings.Fields(c.args), "--db", db)...)...)
	}
	t.Chdir(db) // for a short address
	dial := func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", "control.sock") }
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	for _, body := range []string{"", "\n", "{", "null\n", "add\n", `{"do":"format"}` + "\n", `{"do":"add"}` + "\n", `{"do":"state","index":"x"}` + "\n",
		`{"do":"drop","index":"address","definition":{"Name":"address"}}` + "\n", `{"do":"add","index":"x","definition":{"Name":"x","Kind":77}}` + "\n",
		`{"do":"add","index":"x","definition":{"Name":"x","Value":"output.colour"}}` + "\n", `{"do":"state","colour":1}` + "\n", strings.Repeat("[", 1<<21), "\x00\xff\x00" + strings.Repeat("\x80", 5000)} {
		response, err := client.Post("http://control/", "application/json", strings.NewReader(body))
		if err != nil {
			if !strings.HasPrefix(body, "[[") { // only a large list can be interrupted while it is sent
				t.Errorf("%.40q: %v", body, err)
			}
			continue
		}
		var reply control.Reply
		if err := json.NewDecoder(response.Body).Decode(&reply); err != nil || reply.Error == nil || reply.PID != running.Process.Pid {
			t.Errorf("%.40q: %+v, %v", body, reply, err)
		}
		response.Body.Close()
	}
	for _, garbage := range []string{"\n", "{\n", "\x00\xff\x00" + strings.Repeat("\x80", 5000)} { // not HTTP
		c, err := net.Dial("unix", "control.sock")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			fmt.Fprint(c, garbage)
			_ = c.(*net.UnixConn).CloseWrite()
		}()
		if text, _ := bufio.NewReader(c).ReadString('\n'); text != "" && !strings.HasPrefix(text, "HTTP/1.1 400 ") {
			t.Errorf("%.40q: %q", garbage, text)
		}
		_ = c.Close()
	}
	until(t, "the index to be there", func() bool { x := listed(t, db, "script_hash"); return x != nil && len(x.Adding) == 0 })
	wantFailure(t, exitUsage, "exists", `^the database already has index script_hash with all requested features`, "index", "add", "script_hash", "--db", db)
	var dropped changeAnswer
	if ask(t, &dropped, "index", "drop", "script_hash", "--db", db); !dropped.Done || dropped.PID != running.Process.Pid || dropped.BytesFreed == nil || *dropped.BytesFreed == 0 {
		t.Errorf("dropped %+v", dropped)
	}
	if err := running.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = running.Wait()
	if _, err := os.Lstat(socket); err != nil {
		t.Error("the socket of a killed process is missing:", err)
	}
	ask(t, nil, "index", "add", "script_type", "--db", db, "--source", source) // the command ignores the socket
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket of a process that ended still exists")
	}
	if left, _ := filepath.Glob(filepath.Join(db, ".control-*")); len(left) > 0 {
		t.Errorf("remaining files: %v", left)
	}
	consistent(t, db)
}

// A signal stops `index add` after a step, and the next sync resumes it.
func TestTheNextSyncResumesAnInterruptedIndex(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + testblocks.Path(t, "cardano", "dingo-immutable")
	dir := t.TempDir()
	db, made := filepath.Join(dir, "db"), filepath.Join(dir, "made")
	first := []string{"sync", "--chain", "cardano", "--network", "preview", "--source", source, "--to-height", "40000", "--db"}
	ask(t, nil, append(first, db)...)
	cmd, stdout, stderr := process(t, all, "index", "add", "policy", "--source", source, "--db", db, "--json")
	cmd.Env = append(cmd.Env, slowSource+"=30ms")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the index to be added", func() bool { return listed(t, db, "policy") != nil })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var a changeAnswer
	if err := cmd.Wait(); err != nil || json.Unmarshal(stdout.Bytes(), &a) != nil || a.Done || a.Index == nil || !slices.Equal(a.Index.Adding, []string{"values"}) ||
		!strings.Contains(stderr.String(), "birthmark index add policy resumes it, and so does the next sync") {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	consistent(t, db)
	r := birthmark("index", "list", "--db", db)
	if !strings.Contains(r.stdout, "being added: values") {
		t.Errorf("%+v", r)
	}
	r = birthmark("sync", "--source", source, "--db", db, "--to-height", "41000")
	if r.status != exitDone || !strings.Contains(r.stderr, `msg="resuming to add an index while syncing" index=policy adding=values`) || !strings.Contains(r.stderr, `msg="index added" index=policy to=`) {
		t.Errorf("%+v", r)
	}
	if x := listed(t, db, "policy"); x == nil || len(x.Adding) > 0 || x.Values == 0 {
		t.Errorf("after a sync: %+v", x)
	}
	first[len(first)-2] = "41000"
	ask(t, nil, append(first, made, "--index", "address,policy")...)
	same(t, db, digestOf(t, made))
}

// A relative source of index add is a path in the folder of the command, not in that of the process that reads it.
func TestRelativeSourcesAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	dir, db := t.TempDir(), filepath.Join(t.TempDir(), "db")
	if err := os.Symlink(realBlocks(t), filepath.Join(dir, "blocks.dat")); err != nil {
		t.Fatal(err)
	}
	runningSync(t, db)
	for index, source := range map[string]string{"script_hash": "blocks.dat", "raw": "file://blocks.dat"} {
		add, _, stderr := process(t, all, "index", "add", index, "--db", db, "--source", source)
		add.Dir = dir
		if err := add.Run(); err != nil {
			t.Errorf("index add %s: %v: %s", index, err, stderr)
		}
	}
}
