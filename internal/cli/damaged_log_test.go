package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A copy of a log in a database ends the program with exit status 3 and the code damaged: systemd does not restart it.
// Without the check of logs, RocksDB aborted it with status 2.
func TestACopiedLogEndsTheProgramWithStatus3(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	cmd, _, _ := runningSync(t, db, "--wal=on")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	logs, err := filepath.Glob(filepath.Join(db, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	content, err := os.ReadFile(logs[len(logs)-1])
	if err != nil {
		t.Fatal(err)
	}
	if len(content) == 0 {
		t.Fatal("the log is empty")
	}
	write(t, filepath.Join(db, "900000.log"), string(content))
	for _, args := range [][]string{{"status"}, {"sync", "--source", "file://" + realBlocks(t)}, {"serve", "--listen", "127.0.0.1:0", "--source", "file://" + realBlocks(t)}} {
		cmd, stdout, stderr := process(t, -1, append(args, "--json", "--db", db)...)
		if args[0] == "serve" {
			cmd, stdout, stderr = process(t, -1, append(args, "--db", db)...)
		}
		_ = cmd.Run()
		var f failure
		if code := cmd.ProcessState.ExitCode(); code != exitRefused || args[0] != "serve" && (json.Unmarshal(stdout.Bytes(), &f) != nil || f.Error.Code != "damaged") {
			t.Errorf("%s ends with %v: %.2000s%.2000s", args[0], cmd.ProcessState, stdout, stderr)
		}
	}
}
