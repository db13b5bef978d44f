package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"birthmark/distributed/cluster"
	"birthmark/internal/testrun"
)

func TestMain(m *testing.M) {
	if os.Getenv("TEST_RUN_MAIN") != "" {
		main()
		return
	}
	testrun.Main(m, cluster.Stop)
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	// Variables of tests are not settings of the program, which would reject them.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "BIRTHMARK_") })
	cmd.Env = append(cmd.Env, "TEST_RUN_MAIN=1", "XDG_DATA_HOME="+t.TempDir(), "BIRTHMARK_CONFIG=/dev/null")
	return cmd
}

// run runs the program and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := program(t, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("birthmark %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// blocks is a folder with the first 14,132 blocks of Bitcoin.
func blocks(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "-C", "../../../tools", "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	if err != nil || strings.TrimSpace(string(out)) == "" {
		t.Skipf("the module of btcd is absent: make blocks downloads it (%v)", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat")
}

// The program syncs, queries and serves a database in TiKV like a database in a folder.
func TestDatabaseInTiKV(t *testing.T) {
	testrun.Slow(t)
	c := cluster.Shared(t)
	dir, url := filepath.Join(t.TempDir(), "db"), c.URL()
	for _, db := range []string{dir, url} {
		run(t, "sync", "--chain", "bitcoin", "--source", "file://"+blocks(t), "--db", db, "--index", "address,script_hash")
	}
	for _, question := range []string{
		"dump --digest --json",
		"check --json",
		"tx f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 --json",
		"block 170 --json",
		"balance address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --json",
		"history address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --json",
	} {
		args := strings.Fields(question)
		want, got := run(t, append(args, "--db", dir)...), run(t, append(args, "--db", url)...)
		if got != want || len(got) < 10 {
			t.Errorf("%s: %.500s\nin a folder: %.500s", question, got, want)
		}
	}

	// A server without a source only reads. Other processes may write at the same time.
	address := freeAddress(t)
	server := program(t, "serve", "--db", url, "--listen", address)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	waitFor(t, "the tip of the database", func() bool {
		return strings.Contains(get("http://"+address+"/v1/bitcoin/block/14131"), `"height":14131`)
	})
	run(t, "rollback", "--db", url, "--to-height", "14000", "--yes")
	waitFor(t, "the tip after a rollback by another process", func() bool {
		return strings.Contains(get("http://"+address+"/v1/bitcoin/status"), `"height":14000`)
	})
}

func get(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return strings.ReplaceAll(string(body), " ", "")
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("timeout while waiting for %s", what)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A killed load is continued and results in the same rows. The database does not open until the load is complete.
func TestLoad(t *testing.T) {
	testrun.Slow(t)
	c := cluster.Shared(t)
	dir, url := filepath.Join(t.TempDir(), "db"), c.URL()
	run(t, "sync", "--chain", "bitcoin", "--source", "file://"+blocks(t), "--db", dir, "--index", "address,script_hash")

	interrupted := 0
	for wait := 50 * time.Millisecond; interrupted < 3; wait += 100 * time.Millisecond {
		cmd := program(t, "load", "--from", dir, "--to", url)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(wait, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			break // it ended before the kill
		}
		out, err := program(t, "status", "--db", url).CombinedOutput()
		if err == nil {
			break // killed after the last transaction
		}
		if text := string(out); strings.Contains(text, "is being loaded") {
			interrupted++
		} else if !strings.Contains(text, "no database") {
			t.Fatalf("the status of an incomplete database: %v, %s", err, text)
		}
	}
	if interrupted > 0 {
		run(t, "load", "--from", dir, "--to", url)
	}
	t.Logf("killed %d times with rows written", interrupted)
	if want, got := run(t, "dump", "--digest", "--db", dir), run(t, "dump", "--digest", "--db", url); got != want {
		t.Errorf("the digest is\n%s, in the folder\n%s", got, want)
	}
	run(t, "check", "--db", url)

	out, err := program(t, "load", "--from", dir, "--to", url).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is not empty") {
		t.Errorf("a second load: %v, %s", err, out)
	}
	out, err = program(t, "load", "--from", dir, "--to", "tikv://nowhere/x").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "has no port") {
		t.Errorf("a wrong URL: %v, %s", err, out)
	}
}
