package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/coder/websocket"

	"birthmark/bench"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// soakSettings are the settings of three chains with all protocols, tables and snapshots.
const soakSettings = `
memory: 384MiB
chains:
  - { chain: bitcoin, network: regtest, db: DIR/bitcoin, source: %q, mempool: 48MiB,
      serve: { electrum: "127.0.0.1:0", esplora: /api, blockbook: /blockbook },
      export: { dir: DIR/bitcoin-tables }, snapshots: { to: DIR/bitcoin-snapshots, every: 15s, keep: 2 } }
  - { chain: cardano, network: %q, db: DIR/cardano, source: %q, mempool: 8MiB,
      serve: { kupo: /kupo, blockfrost: /api/v0, ogmios: /ogmios, submit_api: /submit },
      export: { dir: DIR/cardano-tables }, snapshots: { to: DIR/cardano-snapshots, every: 15s, keep: 2 } }
  - { chain: ergo, network: testnet, db: DIR/ergo, source: %q, mempool: 8MiB,
      serve: { ergo_node: /node, ergo_explorer: /explorer, ergo_graphql: /graphql },
      export: { dir: DIR/ergo-tables }, snapshots: { to: DIR/ergo-snapshots, every: 15s, keep: 2 } }
`

// A server of three chains with all protocols answers while the chains grow and fork, unconfirmed transactions come and
// go, tables and snapshots are written, indexes are added and dropped, and clients connect, subscribe and leave. No
// request fails, and each database equals a new one. With BIRTHMARK_SOAK=100m memory, descriptors and goroutines of
// the last quarter are within 10% of those of the second.
func TestAServerOfThreeChainsUnderLoad(t *testing.T) {
	slow(t)
	t.Parallel()
	long := testrun.Soak(t)
	rng := testseed.Rand(t)
	dir := t.TempDir()
	chains := []*soakChain{soakBitcoin(t, rng), soakCardano(t, rng), soakErgo(t, rng)}
	sources := []any{chains[0].source, chains[1].network, chains[1].source, chains[2].source}
	for _, c := range chains {
		c.db = filepath.Join(dir, c.chain)
		ask(t, nil, append(c.syncTo(c.db), "--index", c.presets, "--raw")...)
	}
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, strings.ReplaceAll(fmt.Sprintf(soakSettings, sources...), "DIR", dir))
	cmd, _, log := process(t, -1, "serve", "--json", "--listen", "127.0.0.1:0", "--config", file)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") })
	s := &soakServer{serverProcess: startServing(t, cmd, log)}
	for _, c := range chains {
		s.reaches(t, c.name(), c.height())
	}

	duration := long
	if duration == 0 {
		duration = 8 * time.Second
	}
	began := time.Now()
	s.quarter = func() int { return int(min(3, 4*time.Since(began)/duration)) }
	ctx := t.Context()
	var all sync.WaitGroup
	// each repeats something until the end, at least once. It waits for pause, and share times as long as it took, so that
	// it takes at most a part of the time, however large the databases become.
	each := func(pause, share time.Duration, do func(rng *rand.Rand) error) {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		all.Go(func() {
			for first := true; (first || time.Since(began) < duration) && !t.Failed(); first = false {
				began := time.Now()
				if err := do(rng); err != nil {
					t.Error(err)
				}
				time.Sleep(max(pause, share*time.Since(began)))
			}
		})
	}
	for _, c := range chains {
		c.values = map[string][]string{}
		s.learn(t, c)
		changes := 0
		each(500*time.Millisecond, 0, func(rng *rand.Rand) error {
			c.change(rng, changes)
			changes++
			return nil
		})
		for protocol, paths := range c.paths {
			each(30*time.Millisecond, 0, func(rng *rand.Rand) error {
				return s.ask(ctx, c, protocol, paths[rng.IntN(len(paths))], rng)
			})
		}
		each(2*time.Second, 0, func(*rand.Rand) error { s.learn(t, c); return nil })
		each(3*time.Second, 20, func(*rand.Rand) error {
			add := []string{"index", "add", c.index, "--db", c.db, "--source", c.source}
			ask(t, nil, append(add, c.indexFlags...)...)
			ask(t, nil, "index", "drop", c.index, "--db", c.db)
			return nil
		})
	}
	each(100*time.Millisecond, 0, func(rng *rand.Rand) error { return s.electrum(ctx, rng) })
	each(100*time.Millisecond, 0, func(rng *rand.Rand) error { return s.socket(ctx, chains[0], rng) })
	each(100*time.Millisecond, 0, func(rng *rand.Rand) error { return s.events(ctx, chains[rng.IntN(len(chains))], rng) })
	each(min(5*time.Second, duration/8), 0, func(*rand.Rand) error { return s.sample() })
	all.Wait()

	s.report(t)
	for _, c := range chains {
		until(t, "the tip of "+c.chain, func() bool { _, hash := s.tip(t, c.name()); return hash == c.tip() })
		until(t, "tables of "+c.chain, func() bool { return exists(filepath.Join(dir, c.chain+"-tables", "manifest.json")) })
	}
	if long > 0 {
		s.flat(t)
	}
	s.stop(t)
	for _, c := range chains {
		consistent(t, c.db)
		fresh := filepath.Join(dir, "fresh")
		ask(t, nil, append(c.syncTo(fresh), "--index", c.presets, "--raw")...)
		sameRows(t, c.db, fresh)
		if err := os.RemoveAll(fresh); err != nil {
			t.Fatal(err)
		}
	}
}

// sameRows compares the dumps of databases without the line of their indexes, which also counts dropped ones.
func sameRows(t *testing.T, one, other string) {
	t.Helper()
	var dumps [2]*bufio.Scanner
	for i, db := range []string{one, other} {
		cmd, _, stderr := process(t, -1, "dump", "--db", db)
		cmd.Stdout = nil
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err != nil {
				t.Errorf("dump: %v: %s", err, stderr)
			}
		}()
		dumps[i] = bufio.NewScanner(out)
		dumps[i].Buffer(nil, 1<<28)
	}
	indexes := fmt.Sprintf("meta %x ", "indexes")
	for line := 1; ; line++ {
		more := dumps[0].Scan()
		also := dumps[1].Scan()
		a, b := dumps[0].Text(), dumps[1].Text()
		if also != more || a != b && !strings.HasPrefix(a, indexes) {
			t.Errorf("the dumps differ in line %d: %.200s, %.200s", line, a, b)
			return
		}
		if !more {
			return
		}
	}
}

// soakServer is a server under load.
type soakServer struct {
	*serverProcess
	quarter func() int // of the duration: 0 to 3

	mu       sync.Mutex
	times    [4]map[string][]time.Duration // of requests by protocol
	statuses map[string]map[int]int        // of answers by protocol
	held     [4][]map[string]float64       // metrics
}

// learn reads addresses, transactions and blocks that requests name.
func (s *soakServer) learn(t *testing.T, c *soakChain) {
	values := map[string][]string{}
	var listed query.ValuesAnswer
	r, err := s.try("v1/" + c.name() + "/values/address?limit=200")
	if err != nil || json.Unmarshal(r.body, &listed) != nil {
		t.Errorf("%v: %.200s", err, r.body)
	}
	for _, v := range listed.Values {
		values["{address}"] = append(values["{address}"], v.Value)
	}
	tip, _ := s.tip(t, c.name())
	for h := range 4 { // the last blocks can be orphaned at any time
		height := strconv.Itoa(tip - 5 - h)
		var b query.BlockAnswer
		r, err := s.try("v1/" + c.name() + "/block/" + height)
		if err != nil || json.Unmarshal(r.body, &b) != nil || b.Hash == "" {
			t.Errorf("block %s of %s: %v: %.200s", height, c.chain, err, r.body)
		}
		values["{height}"], values["{block}"] = append(values["{height}"], height), append(values["{block}"], b.Hash)
		values["{tx}"] = append(values["{tx}"], b.Txs...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, list := range values { // these blocks may have no transactions
		if len(list) > 0 {
			c.values[name] = list
		}
	}
}

var placeholder = regexp.MustCompile(`\{(address|tx|block|height)\}`)

// ask sends a request of a protocol, unless the chain has nothing yet that it names.
func (s *soakServer) ask(ctx context.Context, c *soakChain, protocol, path string, rng *rand.Rand) error {
	known := true
	c.mu.Lock()
	path = placeholder.ReplaceAllStringFunc(path, func(name string) string {
		of := c.values[name]
		if known = known && len(of) > 0; !known {
			return ""
		}
		return of[rng.IntN(len(of))]
	})
	c.mu.Unlock()
	if !known {
		return nil
	}
	switch protocol {
	case "/v1":
		path = "/v1/" + c.name() + "/" + path
	case "pages":
		path = "/" + c.name() + path
	}
	path, body, post := strings.Cut(path, " ")
	began, status := time.Now(), 0
	if protocol == "ogmios" {
		if err := s.converse(ctx, path, body); err != nil {
			return err
		}
		status = http.StatusOK
	} else {
		r, err := http.NewRequestWithContext(ctx, "GET", strings.TrimSuffix(s.URL, "/")+path, nil)
		if err != nil {
			return err
		}
		if post {
			r.Method, r.Body = "POST", io.NopCloser(strings.NewReader(body))
			r.ContentLength = int64(len(body))
			if strings.HasPrefix(body, "{") {
				r.Header.Set("Content-Type", "application/json")
			}
		}
		a, err := s.client.Do(r)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		// Kupo's health check has the status 202 behind its node.
		if status = a.StatusCode; status != http.StatusOK && status != http.StatusAccepted {
			return fmt.Errorf("%s: %d %.300s", path, status, text)
		}
	}
	s.took(c.chain+" "+protocol, time.Since(began), status)
	return nil
}

func (s *soakServer) took(protocol string, d time.Duration, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.quarter()
	if s.times[q] == nil {
		s.times[q] = map[string][]time.Duration{}
	}
	s.times[q][protocol] = append(s.times[q][protocol], d)
	if s.statuses == nil {
		s.statuses = map[string]map[int]int{}
	}
	if s.statuses[protocol] == nil {
		s.statuses[protocol] = map[int]int{}
	}
	s.statuses[protocol][status]++
}

// converse sends messages over a new WebSocket and reads an answer to each.
func (s *soakServer) converse(ctx context.Context, path string, messages ...string) error {
	c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(strings.TrimSuffix(s.URL, "/"), "http")+path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(-1)
	for _, m := range messages {
		if err := c.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			return err
		}
		if _, text, err := c.Read(ctx); err != nil || strings.Contains(string(text), `"error"`) {
			return fmt.Errorf("%s: %.200s: %v", m, text, err)
		}
	}
	return nil
}

// electrum is a visit of a wallet: it subscribes to an address, reads its history and leaves.
func (s *soakServer) electrum(ctx context.Context, rng *rand.Rand) error {
	began := time.Now()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.Electrum[0], "tcp://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 1<<20)
	hash := chainhash.HashB(soakScript(rng.IntN(soakScripts)))
	slices.Reverse(hash)
	of := fmt.Sprintf(`"params":["%x"]`, hash)
	for i, line := range []string{
		`"server.version","params":["soak","1.4"]`, `"blockchain.headers.subscribe","params":[]`,
		`"blockchain.scripthash.subscribe",` + of, `"blockchain.scripthash.get_history",` + of,
		`"blockchain.scripthash.get_balance",` + of,
	} {
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", i, line)
		for notified := true; notified; {
			answer, err := in.ReadString('\n')
			if err != nil || strings.Contains(answer, `"error"`) {
				return fmt.Errorf("%s: %.200s: %v", line, answer, err)
			}
			notified = strings.Contains(answer, `"method"`)
		}
	}
	s.took("bitcoin electrum", time.Since(began), http.StatusOK)
	return nil
}

// events is a visit of a client that follows the events of a chain from an earlier block for a moment.
func (s *soakServer) events(ctx context.Context, c *soakChain, rng *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(2000))*time.Millisecond)
	defer cancel()
	url := fmt.Sprintf("%sv1/%s/events?from=%d", s.URL, c.name(), max(0, c.height()-20))
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return err
	}
	a, err := s.client.Do(r)
	if err != nil {
		return nil // the time is over
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(a.Body)
		return fmt.Errorf("events of %s: %d %.200s", c.chain, a.StatusCode, text)
	}
	_, _ = io.Copy(io.Discard, a.Body)
	return nil
}

// socket is a visit of a wallet with a WebSocket.
func (s *soakServer) socket(ctx context.Context, c *soakChain, rng *rand.Rand) error {
	c.mu.Lock()
	address := c.values["{address}"][rng.IntN(len(c.values["{address}"]))]
	c.mu.Unlock()
	account := fmt.Sprintf(`{"id":"2","method":"getAccountInfo","params":{"descriptor":%q,"details":"txs"}}`, address)
	return s.converse(ctx, "/blockbook/websocket", `{"id":"1","method":"subscribeNewBlock","params":{}}`, account)
}

// sample reads the metrics of the process.
func (s *soakServer) sample() error {
	r, err := s.try("metrics")
	if err != nil {
		return err
	}
	held := map[string]float64{}
	for line := range strings.Lines(string(r.body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, ok := soakMetrics[name]; ok {
			if held[name], err = strconv.ParseFloat(value, 64); err != nil {
				return err
			}
		}
	}
	if len(held) < len(soakMetrics) {
		return fmt.Errorf("the metrics have only %v", held)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.quarter()
	s.held[q] = append(s.held[q], held)
	return nil
}

// soakMetrics are the metrics of the process that are sampled, with their units in the report.
var soakMetrics = map[string]float64{
	"process_resident_memory_bytes": 1 << 20, "go_memstats_heap_alloc_bytes": 1 << 20, "process_open_fds": 1, "go_goroutines": 1,
}

// middle returns the median of a metric in a quarter.
func (s *soakServer) middle(quarter int, metric string) float64 {
	var all []float64
	for _, h := range s.held[quarter] {
		all = append(all, h[metric])
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// report logs the requests and the metrics by quarter.
func (s *soakServer) report(t *testing.T) {
	for _, metric := range slices.Sorted(maps.Keys(soakMetrics)) {
		var text []string
		for q := range 4 {
			text = append(text, fmt.Sprintf("%.0f", s.middle(q, metric)/soakMetrics[metric]))
		}
		t.Logf("%s, by quarter: %s", metric, strings.Join(text, ", "))
	}
	for _, protocol := range slices.Sorted(maps.Keys(s.statuses)) {
		var text []string
		for q := range 4 {
			l := bench.Percentiles(s.times[q][protocol], time.Millisecond)
			text = append(text, fmt.Sprintf("%.2f %.1f", l.P50, l.P99))
		}
		t.Logf("%s: %v; ms of p50 and p99 by quarter: %s", protocol, s.statuses[protocol], strings.Join(text, ", "))
		if s.statuses[protocol][http.StatusOK] == 0 {
			t.Errorf("%s: no answer", protocol)
		}
	}
}

// flat fails the test if a metric is more than 10% higher in the last quarter than in the second.
func (s *soakServer) flat(t *testing.T) {
	for metric := range soakMetrics {
		if before, after := s.middle(1, metric), s.middle(3, metric); after > 1.1*before {
			t.Errorf("%s: %.0f in the second quarter, %.0f in the last one", metric, before, after)
		}
	}
}
