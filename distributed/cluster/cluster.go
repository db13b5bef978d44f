// Package cluster runs a small TiKV cluster for tests: PD and unistore, two processes on 127.0.0.1 that are built from
// the module tools/tikv. With BIRTHMARK_PD=HOST:PORT the tests use the cluster of that placement driver instead.
package cluster

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Cluster is a placement driver and a store.
type Cluster struct {
	PD string // address of the placement driver

	dir        string
	pd, store  *server
	regionSize int
}

// server is one of the processes.
type server struct {
	args   []string
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// External returns the address of the user's placement driver, or "".
func External() string { return os.Getenv("BIRTHMARK_PD") }

var shared struct {
	sync.Once
	cluster *Cluster
	err     error
}

// Shared returns the cluster that the tests of this process share, and starts it. Stop ends it.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.Do(func() {
		if pd := External(); pd != "" {
			shared.cluster = &Cluster{PD: pd}
			return
		}
		shared.cluster, shared.err = start(256 << 20)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

// Stop ends the shared cluster. TestMain calls it.
func Stop() {
	if c := shared.cluster; c != nil && c.dir != "" {
		c.stop()
	}
}

// Own starts a cluster for one test, which may kill its processes. Regions are split above regionSize bytes. It skips
// the test if the user's cluster is used.
func Own(t testing.TB, regionSize int) *Cluster {
	t.Helper()
	if External() != "" {
		t.Skip("needs a cluster whose processes it can kill")
	}
	c, err := start(regionSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	return c
}

var databases atomic.Int64

// URL returns the URL of a database that does not exist yet.
func (c *Cluster) URL() string {
	return fmt.Sprintf("tikv://%s/test-%d-%d-%d", c.PD, os.Getpid(), time.Now().UnixNano(), databases.Add(1))
}

func start(regionSize int) (*Cluster, error) {
	binary, err := build()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "birthmark-tikv-")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	c := &Cluster{PD: ports[0], dir: dir}
	c.pd = &server{args: []string{binary, "pd", "-client", ports[0], "-peer", ports[1], "-dir", filepath.Join(dir, "pd")}}
	c.store = &server{args: []string{binary, "store", "-pd", ports[0], "-addr", ports[2], "-dir", filepath.Join(dir, "store"),
		"-region-size", strconv.Itoa(regionSize)}}
	for _, s := range []*server{c.pd, c.store} {
		if err := s.start(); err != nil {
			c.stop()
			return nil, err
		}
	}
	return c, nil
}

func (c *Cluster) stop() {
	c.store.kill()
	c.pd.kill()
	os.RemoveAll(c.dir)
}

// KillPD kills the placement driver and starts it again after a pause.
func (c *Cluster) KillPD(pause time.Duration) error { return c.pd.restart(pause) }

// KillStore kills the store and starts it again after a pause.
func (c *Cluster) KillStore(pause time.Duration) error { return c.store.restart(pause) }

func (s *server) restart(pause time.Duration) error {
	s.kill()
	time.Sleep(pause)
	return s.start()
}

// start starts the process and waits until it accepts connections.
func (s *server) start() error {
	s.stderr.Reset()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	// The etcd in PD registers patterns that newer versions of net/http reject.
	s.cmd.Env = append(os.Environ(), "GODEBUG=httpmuxgo121=1", "GOMAXPROCS=2")
	s.cmd.Stderr = &s.stderr
	// The processes must not outlive the test, also if it is killed.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := startOnThread(s.cmd); err != nil {
		return err
	}
	ready := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if lines.Text() == "ready" {
				ready <- nil
				io.Copy(io.Discard, out)
				return
			}
		}
		ready <- fmt.Errorf("%s ended before it was ready", s.args[1])
	}()
	select {
	case err = <-ready:
	case <-time.After(2 * time.Minute):
		err = fmt.Errorf("%s is not ready after 2 minutes", s.args[1])
	}
	if err != nil {
		s.kill()
		return fmt.Errorf("%w: %s", err, s.stderr.String())
	}
	return nil
}

// startOnThread starts a process from a thread that lives as long as this process: Pdeathsig is sent when the thread
// ends that started the child.
func startOnThread(cmd *exec.Cmd) error {
	starter.Do(func() {
		go func() {
			runtime.LockOSThread()
			for start := range starts {
				start.done <- start.cmd.Start()
			}
		}()
	})
	s := starting{cmd, make(chan error, 1)}
	starts <- s
	return <-s.done
}

type starting struct {
	cmd  *exec.Cmd
	done chan error
}

var (
	starter sync.Once
	starts  = make(chan starting)
)

func (s *server) kill() {
	if s == nil || s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func freePorts(n int) (addrs []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // after all are chosen, so that they differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

// build compiles tools/tikv, which takes a minute or two, and keeps the program in the user's cache folder under the
// hash of its sources.
func build() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(here) { // with -trimpath
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		if err != nil {
			return "", fmt.Errorf("go list: %w", err)
		}
		here = filepath.Join(strings.TrimSpace(string(out)), "cluster", "cluster.go")
	}
	source := filepath.Join(filepath.Dir(here), "../../tools/tikv")
	hash := sha256.New()
	files, err := filepath.Glob(filepath.Join(source, "*"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no sources in %s: %w", source, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(cache, "birthmark", fmt.Sprintf("tikvserver-%x", hash.Sum(nil)[:8]))
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	// Without checklinkname=0 the linker rejects a package of 2021 that uses variables of the runtime.
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-checklinkname=0 -s -w", "-o", binary+".new", ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building tools/tikv: %w\n%s", err, out)
	}
	return binary, os.Rename(binary+".new", binary)
}
