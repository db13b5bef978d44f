package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench/benchcmd"
	"birthmark/internal/testrun"
	"birthmark/model"
)

var update = flag.Bool("update", false, "write golden files")

// asProgram makes the test binary run as birthmark, for tests that need a process. Its value is the number of blocks
// after which the source sends nothing more, or -1 for no limit.
const asProgram = "BIRTHMARK_TEST_PROGRAM"

// deafSource makes that source ignore the end of its context.
const deafSource = "BIRTHMARK_TEST_DEAF"

// ofTests are the environment variables that configure tests.
var ofTests = []string{"BIRTHMARK_DATA", "BIRTHMARK_REQUIRE_DATA", "BIRTHMARK_SEED", "BIRTHMARK_KILLS", "BIRTHMARK_ROUNDS", "BIRTHMARK_SOAK", largeVariable, largeMemoryVariable}

// helpFlag is the flag --help of urfave/cli, which all commands share, without its writes to itself: tests run several
// commands at once.
type helpFlag struct{ *cli.BoolFlag }

func (f helpFlag) Apply(set *flag.FlagSet) error {
	one := *f.BoolFlag
	return one.Apply(set)
}

func init() { cli.HelpFlag = helpFlag{cli.HelpFlag.(*cli.BoolFlag)} }

func TestMain(m *testing.M) {
	if n, ok := os.LookupEnv(asProgram); ok {
		os.Exit(runAsProgram(n))
	}
	if len(os.Args) > 1 && os.Args[1] == "bench" { // bench in this process executes its program
		os.Exit(runAsProgram("-1"))
	}
	for _, v := range os.Environ() { // a developer's settings do not apply to tests
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "BIRTHMARK_") && !slices.Contains(ofTests, name) {
			os.Unsetenv(name)
		}
	}
	os.Setenv("XDG_DATA_HOME", "/nonexistent") // nor do databases in the data folder
	testrun.Main(m)
}

var slow = testrun.Slow

// testProgram is the program with the commands of birthmark-bench.
func testProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	return newProgram(stdin, stdout, stderr, benchcmd.Command)
}

func runAsProgram(blocks string) int {
	if os.Getuid() == 0 && os.Getenv(asProgram+"_NOBODY") != "" {
		if err := syscall.Setuid(65534); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 99
		}
	}
	p := testProgram(os.Stdin, os.Stdout, os.Stderr)
	n, err := strconv.Atoi(blocks)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	if text := os.Getenv(cachesVariable); text != "" {
		if p.Caches, err = strconv.ParseInt(text, 10, 64); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 99
		}
	}
	if text := os.Getenv(stepVariable); text != "" {
		if p.Step, err = strconv.Atoi(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 99
		}
	}
	if n >= 0 {
		real := p.NewChain
		p.NewChain = func(name, network string) (model.Chain, error) {
			c, err := real(name, network)
			return quietChain{c, n}, err
		}
	}
	return p.run(untilSignal(), os.Args)
}

// quietChain is a chain whose sources send nothing after a number of blocks, like a node at its tip.
type quietChain struct {
	model.Chain
	after int
}

func (c quietChain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	stay := o.Follow && os.Getenv(slowSource) != ""
	o.Follow = o.Follow && !stay
	s, err := c.Chain.Open(ctx, o)
	if _, ok := s.(model.Submitter); ok && c.after == all && os.Getenv(slowSource) == "" {
		return s, err // keeps the methods of its mempool
	}
	return quietSource{s, c.after, stay}, err
}

func (c quietChain) Define(ds []model.Definition) (model.Chain, error) {
	defined, err := c.Chain.Define(ds)
	return quietChain{defined, c.after}, err
}

// ReadWallet implements [model.WalletReader].
func (c quietChain) ReadWallet(index, text string) (model.Wallet, error) {
	return model.WalletOf(c.Chain, index, text)
}

type quietSource struct {
	model.Source
	after int
	stay  bool
}

func (s quietSource) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		n := 0
		for e, err := range s.Source.Follow(ctx, known) {
			if n == s.after {
				if os.Getenv(deafSource) != "" {
					select {}
				}
				<-ctx.Done()
				yield(model.Event{}, ctx.Err())
				return
			}
			if wait, err := time.ParseDuration(os.Getenv(slowSource)); err == nil && n%64 == 0 {
				time.Sleep(wait)
			}
			if !yield(e, err) {
				return
			}
			n++
		}
		if s.stay {
			<-ctx.Done()
			yield(model.Event{}, ctx.Err())
		}
	}
}

// slowSource is a duration that sources wait before every 64th block. Sources that follow their chain wait at its end.
const slowSource = "BIRTHMARK_TEST_SLOW"

// cachesVariable is the size of the caches of a sync in bytes.
const cachesVariable = "BIRTHMARK_TEST_CACHES"

// stepVariable is the weight of a step of an index that is added or dropped.
const stepVariable = "BIRTHMARK_TEST_STEP"

// process returns a command that runs the test binary as birthmark.
func process(t *testing.T, blocks int, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", asProgram, blocks))
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// result is the status and the output of a run.
type result struct {
	status         int
	stdout, stderr string
}

// birthmark runs the program in this process.
func birthmark(args ...string) result { return birthmarkReading("", args...) }

func birthmarkReading(stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), append([]string{"birthmark"}, args...), strings.NewReader(stdin), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

// failure is the error document of a run with --json.
type failure struct {
	Error struct{ Code, Message string }
}

// wantFailure runs args, which must fail with the status, the code and a message that matches a pattern. The message is
// one line on stderr, and stdout is empty. With --json stdout also has one document with the same message.
func wantFailure(t *testing.T, status int, code, pattern string, args ...string) {
	t.Helper()
	r := birthmark(args...)
	message, ok := strings.CutPrefix(r.stderr, "birthmark: ")
	message = strings.TrimSuffix(message, "\n")
	if r.status != status || !ok || strings.Contains(message, "\n") || r.stdout != "" {
		t.Errorf("birthmark %s: status %d, expected %d; stdout %q, stderr %q", strings.Join(args, " "), r.status, status, r.stdout, r.stderr)
		return
	}
	if !regexp.MustCompile(pattern).MatchString(message) {
		t.Errorf("birthmark %s: %q, expected %s", strings.Join(args, " "), message, pattern)
	}
	r = birthmark(append([]string{"--json"}, args...)...)
	var f failure
	if err := json.Unmarshal([]byte(r.stdout), &f); err != nil || r.status != status {
		t.Errorf("birthmark --json %s: status %d, stdout %q: %v", strings.Join(args, " "), r.status, r.stdout, err)
		return
	}
	if f.Error.Code != code || !regexp.MustCompile(pattern).MatchString(f.Error.Message) {
		t.Errorf("birthmark --json %s: %+v, expected %s: %s", strings.Join(args, " "), f.Error, code, pattern)
	}
}

// golden compares text with a file in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if text != string(want) {
		t.Errorf("%s differs (go test -update writes it).\n--- got\n%s--- want\n%s", path, text, want)
	}
}
