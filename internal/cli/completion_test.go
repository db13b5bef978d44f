package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/chains"
)

func TestCommandLinesAreCompleted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"stat":                                "status stats",
		"index d":                             "drop",
		"help index a":                        "add",
		"find --heig":                         "--height-from --height-to",
		"find --order ":                       "asc desc",
		"find address X --order=d":            "--order=desc",
		"--network ":                          strings.Join(everyNetwork(), " "),
		"sync --chain ergo --network ":        "mainnet testnet",
		"find --chain bitcoin --db d script_": "script_hash script_type",
		"index add --chain ergo box":          "box_id",
		"sync --db ":                          ":files",
		"block t":                             "tip",
		"block tip ":                          "",
		"completion ":                         "bash fish zsh",
		"follower set wallet o":               "origin",
		"zebra x":                             "",
		"find --limit ":                       "",
		"find -- --he":                        "",
	} {
		r := birthmark(append([]string{"__complete", "--"}, strings.Split(line, " ")...)...)
		var got []string
		for l := range strings.Lines(r.stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			got = append(got, word)
		}
		if r.status != exitDone || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, expected %q; %s", line, got, want, r.stderr)
		}
	}
}

// Interactive shells complete command lines: Tab followed by Enter runs the completed command.
func TestShellsComplete(t *testing.T) {
	slow(t)
	t.Parallel()
	for name, shell := range map[string]struct {
		args  []string
		setup string // reads the completion script, which is the file _birthmark
	}{
		"bash":            {[]string{"bash", "--norc", "--noprofile", "-i"}, "source ./_birthmark"},
		"zsh":             {[]string{"zsh", "-f", "-i"}, "autoload -Uz compinit; compinit -u; source ./_birthmark"},
		"zsh with a file": {[]string{"zsh", "-f", "-i"}, "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u"},
		"fish":            {[]string{"fish"}, "source ./_birthmark"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell.args[0])
			if err != nil {
				t.Skipf("%s is not installed: tools/setup.sh tests installs it", shell.args[0])
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "_birthmark"), birthmark("completion", shell.args[0]).stdout)
			write(t, filepath.Join(dir, "birthmark"), `#!/bin/sh
[ "$1" != __complete ] || exec "$BIRTHMARK" "$@"
echo "$@" >"$HOME/line.new" && mv "$HOME/line.new" "$HOME/line"
`)
			if err := os.Chmod(filepath.Join(dir, "birthmark"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "only folder"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, shell.args[1:]...)
			cmd.Dir = dir
			cmd.Env = []string{"HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "BIRTHMARK=" + os.Args[0],
				fmt.Sprintf("%s=%d", asProgram, all)}
			p := startOnTerminal(t, cmd)
			for _, line := range [][2]string{
				{shell.setup + "; birthmark version\r", "version"},
				{"birthmark roll\t\r", "rollback"},
				{"birthmark index dr\t\r", "index drop"},
				{"birthmark find --order d\t\r", "find --order desc"},
				{"birthmark find --order=d\t\r", "find --order=desc"},
				{"birthmark sync --db onl\t\r", "sync --db only folder/"},
				{"birthmark block tip on\t\r", "block tip on"},
			} {
				for _, key := range []byte(line[0]) {
					p.press(t, key)
				}
				var got []byte
				until(t, fmt.Sprintf("%q; the screen:\n%s", line[0], p.written()), func() bool {
					got, err = os.ReadFile(filepath.Join(dir, "line"))
					return err == nil
				})
				if strings.TrimSuffix(strings.TrimSpace(string(got)), "/") != strings.TrimSuffix(line[1], "/") {
					t.Errorf("%q runs birthmark %q, expected %q", line[0], got, line[1])
				}
				if err := os.Remove(filepath.Join(dir, "line")); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// everyNetwork returns the distinct networks of all chains.
func everyNetwork() (all []string) {
	for _, chain := range chains.Names() {
		for _, network := range chains.Networks(chain) {
			if !slices.Contains(all, network) {
				all = append(all, network)
			}
		}
	}
	return all
}
