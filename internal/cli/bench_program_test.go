package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// birthmark bench runs the program birthmark-bench, which is beside it or in PATH.
func TestBenchIsAProgramOfItsOwn(t *testing.T) {
	slow(t)
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	run := func(program, path string, args ...string) (string, int) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "PATH="+path)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	product := filepath.Join(dir, "birthmark")
	for _, c := range []struct {
		line   string
		status int
		says   string
	}{
		{"bench generate --chain ergo --txs 300 --json " + filepath.Join(t.TempDir(), "chain"), exitDone, "blocks.jsonl"},
		{"bench --help", exitDone, "birthmark bench COMMAND"},
		{"help bench tip", exitDone, "birthmark bench tip [flags]"},
		{"bench", exitUsage, "birthmark bench needs one of append"},
		{"bench append --seeds 3", exitUsage, "unknown flag --seeds of birthmark bench append"},
	} {
		out, status := run(product, "", strings.Fields(c.line)...)
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%s: status %d\n%s", c.line, status, out)
		}
	}
	alone := filepath.Join(t.TempDir(), "birthmark")
	if err := os.Link(product, alone); err != nil {
		t.Fatal(err)
	}
	if out, status := run(alone, dir, "bench", "--help"); status != exitDone || !strings.Contains(out, "birthmark bench COMMAND") {
		t.Errorf("in PATH: status %d\n%s", status, out)
	}
	if out, status := run(alone, "", "bench", "--help"); status != exitUsage || !strings.Contains(out, "birthmark-bench") || !strings.Contains(out, "make build") {
		t.Errorf("not installed: status %d\n%s", status, out)
	}
}
