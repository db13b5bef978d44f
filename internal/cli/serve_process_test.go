package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

// serverProcess is a server in another process.
type serverProcess struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer // only valid after the process has ended
	daemon.Address
	client *http.Client
}

// startServer starts `birthmark serve` and waits until it prints its address.
func startServer(t *testing.T, args ...string) *serverProcess {
	t.Helper()
	cmd, _, stderr := process(t, all, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	return startServing(t, cmd, stderr)
}

// startServing starts a command that serves, and waits until it prints its address.
func startServing(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer) *serverProcess {
	t.Helper()
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &serverProcess{cmd: cmd, stderr: stderr, client: &http.Client{Timeout: patience}}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the log of the server: %.4000s", stderr)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.Address)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return s
}

// kill kills the process.
func (s *serverProcess) kill() {
	s.client.CloseIdleConnections()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// stop sends SIGTERM, after which the process must exit with status 0.
func (s *serverProcess) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.stderr)
	}
}

// reply is an answer of a server.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// get requests a path below the server's URL.
func (s *serverProcess) get(t *testing.T, path string, header ...string) reply {
	t.Helper()
	r, err := s.try(path, header...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *serverProcess) try(path string, header ...string) (r reply, err error) {
	ask, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		return r, err
	}
	for i := 0; i < len(header); i += 2 {
		ask.Header.Set(header[i], header[i+1])
	}
	a, err := s.client.Do(ask)
	if err != nil {
		return r, err
	}
	defer a.Body.Close()
	r.status, r.header = a.StatusCode, a.Header
	r.body, err = io.ReadAll(a.Body)
	return r, err
}

// into decodes a response, which must be one document.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %.300s: %v", r.status, r.body, err)
	}
}

// tip returns the height in the status of a chain, or -1 before the first block.
func (s *serverProcess) tip(t *testing.T, chain string) (height int, hash string) {
	t.Helper()
	var a query.StatusAnswer
	s.get(t, "v1/"+chain+"/status").into(t, &a)
	if a.Tip == nil {
		return -1, ""
	}
	return int(a.Tip.Height), a.Tip.Hash
}

// reaches waits until the tip of the chain is at the height or above.
func (s *serverProcess) reaches(t *testing.T, chain string, height int) {
	t.Helper()
	until(t, chain+" to reach block "+strconv.Itoa(height), func() bool { h, _ := s.tip(t, chain); return h >= height })
}

// slowly starts a server whose sources wait before every 64th block.
func slowly(t *testing.T, wait time.Duration, args ...string) *serverProcess {
	t.Helper()
	cmd, _, stderr := process(t, all, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(cmd.Env, slowSource+"="+wait.String())
	return startServing(t, cmd, stderr)
}
