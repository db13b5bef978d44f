package attack

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"birthmark/api/compat/script"
	"birthmark/bench/generate"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/internal/config"
	"birthmark/model"
)

// Server is the process that is attacked.
type Server struct {
	cmd      *exec.Cmd
	ended    chan error // of the process; nil: it was not started
	stopNode func()
	facts

	http, electrum, profiles int    // ports
	memory                   int64  // the setting, in bytes
	first                    int64  // resident memory when it was idle for the first time
	lines                    *lines // of its log; nil: it does not log requests
	outside                  string // address of this machine that is not a loopback address; empty: it has none
}

// facts are the values that requests name.
type facts struct {
	address, scriptHash  string            // the hot ones of Bitcoin
	quiet, quietHash     string            // another address of Bitcoin
	cardano, asset, ergo string            // hot addresses, and a hot asset
	bitcoinTip, largest  string            // hashes of blocks: the last one, and one with many transactions
	names                map[string]string // of the served chains
	unconfirmed          int
}

// settings are the settings of the served chains. The node of Cardano does not run: requests that need it get an error.
const settings = `
memory: %s
listen: 0.0.0.0:%d
pprof: 127.0.0.1:%d
chains:
  - { chain: bitcoin, network: regtest, db: %s, raw: keep, mempool: 96MiB, source: %q, node: %q,
      serve: { electrum: "0.0.0.0:%d", esplora: /api, blockbook: /blockbook } }
  - { chain: cardano, network: %q, db: %s, raw: keep, node: "unix://%s", mempool: 8MiB,
      serve: { kupo: /kupo, blockfrost: /api/v0, ogmios: /ogmios, submit_api: /submit } }
  - { chain: ergo, network: testnet, db: %s, raw: keep,
      serve: { ergo_node: /node, ergo_explorer: /explorer, ergo_graphql: /graphql } }
`

// Start serves the databases of o.Dir. It returns when the server has all unconfirmed transactions.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	m, err := o.made()
	if err != nil {
		return nil, err
	}
	raiseDescriptors()
	c := makeBitcoin(o.Txs, o.Unconfirmed)
	s := &Server{facts: facts{
		cardano: m.Address, asset: m.Asset, unconfirmed: len(c.pool), bitcoinTip: c.Tip().BlockHash().String(),
		largest: c.Blocks()[2].BlockHash().String(), names: map[string]string{},
	}, outside: outsideAddress()}
	if err := s.aboutBitcoin(); err != nil {
		return nil, err
	}
	at, stop, err := serveNode(c)
	if err != nil {
		return nil, err
	}
	s.stopNode = stop
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	for _, port := range []*int{&s.http, &s.electrum, &s.profiles} {
		if *port, err = freePort(); err != nil {
			return nil, err
		}
	}
	memory := cmp.Or(o.Memory, "512MiB")
	size, err := config.ParseMemory(memory)
	if err != nil {
		return nil, err
	}
	s.memory = int64(size)
	text := fmt.Sprintf(settings, memory, s.http, s.profiles, o.database(bitcoin.Name),
		"file://"+o.blocks(bitcoin.Name), at, s.electrum,
		filepath.Join(o.blocks(cardano.Name), "genesis"), o.database(cardano.Name), filepath.Join(o.Dir, "no-node.socket"),
		o.database(ergo.Name))
	file := filepath.Join(o.Dir, "birthmark.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s.cmd = o.command(ctx, "serve", "--config", file)
	if o.Costs {
		s.lines = &lines{to: o.Log}
		s.cmd.Args, s.cmd.Stderr = append(s.cmd.Args, "--log-level", "debug"), s.lines
	}
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 10 * time.Second
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.cmd.Wait() }()
	return s, s.ready(ctx)
}

// Stop ends the process.
func (s *Server) Stop() error {
	if s.stopNode != nil {
		defer s.stopNode()
	}
	if s.ended == nil {
		return nil
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	hung := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer hung.Stop()
	return <-s.ended
}

func (s *Server) aboutBitcoin() error {
	chain, err := bitcoin.New(generate.Networks[bitcoin.Name])
	if err != nil {
		return err
	}
	texts := chain.(model.Scripter)
	s.address, s.quiet = texts.ScriptAddress(payee(0)), texts.ScriptAddress(payee(1))
	s.scriptHash, s.quietHash = hashOf(payee(0)), hashOf(payee(1))
	return nil
}

// hashOf returns the hash of a script as the Electrum protocol writes it.
func hashOf(pkScript []byte) string { return string(script.AppendHash(nil, sha256.Sum256(pkScript))) }

var errEnded = errors.New("the server ended")

// ready waits until the server is healthy and has the unconfirmed transactions.
func (s *Server) ready(ctx context.Context) error {
	for {
		err := s.learn(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case failed := <-s.ended:
			s.ended <- failed // for Stop
			return errors.Join(errEnded, failed, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// learn reads the names of the chains and hot values from the server.
func (s *Server) learn(ctx context.Context) error {
	var root struct {
		Chains []struct{ Chain, Name string }
	}
	if err := s.read(ctx, "/v1", &root); err != nil {
		return err
	}
	for _, c := range root.Chains {
		s.names[c.Chain] = c.Name
	}
	for _, chain := range []string{bitcoin.Name, cardano.Name, ergo.Name} {
		if s.names[chain] == "" {
			return fmt.Errorf("%s is not served yet", chain)
		}
	}
	var pool struct{ Count int }
	if err := s.read(ctx, "/v1/"+s.names[bitcoin.Name]+"/mempool", &pool); err != nil {
		return err
	}
	if pool.Count < s.unconfirmed {
		return fmt.Errorf("the server has %d unconfirmed transactions, expected %d", pool.Count, s.unconfirmed)
	}
	var richest struct {
		Values []struct {
			Value string
			Count int `json:"unspent_count"`
		}
	}
	if err := s.read(ctx, "/v1/"+s.names[ergo.Name]+"/richest/address?limit=1000", &richest); err != nil {
		return err
	}
	most := 0
	for _, v := range richest.Values {
		if v.Count > most && len(v.Value) < 200 {
			s.ergo, most = v.Value, v.Count
		}
	}
	return nil
}

// read reads a JSON answer.
func (s *Server) read(ctx context.Context, path string, to any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(path), nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("%s: %s %.200s", path, a.Status, text), err)
	}
	return json.Unmarshal(text, to)
}

func (s *Server) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", s.http, path) }

// profile reads a page of the profiles.
func (s *Server) profile(path string) (string, error) {
	a, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/%s", s.profiles, path))
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return string(text), err
}

// usage has the resources of the process.
type usage struct {
	rss, peak int64 // bytes; peak since resetPeak
	cpu       time.Duration
}

func (s *Server) usage() (u usage) {
	dir := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	if f, err := os.Open(dir + "status"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) < 2 {
				continue
			}
			kB, _ := strconv.ParseInt(fields[1], 10, 64)
			switch fields[0] {
			case "VmRSS:":
				u.rss = kB << 10
			case "VmHWM:":
				u.peak = kB << 10
			}
		}
	}
	if text, err := os.ReadFile(dir + "stat"); err == nil {
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 13 {
			user, _ := strconv.ParseInt(fields[11], 10, 64)
			system, _ := strconv.ParseInt(fields[12], 10, 64)
			u.cpu = time.Duration(user+system) * (time.Second / ticks)
		}
	}
	return u
}

// ticks per second of /proc/PID/stat.
const ticks = 100

// resetPeak begins a new measurement of the peak of the resident memory.
func (s *Server) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0)
}

// Shares of a processor.
const (
	idle = 0.1
	busy = 0.5 // of a server whose other clients ask
)

// settle waits until the server uses less than a share of a processor, for at most as long as an attack.
func (s *Server) settle(ctx context.Context, share float64) {
	for began := time.Now(); time.Since(began) < mostAttack; {
		before := s.usage().cpu
		select {
		case <-ctx.Done():
			return
		case <-time.After(500 * time.Millisecond):
		}
		if (s.usage().cpu - before).Seconds() < share/2 {
			return
		}
	}
}

// Swollen reports whether the server has more memory than after its start, although it is idle.
func (s *Server) Swollen(ctx context.Context) bool {
	for range 20 {
		s.settle(ctx, idle)
		if rss := s.usage().rss; s.first == 0 {
			s.first = rss
		}
		if float64(s.usage().rss) <= float64(s.first)*(1+tolerance) || ctx.Err() != nil {
			return false
		}
		time.Sleep(500 * time.Millisecond)
	}
	return true
}

// raiseDescriptors raises the limit of open descriptors, also of the processes that this one starts, to the maximum.
func raiseDescriptors() {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil {
		l.Cur = l.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
	}
}

// freePort returns a port of TCP that nothing listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// outsideAddress returns an IPv4 address of this machine that is not a loopback address: a client with it has limits.
func outsideAddress() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return ""
}
