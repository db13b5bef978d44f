package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/testrun"
	"github.com/creack/pty"
)

// onTerminal is a process whose input, output and errors are a pseudo terminal of 120 columns.
type onTerminal struct {
	cmd  *exec.Cmd
	pty  *os.File
	ends chan error

	mu  sync.Mutex
	out bytes.Buffer // everything that was written to the terminal
}

// startOnTerminal starts cmd on a new pseudo terminal. The test kills it when it ends.
func startOnTerminal(t *testing.T, cmd *exec.Cmd) *onTerminal {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, nil
	cmd.Env = append(cmd.Env, "TERM=xterm")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	p := &onTerminal{cmd: cmd, pty: f, ends: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.mu.Unlock()
			if err != nil { // EIO when the last process has closed its side
				return
			}
		}
	}()
	go func() {
		err := cmd.Wait()
		<-read
		p.ends <- err
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // pty.Start makes it the leader of a session
		_ = f.Close()
	})
	return p
}

// written returns everything the terminal has received.
func (p *onTerminal) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// press types a key.
func (p *onTerminal) press(t *testing.T, key byte) {
	t.Helper()
	if _, err := p.pty.Write([]byte{key}); err != nil {
		t.Fatal(err)
	}
}

const ctrlC = 3

// end waits until the process has ended and returns its exit status. A process that does not end fails the test.
func (p *onTerminal) end(t *testing.T) int {
	t.Helper()
	select {
	case err := <-p.ends:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return exitDone
	case <-time.After(patience):
		t.Fatalf("%s does not end; the screen:\n%s", p.cmd, strings.Join(screen(p.written()), "\n"))
		return -1
	}
}

// screen returns the lines that are left on a terminal that received text: a carriage return goes to the beginning of
// the line, ESC [ K clears the rest of it. Colours are dropped.
func screen(text string) (lines []string) {
	for _, line := range strings.Split(colours.ReplaceAllString(text, ""), "\n") {
		var shown string
		for _, part := range strings.Split(line, "\r") {
			if rest, cleared := strings.CutPrefix(part, "\x1b[K"); cleared {
				shown = rest
			} else {
				shown = part + shown[min(len(part), len(shown)):]
			}
		}
		lines = append(lines, shown)
	}
	return lines
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	bar     = regexp.MustCompile(`\[=* *\] +\d|\d%`)
	logfmt  = regexp.MustCompile(`level=[A-Z]+ msg=`)
)

// clean checks that no bar is left on the screen, and that no line of a log was written in the format for machines.
func (p *onTerminal) clean(t *testing.T) {
	t.Helper()
	for _, line := range screen(p.written()) {
		if bar.MatchString(line) {
			t.Errorf("a bar is left on the screen: %q", line)
		}
	}
	if logfmt.MatchString(p.written()) {
		t.Errorf("a line in the format for machines is on the screen:\n%s", strings.Join(screen(p.written()), "\n"))
	}
}

func TestScreenMatchesTerminal(t *testing.T) {
	t.Parallel()
	got := screen("one\r\n\r\x1b[Ksync [===  ] 50%\r\x1b[K\x1b[32mtwo\x1b[0m\r\nabcd\rxy")
	if want := []string{"one", "two", "xycd"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, expected %q", got, want)
	}
}

// Every command with a progress bar ends by itself on a terminal, and removes the bar.
func TestCommandsWithProgressEndOnATerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	blocks, dir := realBlocks(t), t.TempDir()
	db := filepath.Join(dir, "db")
	for _, c := range []struct{ name, line string }{
		{"sync", "sync --chain bitcoin --to-height 900 --source file://" + blocks + " --db " + db},
		{"sync again", "sync --to-height 900 --source file://" + blocks + " --db " + db},
		{"check", "check --db " + db},
		{"verify", "verify --source file://" + blocks + " --db " + db},
		{"index add", "index add script_hash --source file://" + blocks + " --db " + db},
		{"check of an index", "check --db " + db},
		{"index drop", "index drop script_hash --db " + db},
		{"rollback", "rollback --yes --to-height 500 --db " + db},
		{"richest", "richest address --db " + db},
		{"dump", "dump --digest --db " + db},
		{"bench generate", "bench generate --chain bitcoin --txs 2000 " + filepath.Join(dir, "made")},
		{"bench sync", "bench sync --chain bitcoin --network regtest --source file://" + filepath.Join(dir, "made", "blocks")},
		{"bench append", "bench append --txs 2000"},
		{"bench rollback", "bench rollback --txs 2000 --blocks 5"},
		{"bench tip", "bench tip --txs 2000 --blocks 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, _, _ := process(t, -1, strings.Fields(c.line)...)
			cmd.Env = append(cmd.Env, "TMPDIR="+dir)
			p := startOnTerminal(t, cmd)
			if status := p.end(t); status != exitDone {
				t.Errorf("exit status %d; the screen:\n%s", status, strings.Join(screen(p.written()), "\n"))
			}
			p.clean(t)
		})
	}
}

func TestQuietCommandsShowNoProgress(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	cmd, _, _ := process(t, 501, "sync", "--quiet", "--chain", "bitcoin", "--source", "file://"+realBlocks(t), "--db", filepath.Join(t.TempDir(), "db"))
	p := startOnTerminal(t, cmd)
	until(t, "the sync to write block 500", func() bool {
		r := birthmark("block", "500", "--db", cmd.Args[len(cmd.Args)-1])
		return r.status == exitDone
	})
	if p.written() != "" {
		t.Errorf("the screen:\n%s", p.written())
	}
	p.press(t, ctrlC)
	if status := p.end(t); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	p.clean(t)
}

// The first Ctrl-C ends a sync and a server, also while they show a bar.
func TestOneCtrlCEndsOnATerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	source := " --chain bitcoin --source file://" + realBlocks(t)
	for _, c := range []struct{ name, line, says string }{
		{"sync", "sync" + source, "interrupted; run the same command to resume"},
		{"sync --follow", "sync --follow" + source, "interrupted; run the same command to resume"},
		{"sync --serve", "sync --serve 127.0.0.1:0" + source, "interrupted; run the same command to resume"},
		{"serve", "serve --listen 127.0.0.1:0" + source, "http://127.0.0.1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "db")
			cmd, _, _ := process(t, 501, append(strings.Fields(c.line), "--db", db)...)
			p := startOnTerminal(t, cmd)
			until(t, "a bar", func() bool { return strings.Contains(p.written(), "500/14,131") })
			p.press(t, ctrlC)
			if status := p.end(t); status != exitDone {
				t.Errorf("exit status %d", status)
			}
			p.clean(t)
			if !strings.Contains(p.written(), c.says) {
				t.Errorf("expected %q in\n%s", c.says, p.written())
			}
			if n := tipHeight(t, db); n != 500 {
				t.Errorf("the tip is %d, expected 500", n)
			}
		})
	}
}

// A check that is interrupted ends at once.
func TestOneCtrlCEndsACheckOnATerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t))
	cmd, _, _ := process(t, -1, "check", "--db", db)
	p := startOnTerminal(t, cmd)
	time.Sleep(50 * time.Millisecond)
	p.press(t, ctrlC)
	p.end(t) // it may have been done before
	p.clean(t)
}

// On a terminal, rollback asks before it removes blocks. --dry-run removes none.
func TestRollbackPromptsOnATerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	db := first200(t)
	for _, c := range []struct {
		keys   string
		status int
		tip    int
		says   string
	}{
		{"n\n", exitUsage, 199, "nothing was removed"},
		{"\n", exitUsage, 199, "nothing was removed"},
		{string(rune(ctrlC)), exitUsage, 199, "nothing was removed"},
		{"yes\n", exitDone, 150, "49 blocks"},
	} {
		cmd, _, _ := process(t, -1, "rollback", "--to-height", "150", "--db", db)
		p := startOnTerminal(t, cmd)
		until(t, "the question", func() bool {
			return strings.Contains(p.written(), "Remove 49 blocks above block 150 of bitcoin mainnet? [y/N] ")
		})
		for _, key := range []byte(c.keys) {
			p.press(t, key)
		}
		if status := p.end(t); status != c.status || !strings.Contains(p.written(), c.says) || tipHeight(t, db) != c.tip {
			t.Errorf("%q: exit status %d, expected %d; the screen:\n%s", c.keys, status, c.status, strings.Join(screen(p.written()), "\n"))
		}
	}
	var plan rollbackAnswer
	ask(t, &plan, "rollback", "--to-height", "100", "--dry-run", "--db", db)
	if !plan.DryRun || plan.Removed != 50 || plan.Tip.Height != 100 || tipHeight(t, db) != 150 {
		t.Errorf("%+v", plan)
	}
	consistent(t, db)
}

// The demo that the README begins with ends by itself on a terminal.
func TestTheDemoOfBitcoinEndsOnATerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	realBlocks(t)
	p := startOnTerminal(t, demoScript(t, "demo.sh", "DATA="+t.TempDir()))
	if status := p.end(t); status != exitDone {
		t.Errorf("exit status %d; the screen:\n%s", status, strings.Join(screen(p.written()), "\n"))
	}
	p.clean(t)
	if want := "The database is in "; !strings.Contains(p.written(), want) {
		t.Errorf("expected %q in\n%s", want, p.written())
	}
}
