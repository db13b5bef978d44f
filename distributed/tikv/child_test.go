package tikv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/tikvrpc/interceptor"

	"birthmark/storage"
)

// The database of these tests has generations: each update writes its number to every row of three families, and
// replaces half of the keys.

const generationRows = 400 // per family and half

var generationFamilies = []storage.Declaration{{Family: 1, Name: "one"}, {Family: 2, Name: "two"}, {Family: 300, Name: "three"}}

// inPieces writes a generation in 12 parts.
func inPieces(c *Config) { c.smallKeys, c.partKeys = 3, 300 }

func writeGeneration(ctx context.Context, s *Store, n int) error {
	return s.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		if now, err := generation(r); err != nil || now != n-1 {
			return fmt.Errorf("the database has generation %d before %d is written: %w", now, n, err)
		}
		for _, d := range generationFamilies {
			for i := range generationRows {
				b.Put(d.Family, fmt.Appendf(nil, "kept %d", i), fmt.Append(nil, n))
				b.Put(d.Family, fmt.Appendf(nil, "half %d %d", n%2, i), fmt.Append(nil, n))
				b.Delete(d.Family, fmt.Appendf(nil, "half %d %d", (n+1)%2, i))
			}
		}
		return nil
	})
}

// generation reads every row and returns their number. Rows of two generations, or missing ones, are an error.
func generation(r storage.Reader) (n int, err error) {
	for i, d := range generationFamilies {
		rows := 0
		for kv, err := range r.Scan(d.Family, nil, nil, i%2 == 1) {
			if err != nil {
				return 0, err
			}
			of, err := strconv.Atoi(string(kv.Value))
			if err != nil {
				return 0, err
			}
			if i == 0 && rows == 0 {
				n = of
			}
			if of != n || strings.HasPrefix(string(kv.Key), "half ") && string(kv.Key[5]) != strconv.Itoa(n%2) {
				return 0, fmt.Errorf("torn: family %s has %q of generation %d, another row is of generation %d", d.Name, kv.Key, of, n)
			}
			rows++
		}
		if n > 0 && rows != 2*generationRows || n == 0 && rows != 0 {
			return 0, fmt.Errorf("torn: family %s has %d rows of generation %d", d.Name, rows, n)
		}
	}
	return n, nil
}

func viewGeneration(ctx context.Context, s *Store) (n int, err error) {
	err = s.View(ctx, func(r storage.Reader) error {
		n, err = generation(r)
		return err
	})
	return n, err
}

// openGenerations opens the database.
func openGenerations(ctx context.Context, url string, o Options, change func(*Config)) (*Store, error) {
	c, err := ParseURL(url)
	if err != nil {
		return nil, err
	}
	change(&c)
	s, err := Open(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return s, s.Declare(generationFamilies...)
}

// child is the writing process. It prints "written N" after each update.
func child() {
	err := childMain()
	var locked *storage.LockedError
	switch {
	case errors.As(err, &locked):
		fmt.Println("locked:", err)
	case err != nil:
		fmt.Println("failed:", err)
	}
	os.Exit(0)
}

func childMain() error {
	url, mode := os.Getenv("BIRTHMARK_TIKV_CHILD"), os.Getenv("CHILD_MODE")
	takeOver := func(c *Config) {
		c.TakeOver = true
		if mode == "in parts" {
			inPieces(c)
		}
	}
	ctx := context.Background()
	s, err := openGenerations(ctx, url, Options{Purpose: "child"}, takeOver)
	if err != nil {
		return err
	}
	n, err := viewGeneration(ctx, s)
	if err != nil {
		return err
	}
	fmt.Println("opened", n)
	at, _ := strconv.Atoi(os.Getenv("CHILD_AT"))
	signal, _ := strconv.Atoi(os.Getenv("CHILD_SIGNAL"))
	for {
		n++
		if at > 0 {
			ctx = signalAt(ctx, at, syscall.Signal(signal))
		}
		if err := writeGeneration(ctx, s, n); err != nil {
			return err
		}
		fmt.Println("written", n)
		if at > 0 {
			return s.Close()
		}
	}
}

// signalAt sends this process a signal at an event of the update that is run with the context. Events are the moments
// before and after each request that changes something: the prewrite and the commit of each transaction.
func signalAt(ctx context.Context, at int, signal syscall.Signal) context.Context {
	var events atomic.Int64
	event := func() {
		if int(events.Add(1)) == at {
			_ = syscall.Kill(os.Getpid(), signal)
			time.Sleep(100 * time.Millisecond) // until the signal has arrived
		}
	}
	return interceptor.WithRPCInterceptor(ctx, func(next interceptor.RPCInterceptorFunc) interceptor.RPCInterceptorFunc {
		return func(target string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
			if req.Type != tikvrpc.CmdPrewrite && req.Type != tikvrpc.CmdCommit {
				return next(target, req)
			}
			event()
			defer event()
			return next(target, req)
		}
	})
}

// writer is a running child.
type writer struct {
	cmd   *exec.Cmd
	lines chan string // closed at the end
	wait  func() error
}

func startWriter(t *testing.T, url, mode string, at int, signal syscall.Signal) *writer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "BIRTHMARK_TIKV_CHILD="+url, "CHILD_MODE="+mode, "CHILD_AT="+strconv.Itoa(at), "CHILD_SIGNAL="+strconv.Itoa(int(signal)))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &writer{cmd: cmd, lines: make(chan string, 10_000)}
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.lines <- lines.Text()
		}
	}()
	w.wait = sync.OnceValue(cmd.Wait)
	t.Cleanup(w.kill)
	return w
}

func (w *writer) kill() {
	_ = w.cmd.Process.Kill()
	for range w.lines {
	}
	_ = w.wait()
}

// stopped waits until the process is stopped by a signal, or has ended.
func (w *writer) stopped(t *testing.T) bool {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
		if err != nil {
			return false
		}
		switch state := stat[strings.LastIndexByte(string(stat), ')')+2]; state {
		case 'T':
			return true
		case 'Z':
			return false
		}
	}
	t.Fatal("the writer neither stopped nor ended")
	return false
}
