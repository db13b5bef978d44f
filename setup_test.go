package birthmark_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// Compilers print nothing for minutes: targets that compile print a line before.
func TestTargetsThatCompilePrintALineFirst(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	compiles := regexp.MustCompile(`\bgo (-C \S+ )?(build|run|test|vet)\b|\$\(TEST\)|tools/release`)
	rules := 0
	for _, rule := range regexp.MustCompile(`(?m)^[a-z-]+:.*\n(?:\t.*\n)+`).FindAllString(string(text), -1) {
		target, recipe, _ := strings.Cut(rule, "\n")
		if !compiles.MatchString(recipe) {
			continue
		}
		if rules++; !strings.HasPrefix(recipe, "\t@$(call compiling,") {
			t.Errorf("%s compiles without a line before it", target)
		}
	}
	if rules < 10 {
		t.Errorf("%d targets compile, expected at least 10", rules)
	}
}

// A version of Go that cannot build the module is an error before packages are installed.
func TestSetupRejectsAnOldGo(t *testing.T) {
	for _, c := range []struct{ version, toolchain, want string }{
		{"go1.19.8", "", "setup: Go 1.26 is needed, and PATH/go is go1.19.8; see https://go.dev/doc/install"},
		{"go1.25.1", "local", "setup: Go 1.26 is needed, and PATH/go is go1.25.1; see https://go.dev/doc/install"},
		{"go1.25.1", "auto", "installing"},
		{"go1.26rc1", "local", "installing"},
	} {
		path := t.TempDir()
		script := func(name, text string) {
			if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		script("go", "[ \"$2\" = GOTOOLCHAIN ] && echo "+c.toolchain+" || echo "+c.version+"\n")
		for _, name := range []string{"apt-cache", "apt-get", "dpkg-query"} {
			script(name, "echo installing >&2; exit 1\n")
		}
		command := exec.Command("tools/setup.sh")
		command.Env = []string{"PATH=" + path + ":/usr/bin:/bin"}
		out, err := command.CombinedOutput()
		got := strings.ReplaceAll(string(out), path, "PATH")
		if c.want == "installing" {
			if !strings.Contains(got, "setup: installing") {
				t.Errorf("%s %s: %s, expected packages to be installed", c.version, c.toolchain, got)
			}
		} else if err == nil || !strings.Contains(got, c.want) || strings.Contains(got, "setup: installing") {
			t.Errorf("%s %s: %v\n%s\nexpected %s", c.version, c.toolchain, err, got, c.want)
		}
	}
}

// The source of RocksDB is compiled only if its digest is that of the script. Nothing remains of a download that differs.
func TestModifiedSourceOfRocksDBIsNotCompiled(t *testing.T) {
	requested := make(chan string, 10)
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested <- r.URL.Path
		_, _ = io.WriteString(w, "another file")
	}))
	defer mirror.Close()
	cache := t.TempDir()
	run := func(args ...string) (string, int) {
		t.Helper()
		command := exec.Command("tools/rocksdb/build.sh", args...)
		command.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "ROCKSDB_MIRROR="+mirror.URL+"/debian/")
		out, err := command.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), command.ProcessState.ExitCode()
	}
	if out, status := run("--cached"); out != "" || status != 0 {
		t.Errorf("without a build: %d, %s", status, out)
	}
	if out, status := run("--cached", "riscv64"); status != 2 || !strings.Contains(out, "expected amd64 or arm64") {
		t.Errorf("another architecture: %d, %s", status, out)
	}
	out, status := run()
	if status != 1 || !strings.Contains(out, "no rocksdb_7.8.3.orig.tar.gz with SHA-256 b85408a3") || !strings.Contains(out, "ROCKSDB_MIRROR") {
		t.Errorf("a modified source: %d, %s", status, out)
	}
	if path := <-requested; path != "/debian/pool/main/r/rocksdb/rocksdb_7.8.3.orig.tar.gz" {
		t.Errorf("requested %s", path)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "birthmark", "rocksdb*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != "rocksdb.lock" {
		t.Errorf("files %q, %v", left, err)
	}
}

// On a terminal a command that prints nothing has a line with the seconds since its start. Elsewhere it is unchanged, and
// so is its status.
func TestSilentCommandsShowThatTheyRun(t *testing.T) {
	end := filepath.Join(t.TempDir(), "end") // the command ends when this file exists
	command := func() *exec.Cmd {
		return exec.Command("tools/elapsed.sh", "build", "sh", "-c", `until [ -e "$0" ]; do sleep 0.1; done; echo end; exit 3`, end)
	}
	on := command()
	terminal, err := pty.Start(on)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	shown := bufio.NewReader(terminal)
	if line, err := shown.ReadString('\r'); err != nil || !regexp.MustCompile(`^\x1b\[Kbuild: \d+ s\r$`).MatchString(line) {
		t.Errorf("on a terminal: %q, %v", line, err)
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(shown) // ends with an error when the command has ended
	if err := on.Wait(); on.ProcessState.ExitCode() != 3 || !strings.Contains(string(rest), "end\r\n") || !strings.HasSuffix(string(rest), "\x1b[K") {
		t.Errorf("on a terminal: %v, %q", err, rest)
	}
	out, err := command().CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "end\n" {
		t.Errorf("without a terminal: %v, %q", err, out)
	}
	for file, line := range map[string]string{
		"Makefile": "tools/elapsed.sh $@ go build ", "docs/demo.sh": "tools/elapsed.sh demo go ", "tools/setup.sh": `/elapsed.sh" setup `,
	} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%s lacks %s: %v", file, line, err)
		}
	}
}

// Packages of other languages are installed, not committed: each folder with a package.json ignores them.
func TestInstalledPackagesAreIgnored(t *testing.T) {
	folders, err := filepath.Glob("tools/*/package.json")
	more, err2 := filepath.Glob("tools/*/*/package.json")
	if folders = append(folders, more...); err != nil || err2 != nil || len(folders) < 5 {
		t.Fatalf("%d folders with a package.json, %v, %v", len(folders), err, err2)
	}
	for _, file := range folders {
		ignored, err := os.ReadFile(filepath.Join(filepath.Dir(file), ".gitignore"))
		if err != nil || !strings.Contains(string(ignored), "node_modules") {
			t.Errorf("%s: the .gitignore of its folder has %q, expected node_modules (%v)", file, ignored, err)
		}
	}
}
