package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"birthmark/core/check"
	"birthmark/core/query"
)

// patience is far longer than any process needs.
const patience = 10 * time.Minute

// until polls a condition. It fails the test after a time that no correct program needs. It pauses longer after a slow
// condition, so that polling uses at most a third of a core.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		began := time.Now()
		if holds() {
			return
		}
		if began.After(end) {
			t.Fatalf("timeout while waiting for %s", what)
		}
		time.Sleep(max(10*time.Millisecond, 5*time.Since(began))) // a condition can take as much CPU time as the test itself
	}
}

// runningSync starts a sync in another process and waits until it has written the 501 blocks of its source.
func runningSync(t *testing.T, db string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd, stdout, stderr = process(t, 501, append([]string{"sync", "--json", "--chain", "bitcoin", "--source", "file://" + realBlocks(t), "--db", db}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	until(t, "the sync to write block 500", func() bool {
		r := birthmark("status", "--json", "--db", db)
		if r.status == exitRefused { // not created yet
			return false
		}
		var a query.StatusAnswer
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.status != exitDone {
			t.Fatalf("status during a sync: %+v", r)
		}
		return a.Tip != nil && a.Tip.Height == 500
	})
	return cmd, stdout, stderr
}

func TestQueriesAnswerDuringASync(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	runningSync(t, db)
	var block query.BlockAnswer
	ask(t, &block, "block", "500", "--db", db)
	if block.Height != 500 {
		t.Errorf("%+v", block)
	}
	var found query.FindAnswer
	ask(t, &found, "find", "address", satoshi, "--db", db)
	if len(found.Outputs) == 0 {
		t.Errorf("%+v", found)
	}
	consistent(t, db)
}

func TestErrorOfASecondWriterNamesTheFirst(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	cmd, _, _ := runningSync(t, db)
	holder := fmt.Sprintf(`in use by pid %d, birthmark sync, since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`, cmd.Process.Pid)
	for _, line := range []string{"sync --source file://" + realBlocks(t), "rollback --to-height 3"} {
		wantFailure(t, exitRefused, "locked", holder, append(strings.Fields(line), "--db", db)...)
	}
}

func TestSignalStopsAtABlock(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "db")
			cmd, stdout, stderr := runningSync(t, db)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			var a syncAnswer
			if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
				t.Fatalf("%v in %s", err, stdout)
			}
			if !a.Stopped || a.Tip == nil || a.Tip.Height != 500 || a.Blocks != 501 {
				t.Errorf("%s", stdout)
			}
			if !strings.Contains(stderr.String(), "interrupted; run the same command to resume") {
				t.Errorf("stderr: %s", stderr)
			}
			consistent(t, db)
			// It resumes, and the database equals one without the stop.
			syncTo(t, db, "file://"+realBlocks(t), "--to-height", "700")
			other := filepath.Join(t.TempDir(), "other")
			syncTo(t, other, "file://"+realBlocks(t), "--to-height", "700")
			same(t, db, digestOf(t, other))
		})
	}
}

// A full disk at any time causes an error of one line, and the database stays consistent.
func TestAFullDiskIsReported(t *testing.T) {
	slow(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	dir := t.TempDir()
	// The whole database would take 4 MB.
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	source := "file://" + realBlocks(t)
	for _, c := range []struct{ wal, caches string }{{"--wal=on", ""}, {"--wal=off", ""}, {"--wal=on", "65536"}} { // the last caches overflow into files
		wal := c.wal
		db, rest := filepath.Join(dir, "db"), filepath.Join(dir, "rest")
		syncTo(t, db, source, "--to-height", "100", wal)
		failing := func(when string) {
			t.Helper()
			// The sync runs in another process, so that a crash of RocksDB does not end the tests.
			cmd, stdout, stderr := process(t, -1, "sync", "--json", "--db", db, "--source", source, wal)
			cmd.Env = append(cmd.Env, cachesVariable+"="+c.caches)
			_ = cmd.Run()
			if c.caches != "" && len(overflowFilesOf(db)) == 0 {
				t.Errorf("%s: the caches do not overflow: %s", when, stderr)
			}
			var f failure
			if err := json.Unmarshal(stdout.Bytes(), &f); err != nil || cmd.ProcessState.ExitCode() != exitMachine || f.Error.Code != "no_space" {
				t.Errorf("%s, %s: %v, %s%s", wal, when, cmd.ProcessState, stdout, stderr)
			}
			var a check.Result
			if ask(t, &a, "check", "--db", db); !a.OK || a.Blocks < 101 {
				t.Errorf("%s, %s: %+v", wal, when, a)
			}
		}
		failing("filled up while blocks are written")
		fill, err := os.Create(rest)
		if err != nil {
			t.Fatal(err)
		}
		for zeros := make([]byte, 4096); err == nil; {
			_, err = fill.Write(zeros)
		}
		_ = fill.Close()
		failing("full from the beginning")
		for _, path := range []string{rest, db} {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The second signal ends the process even if the source ignores the first.
func TestSecondSignalEndsImmediately(t *testing.T) {
	slow(t)
	for name, command := range map[string][]string{"direct": nil, "ignored": {"sh", "-c", `trap "" INT; exec "$0" "$@"`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "db")
			cmd, _, stderr := process(t, 501, "sync", "--chain", "bitcoin", "--source", "file://"+realBlocks(t), "--db", db)
			cmd.Env = append(cmd.Env, deafSource+"=1")
			if command != nil {
				cmd.Args = append(slices.Concat(command, []string{cmd.Path}), cmd.Args[1:]...)
				cmd.Path = "/bin/sh"
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "a database", func() bool { return birthmark("block", "500", "--db", db).status == exitDone })
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for {
				_ = cmd.Process.Signal(os.Interrupt)
				select {
				case <-ended:
					status := cmd.ProcessState.Sys().(syscall.WaitStatus)
					if ignored := command != nil || signal.Ignored(os.Interrupt); ignored {
						if status.ExitStatus() != 128+int(syscall.SIGINT) {
							t.Errorf("ended with %v: %s", cmd.ProcessState, stderr)
						}
					} else if !status.Signaled() || status.Signal() != syscall.SIGINT {
						t.Errorf("ended with %v: %s", cmd.ProcessState, stderr)
					}
					consistent(t, db)
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
}
