package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api/health"
	"birthmark/internal/testseed"
)

// A server that is killed during a sync and requests leaves a consistent database. The next server resumes.
func TestAKilledServerResumes(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + realBlocks(t)
	db := filepath.Join(t.TempDir(), "db")
	args := []string{"--chain", "bitcoin", "--source", source, "--db", db, "--memory", "128MiB"}
	height := -1
	for range 3 {
		s := slowly(t, 100*time.Millisecond, args...)
		if h, _ := s.tip(t, "bitcoin"); h < height {
			t.Errorf("block %d is missing, the tip is %d", height, h)
		}
		s.reaches(t, "bitcoin", height+500)
		var far health.Answer
		r := s.get(t, "readyz")
		if err := json.Unmarshal(r.body, &far); err != nil || r.status != http.StatusServiceUnavailable || far.OK || far.Chains[0].Target == nil || *far.Chains[0].Target != 14131 {
			t.Errorf("far from the tip: %d %s (%v)", r.status, r.body, err)
		}
		height, _ = s.tip(t, "bitcoin")
		s.kill()
		consistent(t, db)
	}
	s := startServer(t, args...)
	s.reaches(t, "bitcoin", 14131)
	s.stop(t)
	fresh := filepath.Join(t.TempDir(), "fresh")
	syncTo(t, fresh, source)
	same(t, db, digestOf(t, fresh))
}

// SIGTERM ends a server with clients of any kind. Running requests complete.
func TestServerStopsWithClients(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	s := slowly(t, 10*time.Millisecond, "--chain", "bitcoin", "--source", "file://"+realBlocks(t), "--db", db)
	s.reaches(t, "bitcoin", 200)
	idle, err := net.Dial("tcp", s.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	var clients sync.WaitGroup
	stopping := make(chan struct{})
	following, err := s.client.Get(s.URL + "v1/bitcoin/events")
	if err != nil {
		t.Fatal(err)
	}
	defer following.Body.Close()
	clients.Go(func() {
		if told, err := io.ReadAll(following.Body); err != nil || !strings.HasPrefix(string(told), "retry:") && !strings.Contains(string(told), "event: tip") {
			t.Errorf("a follower received %.300q: %v", told, err)
		}
	})
	for range 4 {
		clients.Go(func() {
			for {
				r, err := s.try("v1/bitcoin/block/100")
				if err != nil {
					select {
					case <-stopping: // the server no longer listens
					default:
						t.Error(err)
					}
					return
				}
				if r.status != http.StatusOK || !json.Valid(r.body) {
					t.Errorf("%d %s", r.status, r.body)
				}
			}
		})
	}
	close(stopping)
	s.stop(t)
	clients.Wait()
	consistent(t, db)
}

// flaky is a node that can be unreachable.
type flaky struct {
	http.Handler
	down atomic.Bool
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.down.Load() {
		panic(http.ErrAbortHandler)
	}
	f.Handler.ServeHTTP(w, r)
}

// One process serves several chains, and the failure of one source does not affect the others.
func TestChainsAreServedTogether(t *testing.T) {
	slow(t)
	t.Parallel()
	f := newForking(testseed.Rand(t))
	node := &flaky{Handler: f}
	at := httptest.NewServer(node)
	defer at.Close()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	write(t, bad, "not a block\n")
	still := filepath.Join(dir, "still")
	syncTo(t, still, "file://"+realBlocks(t), "--to-height", "300")
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf(`memory: 1GiB
chains:
- { chain: bitcoin, source: "file://%s", db: %s }
- { chain: ergo, network: testnet, source: "%s", db: %s }
- { chain: ergo, source: "file://%s", db: %s }
- { chain: bitcoin, network: testnet4, source: "http://127.0.0.1:1", db: %s }
`, realBlocks(t), filepath.Join(dir, "bitcoin"), at.URL, filepath.Join(dir, "ergo"), bad, filepath.Join(dir, "bad"), filepath.Join(dir, "testnet4")))
	node.down.Store(true)
	s := startServer(t, "--config", file)
	if got := strings.Join(s.Chains, " "); got != "bitcoin ergo-testnet ergo bitcoin-testnet4" {
		t.Errorf("the served chains are %s", got)
	}
	s.reaches(t, "bitcoin", 14131)
	for _, name := range s.Chains[1:] {
		if h, _ := s.tip(t, name); h >= 0 {
			t.Errorf("%s has the block %d, which no source has", name, h)
		}
		if r := s.get(t, "v1/"+name+"/block/tip"); r.status != http.StatusNotFound {
			t.Errorf("the tip of %s: %d %s", name, r.status, r.body)
		}
	}
	until(t, "the page to say why", func() bool {
		return strings.Contains(string(s.get(t, "bitcoin-testnet4").body), "127.0.0.1:1 is unreachable")
	})
	node.down.Store(false)
	s.reaches(t, "ergo-testnet", 10)
	node.down.Store(true)
	f.grow(5)
	if h, _ := s.tip(t, "ergo-testnet"); h != 10 {
		t.Errorf("block %d was read from an unreachable node", h)
	}
	node.down.Store(false)
	s.reaches(t, "ergo-testnet", 15)
	s.stop(t)
	if log := s.stderr.String(); !strings.Contains(log, "not a block") && !strings.Contains(log, "bad.jsonl") || !strings.Contains(log, "chain=ergo network=mainnet") {
		t.Errorf("the log does not name the bad source: %s", log)
	}
	for _, name := range []string{"bitcoin", "ergo"} {
		consistent(t, filepath.Join(dir, name))
	}
}

// Indexes are added and dropped while the chain is served. A custom index requires the server to reopen the database.
func TestIndexIsAddedDuringServe(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + realBlocks(t)
	dir := t.TempDir()
	db, file := filepath.Join(dir, "db"), filepath.Join(dir, "birthmark.yaml")
	write(t, file, customSettings)
	syncTo(t, db, source, "--to-height", "9000")
	s := slowly(t, 10*time.Millisecond, "--source", source, "--db", db)
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for at := 0; ; {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
			r, err := s.try("v1/bitcoin/find/address/" + satoshi)
			if err != nil || r.status != http.StatusOK {
				t.Errorf("%d %s: %v", r.status, r.body, err)
				return
			}
			now, err := strconv.Atoi(r.header.Get("X-Tip-Height"))
			if err != nil || now < at {
				t.Errorf("the tip %d, then the tip %d (%v)", at, now, err)
			}
			at = now
		}
	})
	for _, name := range []string{"script_hash", "bits"} {
		ask(t, nil, "index", "add", name, "--config", file, "--db", db, "--source", source)
		var a struct{ Values []struct{ Value string } }
		s.get(t, "v1/bitcoin/values/"+name+"?limit=3").into(t, &a)
		if len(a.Values) == 0 {
			t.Errorf("%s has no values", name)
		}
	}
	ask(t, nil, "index", "drop", "script_hash", "--db", db)
	if r := s.get(t, "v1/bitcoin/values/script_hash"); r.status != http.StatusBadRequest {
		t.Errorf("a dropped index: %d %s", r.status, r.body)
	}
	s.reaches(t, "bitcoin", 10000)
	close(done)
	asking.Wait()
	s.stop(t)
	consistent(t, db)
}

// sync --serve answers requests during the sync, and ends like a sync without it.
func TestSyncServes(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + realBlocks(t)
	for _, follow := range []bool{false, true} {
		db := filepath.Join(t.TempDir(), "db")
		args := []string{"sync", "--json", "--serve", "127.0.0.1:0", "--chain", "bitcoin", "--source", source, "--db", db}
		if follow {
			args = append(args, "--follow")
		}
		cmd, stdout, _ := process(t, all, args...)
		cmd.Env = append(cmd.Env, slowSource+"=5ms")
		out, in := io.Pipe()
		cmd.Stderr = in
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		s := &serverProcess{cmd: cmd, client: &http.Client{Timeout: patience}}
		url := make(chan string, 1)
		go func() {
			all, sent := "", false
			for b := make([]byte, 4096); ; {
				n, err := out.Read(b)
				if all += string(b[:n]); !sent && strings.Contains(all, "http://") && strings.Contains(all, "/  (") {
					_, rest, _ := strings.Cut(all, "bitcoin at ")
					at, _, _ := strings.Cut(rest, "  ")
					url <- at
					sent = true
				}
				if err != nil {
					return
				}
			}
		}()
		select {
		case s.URL = <-url:
		case <-time.After(patience):
			t.Fatal("the sync does not print its address")
		}
		if follow {
			s.reaches(t, "bitcoin", 100)
			s.reaches(t, "bitcoin", 14131)
			s.stop(t)
		} else if err := cmd.Wait(); err != nil { // it may have ended before the request
			t.Error(err)
		}
		in.Close()
		var a syncAnswer
		if err := json.Unmarshal(stdout.Bytes(), &a); err != nil || a.Tip == nil || a.Tip.Height != 14131 || a.Stopped != follow {
			t.Errorf("%v: %s", err, stdout)
		}
		consistent(t, db)
	}
}
