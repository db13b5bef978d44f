package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api/health"
	"birthmark/chains/ergo/ergotest"
	"birthmark/chains/ergo/generate"
	"birthmark/core"
	"birthmark/model"
)

// seeded is a source of chance whose seed the test prints, and takes from the environment.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("BIRTHMARK_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("BIRTHMARK_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// forking is a node whose chain forks, and every chain it had.
type forking struct {
	*ergotest.Node
	chain *generate.Chain
	best  []ergotest.Block
	rng   *rand.Rand

	mu   sync.Mutex
	tips map[string][]ergotest.Block // the chain up to each block that was in one
}

func newForking(rng *rand.Rand) *forking {
	f := &forking{
		Node: ergotest.New(ergotest.Options{Network: "testnet"}), rng: rng,
		chain: generate.New(generate.Options{Seed: rng.Uint64(), TxsPerBlock: 3}), tips: map[string][]ergotest.Block{},
	}
	f.grow(10)
	return f
}

func hashOf(b ergotest.Block) string { return fmt.Sprintf("%x", b.ID[:]) }

// is remembers the chain that the node is about to have.
func (f *forking) is(best []ergotest.Block) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.best = best
	for i := range best {
		f.tips[hashOf(best[i])] = best[:i+1]
	}
}

// upTo is the chain that ends with the block of a hash; nil where the node never had it.
func (f *forking) upTo(hash string) []ergotest.Block {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tips[hash]
}

// longest is a height that is about that of the node's tip.
func (f *forking) longest() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.best) + 2
}

func (f *forking) grow(n int) {
	more := ergotest.Made(f.chain, n)
	f.is(append(f.best[:len(f.best):len(f.best)], more...))
	f.Extend(more...)
}

// fork adds blocks, and takes them back for one more.
func (f *forking) fork(depth int) {
	common, other := f.best, f.chain.Fork(f.rng.Uint64())
	f.grow(depth)
	f.chain = other
	more := ergotest.Made(f.chain, depth+1)
	f.is(append(common[:len(common):len(common)], more...))
	f.Switch(model.HeightPk(len(common)), more...)
}

// askAround asks a server about a chain until done is closed: whatever it answers is of one chain that the node had, up to the
// block that the answer names.
func (f *forking) askAround(t *testing.T, s *serverProcess, seed uint64, done <-chan struct{}) (asked int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	etag := ""
	for ; ; asked++ {
		select {
		case <-done:
			return asked
		default:
		}
		ref := []string{"tip", strconv.Itoa(1 + rng.IntN(f.longest()))}[rng.IntN(2)]
		r, err := s.try("v1/ergo/block/"+ref, "If-None-Match", etag)
		if err != nil {
			t.Error(err)
			return asked
		}
		tip := r.header.Get("X-Tip")
		chain := f.upTo(tip)
		if tip != "" && chain == nil || tip == "" && r.status != http.StatusNotFound {
			t.Errorf("%s: %d at the tip %q, which the node never had: %.200s", ref, r.status, tip, r.body)
			return asked
		}
		if height := r.header.Get("X-Tip-Height"); tip != "" && height != strconv.Itoa(len(chain)) {
			t.Errorf("%s: the tip %s is said to have the height %s, expected %d", ref, tip, height, len(chain))
		}
		var block core.BlockAnswer
		switch r.status {
		case http.StatusOK:
			if err := json.Unmarshal(r.body, &block); err != nil {
				t.Error(err)
				return asked
			}
			if int(block.Height) > len(chain) || block.Hash != hashOf(chain[block.Height-1]) || ref == "tip" && int(block.Height) != len(chain) {
				t.Errorf("%s: block %d %s is not of the chain up to %s", ref, block.Height, block.Hash, tip)
			}
			if ref == "tip" {
				etag = r.header.Get("ETag")
			}
		case http.StatusNotModified:
			if got := r.header.Get("ETag"); len(r.body) > 0 || got != etag {
				t.Errorf("%s: not modified, of %s, where %s is known: %s", ref, got, etag, r.body)
			}
		case http.StatusNotFound:
			if h, err := strconv.Atoi(ref); err == nil && h <= len(chain) {
				t.Errorf("%s is not found at the tip %s of height %d", ref, tip, len(chain))
			}
		default:
			t.Errorf("%s: %d %s", ref, r.status, r.body)
		}
	}
}

// Whatever is asked while the chain grows and forks, each answer is of one tip, names it, and it was one.
func TestEveryAnswerIsOfOneTipWhileTheChainForks(t *testing.T) {
	rng := seeded(t)
	f := newForking(rng)
	db := filepath.Join(t.TempDir(), "db")
	s := startServer(t, "--chain", "ergo", "--network", "testnet", "--source", f.Start(t), "--db", db)
	done := make(chan struct{})
	var asking sync.WaitGroup
	var asked atomic.Int64
	for range 4 {
		seed := rng.Uint64()
		asking.Go(func() { asked.Add(int64(f.askAround(t, s, seed, done))) })
	}
	for range 25 {
		if rng.IntN(2) == 0 {
			f.grow(1 + rng.IntN(4))
		} else {
			f.fork(1 + rng.IntN(5))
		}
		if rng.IntN(3) > 0 {
			until(t, "the node's tip", func() bool { _, hash := s.tip(t, "ergo"); return hash == hashOf(f.best[len(f.best)-1]) })
		}
	}
	until(t, "the node's last tip", func() bool { _, hash := s.tip(t, "ergo"); return hash == hashOf(f.best[len(f.best)-1]) })
	until(t, "the server to be ready", func() bool { return s.get(t, "readyz").status == http.StatusOK })
	close(done)
	asking.Wait()
	if asked.Load() == 0 {
		t.Error("nothing was asked")
	}
	s.stop(t)
	check(t, db)
	fresh := filepath.Join(t.TempDir(), "fresh")
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", ergoFile(t, f.best...), "--db", fresh)
	same(t, db, digestOf(t, fresh))
}

// A server that is killed while it syncs and answers leaves a database that is whole, and the next one goes on.
func TestServerIsKilledAndGoesOn(t *testing.T) {
	source := "file://" + realBlocks(t)
	db := filepath.Join(t.TempDir(), "db")
	args := []string{"--chain", "bitcoin", "--source", source, "--db", db, "--memory", "128MiB"}
	height := -1
	for range 3 {
		s := slowly(t, 20*time.Millisecond, args...)
		if h, _ := s.tip(t, "bitcoin"); h < height {
			t.Errorf("block %d is gone, the tip is %d", height, h)
		}
		s.reaches(t, "bitcoin", height+500)
		var far health.Answer
		r := s.get(t, "readyz")
		if err := json.Unmarshal(r.body, &far); err != nil || r.status != http.StatusServiceUnavailable || far.OK || far.Chains[0].Target == nil || *far.Chains[0].Target != 14131 {
			t.Errorf("far from the tip: %d %s (%v)", r.status, r.body, err)
		}
		height, _ = s.tip(t, "bitcoin")
		s.kill()
		check(t, db)
	}
	s := startServer(t, args...)
	s.reaches(t, "bitcoin", 14131)
	s.stop(t)
	fresh := filepath.Join(t.TempDir(), "fresh")
	syncTo(t, fresh, source)
	same(t, db, digestOf(t, fresh))
}

// SIGTERM ends a server with clients, whatever they are at, and their answers come whole.
func TestServerStopsWithClients(t *testing.T) {
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
			t.Errorf("a follower was told %.300q: %v", told, err)
		}
	})
	for range 4 {
		clients.Go(func() {
			for {
				r, err := s.try("v1/bitcoin/block/100")
				if err != nil {
					select {
					case <-stopping: // nobody listens any more
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
	check(t, db)
}

// A server that only reads sees what another process writes, takes back and writes again; when that one is gone, it stays.
func TestServerReadsWhatAnotherProcessSyncs(t *testing.T) {
	rng := seeded(t)
	f := newForking(rng)
	db := filepath.Join(t.TempDir(), "db")
	source := f.Start(t)
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", source, "--db", db)
	cmd, _, stderr := process(t, all, "sync", "--follow", "--source", source, "--db", db)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if _ = cmd.Wait(); t.Failed() {
			t.Logf("the sync says: %s", stderr)
		}
	})
	s := startServer(t, "--read-only", "--db", db, "--source", source) // which is left alone
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() { f.askAround(t, s, rng.Uint64(), done) })
	for i := range 4 {
		if i%2 == 0 {
			f.grow(2)
		} else {
			f.fork(1 + rng.IntN(3))
		}
		until(t, "what the sync has written", func() bool { _, hash := s.tip(t, "ergo"); return hash == hashOf(f.best[len(f.best)-1]) })
	}
	close(done)
	asking.Wait()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	ask(t, nil, "rollback", "--db", db, "--to-height", "3")
	until(t, "the rollback", func() bool { h, _ := s.tip(t, "ergo"); return h == 3 })
	s.stop(t)
}

// flaky is a node that can be down.
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

// Several chains are served by one process, and what one's source fails for is no matter to the others.
func TestChainsAreServedTogether(t *testing.T) {
	f := newForking(seeded(t))
	node := &flaky{Handler: f}
	at := httptest.NewServer(node)
	defer at.Close()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	write(t, bad, "this is no block\n")
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
		t.Errorf("served are %s", got)
	}
	s.reaches(t, "bitcoin", 14131)
	for _, name := range s.Chains[1:] {
		if h, _ := s.tip(t, name); h >= 0 {
			t.Errorf("%s has block %d of nowhere", name, h)
		}
		if r := s.get(t, "v1/"+name+"/block/tip"); r.status != http.StatusNotFound {
			t.Errorf("the tip of %s: %d %s", name, r.status, r.body)
		}
	}
	until(t, "the page to say why", func() bool { return strings.Contains(string(s.get(t, "bitcoin-testnet4").body), "127.0.0.1:1 is unreachable") })
	node.down.Store(false)
	s.reaches(t, "ergo-testnet", 10)
	node.down.Store(true)
	f.grow(5)
	if h, _ := s.tip(t, "ergo-testnet"); h != 10 {
		t.Errorf("block %d came from a node that is down", h)
	}
	node.down.Store(false)
	s.reaches(t, "ergo-testnet", 15)
	s.stop(t)
	if log := s.stderr.String(); !strings.Contains(log, "this is no block") && !strings.Contains(log, "bad.jsonl") || !strings.Contains(log, "chain=ergo network=mainnet") {
		t.Errorf("the log does not tell of the bad source: %s", log)
	}
	for _, name := range []string{"bitcoin", "ergo"} {
		check(t, filepath.Join(dir, name))
	}
}

// Indexes are added and dropped while the chain is served, one of one's own too, for which the database is opened anew.
func TestIndexIsAddedBesideServe(t *testing.T) {
	source := "file://" + realBlocks(t)
	dir := t.TempDir()
	db, file := filepath.Join(dir, "db"), filepath.Join(dir, "birthmark.yaml")
	write(t, file, ownSettings)
	syncTo(t, db, source, "--to-height", "9000")
	s := slowly(t, 10*time.Millisecond, "--source", source, "--db", db)
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for at := 0; ; {
			select {
			case <-done:
				return
			default:
			}
			r, err := s.try("v1/bitcoin/find/address/" + satoshi)
			if err != nil || r.status != http.StatusOK {
				t.Errorf("%d %s: %v", r.status, r.body, err)
				return
			}
			now, err := strconv.Atoi(r.header.Get("X-Tip-Height"))
			if err != nil || now < at {
				t.Errorf("after the tip %d came %d (%v)", at, now, err)
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
		t.Errorf("an index that is gone: %d %s", r.status, r.body)
	}
	s.reaches(t, "bitcoin", 10000)
	close(done)
	asking.Wait()
	s.stop(t)
	check(t, db)
}

// A sync that serves answers while it syncs, and ends as it does without.
func TestSyncServesMeanwhile(t *testing.T) {
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
			t.Fatal("the sync does not say where it answers")
		}
		s.reaches(t, "bitcoin", 100)
		if follow {
			s.reaches(t, "bitcoin", 14131)
			s.stop(t)
		} else if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		in.Close()
		var a syncAnswer
		if err := json.Unmarshal(stdout.Bytes(), &a); err != nil || a.Tip == nil || a.Tip.Height != 14131 || a.Stopped != follow {
			t.Errorf("%v: %s", err, stdout)
		}
		check(t, db)
	}
}

// What cannot be served is said before anything is, and leaves nothing behind.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	db, none := filepath.Join(dir, "db"), filepath.Join(dir, "none")
	source := "file://" + realBlocks(t)
	syncTo(t, db, source, "--to-height", "10")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "birthmark.yaml")
		write(t, path, text)
		return path
	}
	two := file("chains:\n- {chain: bitcoin, db: " + db + "}\n- {chain: bitcoin, db: " + db + "/}\n")
	networks := file("chains:\n- {chain: bitcoin, db: " + db + "}\n- {chain: bitcoin, source: '" + source + "', db: " + none + "}\n")
	for _, c := range []struct {
		status        int
		code, message string
		args          []string
	}{
		{exitUsage, "missing_flag", `^nothing to serve: expected --db DIR, or chains in the settings \(--config FILE\)$`, nil},
		{exitUsage, "missing_flag", `^missing --db`, []string{"--chain", "bitcoin"}},
		{exitRefused, "no_database", `holds no database: birthmark sync makes one$`, []string{"--db", none}},
		{exitRefused, "no_database", `holds no database`, []string{"--db", none, "--source", source, "--read-only"}},
		{exitRefused, "wrong_chain", `^the database holds bitcoin, not ergo$`, []string{"--db", db, "--chain", "ergo"}},
		{exitUsage, "bad_source", `^bitcoin cannot be read from ftp://`, []string{"--db", none, "--chain", "bitcoin", "--source", "ftp://x"}},
		{exitUsage, "bad_setting", `^two chains have the database ` + db, []string{"--config", two}},
		{exitUsage, "bad_setting", `^two databases of bitcoin mainnet: a server has one of each network$`, []string{"--config", networks}},
		{exitUsage, "bad_setting", `memory is too small for 2 chains`, []string{"--config", networks, "--memory", "100MiB"}},
		{exitRefused, "address_in_use", `^listen: another program listens at ` + taken.Addr().String(), []string{"--db", db, "--listen", taken.Addr().String()}},
		{exitUsage, "bad_value", `^listen: nonsense: .*expected host:port`, []string{"--db", db, "--listen", "nonsense"}},
		{exitUsage, "bad_setting", `^--tls-key: tls.key without tls.cert`, []string{"--db", db, "--tls-key", "k"}},
		{exitUsage, "bad_tls", `^tls: /nowhere/c, /nowhere/k: `, []string{"--db", db, "--listen", "127.0.0.1:0", "--tls-cert", "/nowhere/c", "--tls-key", "/nowhere/k"}},
		{exitUsage, "bad_keys", `^keys: open /nowhere/keys: no such file`, []string{"--db", db, "--listen", "127.0.0.1:0", "--api-keys-file", "/nowhere/keys"}},
		{exitUsage, "bad_value", `^pprof: .*expected an address of this one`, []string{"--db", db, "--listen", "127.0.0.1:0", "--pprof", "0.0.0.0:0"}},
		{exitUsage, "bad_setting", `^--cors: "example.org" is not an origin`, []string{"--db", db, "--cors", "example.org"}},
	} {
		wantFailure(t, c.status, c.code, c.message, append([]string{"serve"}, c.args...)...)
	}
	running := slowSync(t, 20*time.Millisecond, "--source", source, "--db", db)
	until(t, "the sync to write", func() bool { return tipHeight(t, db) > 10 })
	wantFailure(t, exitRefused, "locked", fmt.Sprintf(`in use by pid %d, birthmark sync, since`, running.Process.Pid), "serve", "--db", db, "--source", source, "--listen", "127.0.0.1:0")
	wantFailure(t, exitRefused, "address_in_use", "another program listens", "sync", "--serve", taken.Addr().String(), "--chain", "bitcoin", "--source", source, "--db", none)
	if left, err := os.Stat(none); err == nil {
		entries, _ := os.ReadDir(none)
		t.Errorf("%s was left behind, with %v", left.Name(), entries)
	}
}
