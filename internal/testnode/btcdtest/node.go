package btcdtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/rpcclient"

	"birthmark/model"
)

// patience is the timeout of anything that normally takes milliseconds.
const patience = 20 * time.Minute

// Node is a regtest btcd that runs for one test.
type Node struct {
	RPC     string            // host and port of JSON-RPC without TLS; does not change at a restart
	P2P     string            // host and port for peers; does not change at a restart
	DataDir string            // --datadir
	Client  *rpcclient.Client // over HTTP; retries for some seconds while the node is down

	args     []string
	log      string // path of the log
	rpc, p2p *relay
	process  *process   // nil while the node is stopped
	best     model.Hash // the tip when the process ended
	inner    [2]string  // actual addresses of the process: JSON-RPC, peers
}

// process is a btcd that was started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // set when it has ended
}

// Start starts a node with only the genesis block and returns when it answers. It is killed when the test ends; if the
// test failed, the end of its log is printed. args are additional flags of btcd.
func Start(t testing.TB, args ...string) *Node {
	t.Helper()
	dir := t.TempDir()
	n := &Node{DataDir: filepath.Join(dir, "data"), args: args, log: filepath.Join(dir, "btcd.log")}
	var err error
	for _, r := range []**relay{&n.rpc, &n.p2p} {
		if *r, err = newRelay(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*r).free)
	}
	n.RPC, n.P2P = n.rpc.addr, n.p2p.addr
	n.Client, err = rpcclient.New(&rpcclient.ConnConfig{Host: n.RPC, User: user, Pass: password, HTTPPostMode: true, DisableTLS: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.end(true)
		n.Client.Shutdown()
		if t.Failed() {
			t.Logf("the end of the log of btcd:\n%s", n.logTail())
		}
	})
	n.launch(t, nil)
	return n
}

// URL is the JSON-RPC URL with user and password.
func (n *Node) URL() string { return "http://" + user + ":" + password + "@" + n.RPC }

// Stop shuts the node down cleanly.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	n.rememberTip(t)
	if err := n.end(false); err != nil {
		t.Fatalf("btcd does not stop: %v", err)
	}
}

// Kill kills the node.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	n.rememberTip(t)
	if err := n.end(true); err != nil {
		t.Fatalf("btcd is not killed: %v", err)
	}
}

// Restart starts a stopped or killed node, or stops and starts a running one: at the same addresses and with its best
// chain, but without stale branches and invalidated blocks.
func (n *Node) Restart(t testing.TB) {
	t.Helper()
	if n.process != nil {
		n.Stop(t)
	}
	// btcd deletes its regtest database at every start, and otherwise loses minutes when killed, since it writes its
	// block index every five minutes. Therefore the blocks are read first, and submitted again before clients can
	// connect.
	chain, err := n.chainOnDisk(n.best)
	if err != nil {
		t.Fatal(err)
	}
	n.launch(t, chain)
}

func (n *Node) rememberTip(t testing.TB) {
	t.Helper()
	if n.process == nil {
		t.Fatal("btcd does not run")
	}
	n.best = n.Tip(t).Hash
}

// launch starts the process, submits the blocks and opens the addresses.
func (n *Node) launch(t testing.TB, chain [][]byte) {
	t.Helper()
	const tries = 3 // another process may take a port that was free
	for try := 1; ; try++ {
		err := n.run(t)
		if err == nil {
			break
		}
		n.end(true)
		if try == tries {
			t.Fatalf("btcd does not start: %v\n%s", err, n.logTail())
		}
	}
	for _, raw := range chain {
		if err := submit(t.Context(), n.inner[0], raw); err != nil {
			t.Fatalf("btcd refuses its own block: %v", err)
		}
	}
	for i, r := range []*relay{n.rpc, n.p2p} {
		if err := r.open(n.inner[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// run finds free ports and starts the process.
func (n *Node) run(t testing.TB) error {
	var held [len(n.inner)]net.Listener
	for i := range held {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		held[i], n.inner[i] = l, l.Addr().String()
	}
	for _, l := range held { // only after both are found, so that they differ
		if err := l.Close(); err != nil {
			return err
		}
	}
	miner, err := address.NewAddressWitnessPubKeyHash(bytes.Repeat([]byte{0x22}, 20), &chaincfg.RegressionNetParams)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(Binary(t), slices.Concat([]string{
		"--configfile=" + os.DevNull, "--regtest", "--datadir=" + n.DataDir, "--logdir=" + filepath.Join(filepath.Dir(n.log), "logs"),
		"--nodnsseed", "--listen=" + n.inner[1],
		"--rpclisten=" + n.inner[0], "--rpcuser=" + user, "--rpcpass=" + password, "--notls", "--rpcmaxclients=100",
		"--miningaddr=" + miner.EncodeAddress(),
		"--nobanning", // all peers of a test have one address
	}, n.args)...)
	cmd.Stdout, cmd.Stderr = log, log
	endWithUs(cmd)
	return n.started(t.Context(), cmd)
}

// started starts the process and waits until it answers.
func (n *Node) started(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	n.process = p
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := call(ctx, n.inner[0], "getblockcount", nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended: %w", errors.Join(p.err, err))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// end stops the process if it runs, and refuses connections from then on.
func (n *Node) end(kill bool) error {
	defer n.rpc.close()
	defer n.p2p.close()
	if n.process == nil {
		return nil
	}
	p := n.process
	n.process = nil
	signal := os.Interrupt
	if kill {
		signal = os.Kill
	} else {
		n.rpc.refuse()
		n.p2p.refuse()
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("it still ran after %v", patience)
	}
	if kill {
		return nil // killed by a signal, which Wait reports as an error
	}
	return p.err
}

// logTail returns the last lines of the node's log.
func (n *Node) logTail() []byte {
	const lines = 40
	text, err := os.ReadFile(n.log)
	if err != nil {
		return []byte(err.Error())
	}
	all := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines-1):], nil)
}
