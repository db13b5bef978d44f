package rocks_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"birthmark/internal/testrun"
)

// If this variable is set, the test binary runs as a child process in the named role and runs no tests.
const roleVariable = "ROCKS_TEST_ROLE"

// roles maps names to functions of child processes, which get the command line arguments.
var roles = map[string]func(args []string) error{
	"writer":  writerRole,
	"holder":  holderRole,
	"limited": limitedRole,
	"open":    openRole,
}

func TestMain(m *testing.M) {
	name := os.Getenv(roleVariable)
	if name == "" {
		if flag.Parse(); testing.Short() {
			testrun.Main(m) // in memory; all tests use the disk and fsync
		}
		os.Exit(m.Run())
	}
	go func() {
		io.Copy(io.Discard, os.Stdin) // ends when the parent ends
		os.Exit(3)
	}()
	if err := roles[name](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a running child process.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.Closer
	lines  *bufio.Scanner // output; after kill, the unread output
	stderr bytes.Buffer
	ended  bool
	ignore chan struct{} // closed when all ignored output was read
}

func start(t *testing.T, role string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], args...)}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	c.cmd.Stderr = &c.stderr
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	return c
}

// line returns the next line of the child's output and fails the test at its end.
func (c *child) line() string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.cmd.Wait()
		c.ended = true
		c.t.Fatalf("the child process ended: %s", c.stderr.String())
	}
	return c.lines.Text()
}

// ignoreOutput discards the child's further output, so that it does not block.
func (c *child) ignoreOutput() {
	c.ignore = make(chan struct{})
	go func() {
		defer close(c.ignore)
		for c.lines.Scan() {
		}
	}()
}

// kill kills the child with SIGKILL and returns its unread output.
func (c *child) kill() (rest []string) {
	c.t.Helper()
	if c.ended {
		return nil
	}
	c.ended = true
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Errorf("kill: %v", err)
	}
	if c.ignore != nil {
		<-c.ignore
	}
	for c.lines.Scan() {
		rest = append(rest, c.lines.Text())
	}
	c.cmd.Wait() // returns an error about the kill
	if text := c.stderr.String(); text != "" {
		c.t.Errorf("stderr of the child process: %s", text)
	}
	return rest
}
