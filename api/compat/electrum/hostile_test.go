package electrum_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"birthmark/core/meter"
	"birthmark/internal/testseed"
)

// observer counts.
type observer struct {
	connected, subscribed, answered, notified atomic.Int64

	mu       sync.Mutex
	rejected map[string]int
}

func (o *observer) Answered(string, int, time.Duration) { o.answered.Add(1) }
func (o *observer) Notified(string)                     { o.notified.Add(1) }
func (o *observer) Connected(n int)                     { o.connected.Add(int64(n)) }
func (o *observer) Subscribed(n int)                    { o.subscribed.Add(int64(n)) }
func (o *observer) RejectedConnection(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rejected == nil {
		o.rejected = map[string]int{}
	}
	o.rejected[reason]++
}

func (o *observer) rejections(reason string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rejected[reason]
}

// remote is a connection of another machine.
type remote struct {
	net.Conn
	from net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.from }

// fromMachine makes all connections those of one other machine.
func fromMachine(last byte) func(net.Conn) net.Conn {
	from := &net.TCPAddr{IP: net.IPv4(203, 0, 113, last), Port: 5000}
	return func(c net.Conn) net.Conn { return remote{c, from} }
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func TestGarbageEndsTheConnection(t *testing.T) {
	var o observer
	opts := limits()
	opts.Observer = &o
	w := newWorld(t, testseed.Rand(t), opts)
	conn := connect(t, w.addr)
	for range 10 {
		conn.send("GET / HTTP/1.1")
		if got := conn.line(); !strings.Contains(got, `"code":-32700`) {
			t.Error(got)
		}
	}
	conn.ended()
	if n := o.rejections("malformed"); n != 1 {
		t.Errorf("%d rejections", n)
	}
	eventually(t, "the connection stays open", func() bool { return o.connected.Load() == 0 })
}

// Random bytes and mutated requests do not stop the server. Every connection receives an answer or is closed.
func TestRandomBytes(t *testing.T) {
	rng := testseed.Rand(t)
	w := newWorld(t, rng, limits())
	w.miner.mine(3, 3)
	w.sync()
	script := scriptHash(w.miner.scripts[0])
	valid := []string{
		`{"id":1,"method":"blockchain.scripthash.get_history","params":["` + script + `"]}`,
		`[{"id":1,"method":"server.ping"},{"id":2,"method":"blockchain.block.header","params":[1,2]}]`,
		`{"id":1,"method":"server.version","params":["x",["1.4","1.6"]]}`,
		`{"id":1,"method":"blockchain.transaction.get","params":{"tx_hash":"` + script + `","verbose":true}}`,
		`{"id":1,"method":"blockchain.outpoint.subscribe","params":["` + script + `",4294967295]}`,
	}
	for range 300 {
		conn := connect(t, w.addr)
		text := []byte(valid[rng.IntN(len(valid))])
		for range rng.IntN(6) {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
		conn.send("%s", text)
		_, _ = fmt.Fprintln(conn, `{"id":"last","method":"server.ping"}`) // the server may have closed the connection
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		for {
			line, err := conn.in.ReadString('\n')
			if err != nil {
				closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
				if !closed || !bytes.Contains(text, []byte("version")) { // no common version
					t.Fatalf("%q: %v", text, err)
				}
				break
			}
			if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) && !strings.HasPrefix(line, `[{"jsonrpc":"2.0"`) || strings.Contains(line, "internal error") {
				t.Fatalf("%q: %s", text, line)
			}
			if strings.Contains(line, `"id":"last","result":null`) {
				break
			}
		}
		conn.Close()
	}
}

func TestLongRequestsAndBatches(t *testing.T) {
	opts := limits()
	opts.MaxRequest, opts.MaxBatch = 1<<16, 3
	w := newWorld(t, testseed.Rand(t), opts)
	conn := connect(t, w.addr)
	conn.send(`[1,2,3,4]`)
	if got := conn.line(); !strings.Contains(got, `{"code":-32600,"message":"the batch has more than 3 requests (electrum.max_batch)"}`) {
		t.Error(got)
	}
	// The longest request is answered.
	request := `{"id":1,"method":"server.ping","x":"` + strings.Repeat("x", 1<<16)
	conn.send("%s", request[:1<<16-2]+`"}`)
	if got := conn.line(); !strings.Contains(got, `"result":null`) {
		t.Error(got)
	}
	go fmt.Fprint(conn, strings.Repeat("x", 1<<17))
	if got := conn.line(); !strings.Contains(got, `the request has more than 65536 bytes (electrum.max_request)`) {
		t.Error(got)
	}
	conn.ended()
}

func TestConnectionsOfAClient(t *testing.T) {
	opts := limits()
	opts.ClientConns, opts.MaxConnections = 2, 4
	w := newWorld(t, testseed.Rand(t), opts)
	addr := w.listen(fromMachine(1))
	ping := func(c *client) {
		t.Helper()
		c.send(`{"id":1,"method":"server.ping"}`)
		if got := c.line(); !strings.Contains(got, `"result":null`) {
			t.Error(got)
		}
	}
	var open []*client
	for range 2 {
		c := connect(t, addr)
		ping(c)
		open = append(open, c)
	}
	third := connect(t, addr)
	if got := third.line(); !strings.Contains(got, `"message":"your address has 2 connections, the limit (electrum.client_connections)"`) {
		t.Error(got)
	}
	third.ended()
	for range 2 { // clients on this machine have no limit of their own
		c := connect(t, w.addr)
		ping(c)
		open = append(open, c)
	}
	fifth := connect(t, w.addr)
	if got := fifth.line(); !strings.Contains(got, `"message":"the server has 4 connections, its limit (max_connections)"`) {
		t.Error(got)
	}
	open[0].Close()
	eventually(t, "a closed connection still counts", func() bool {
		c := connect(t, addr)
		defer c.Close()
		c.send(`{"id":1,"method":"server.ping"}`)
		return strings.Contains(c.line(), `"result":null`)
	})
}

func TestSubscriptionsOfAClient(t *testing.T) {
	var o observer
	opts := limits()
	opts.ClientSubs, opts.Observer = 5, &o
	rng := testseed.Rand(t)
	w := newWorld(t, rng, opts)
	addr := w.listen(fromMachine(2))
	a, b := connect(t, addr), connect(t, addr)
	random := func() string { return fmt.Sprintf("%064x", rng.Uint64()) }
	var status any
	for _, c := range []*client{a, a, a, b, b} {
		if code := c.call(&status, "blockchain.scripthash.subscribe", random()); code != 0 {
			t.Errorf("error %d", code)
		}
	}
	b.send(`{"id":1,"method":"blockchain.scripthash.subscribe","params":[%q]}`, random())
	if got := b.line(); !strings.Contains(got, `{"code":-101,"message":"your address has 5 subscriptions, the limit (electrum.client_subscriptions)"}`) {
		t.Error(got)
	}
	if n := o.subscribed.Load(); n != 5 {
		t.Errorf("%d subscriptions", n)
	}
	a.Close()
	eventually(t, "subscriptions of a closed connection still count", func() bool { return o.subscribed.Load() == 2 })
	if code := b.call(&status, "blockchain.scripthash.subscribe", random()); code != 0 {
		t.Errorf("error %d", code)
	}
}

func TestCostOfAClient(t *testing.T) {
	var o observer
	opts := limits()
	opts.SoftCost, opts.HardCost, opts.CostPerSecond, opts.Observer = 0, 50, 1e-6, &o
	w := newWorld(t, testseed.Rand(t), opts)
	conn := connect(t, w.listen(fromMachine(3)))
	go func() {
		for range 100_000 {
			if _, err := fmt.Fprintln(conn, `{"id":1,"method":"server.ping"}`); err != nil {
				return
			}
		}
	}()
	answers := 0
	for {
		line := conn.line()
		if strings.Contains(line, `"result":null`) {
			answers++
			continue
		}
		if !strings.Contains(line, `{"code":-101,"message":"excessive use: your address has reached cost 50 (electrum.hard_cost)`) {
			t.Error(line)
		}
		break
	}
	if answers < 400 || answers > 500 {
		t.Errorf("%d answers for a cost of 50", answers)
	}
	if n := o.rejections("cost_limit"); n != 1 {
		t.Errorf("%d rejections", n)
	}
}

// A batch is paid while it is answered: request by request, and by the rows that they read.
func TestCostWithinABatch(t *testing.T) {
	for method, reads := range map[string]bool{
		`"server.ping"`: false,
		`"blockchain.scripthash.get_balance","params":["` + strings.Repeat("00", 32) + `"]`: true,
	} {
		var o observer
		opts := limits()
		opts.SoftCost, opts.HardCost, opts.CostPerSecond, opts.Observer = 0, 50, 1e-6, &o
		opts.Memory = meter.NewBudget(1 << 20)
		w := newWorld(t, testseed.Rand(t), opts)
		conn := connect(t, w.listen(fromMachine(3)))
		one := `{"id":1,"method":` + method + `}`
		batch := "[" + strings.Repeat(one+",", opts.MaxBatch-1) + one + "]"
		conn.send("%s", batch)
		if line := conn.line(); !strings.Contains(line, "excessive use") {
			t.Errorf("%s: %.200s", method, line)
		}
		conn.ended()
		// A byte costs 0.0001, a request 0.1, and the rows that it reads at least 0.0016.
		most, n := int64((opts.HardCost-1e-4*float64(len(batch)))/0.1), o.answered.Load()
		if n > most || n < most/2 || reads && n == most {
			t.Errorf("%s: %d requests were answered, expected at most %d", method, n, most)
		}
		if n := opts.Memory.Used(); n != 0 {
			t.Errorf("%s: %d bytes are held", method, n)
		}
	}
}

// A client pays for its notifications, and for the statuses that are computed for them. Above the hard limit its
// connection ends; others are notified.
func TestCostOfNotifications(t *testing.T) {
	var o observer
	opts := limits()
	opts.SoftCost, opts.HardCost, opts.CostPerSecond, opts.Observer = 0, 8, 1e-6, &o
	opts.Memory = meter.NewBudget(1 << 20)
	w := newWorld(t, testseed.Rand(t), opts)
	w.miner.mine(3, 3)
	w.sync()
	payer := connect(t, w.listen(fromMachine(4)))
	var result any
	payer.call(&result, "blockchain.headers.subscribe")
	for _, script := range w.miner.scripts {
		payer.call(&result, "blockchain.scripthash.subscribe", scriptHash(script))
	}
	from := netip.MustParsePrefix("203.0.113.4/32")
	paid, before := w.server.Cost(from), w.miner.truth()
	w.miner.mine(1, 3)
	w.sync()
	after, bytes := w.miner.truth(), len(payer.line())+1 // the tip
	for _, script := range w.miner.scripts {
		if statusOf(before.account(script).history) != statusOf(after.account(script).history) {
			bytes += len(payer.line()) + 1
		}
	}
	// A byte costs 0.0001; the rows cost 0.04 or more.
	least := paid + 1e-4*float64(bytes-30) + 0.04
	eventually(t, "notifications cost too little", func() bool { return w.server.Cost(from) >= least })

	other := newStrict(t, w.addr, w.miner.scripts, w.miner.rng)
	for blocks := 0; o.rejections("cost_limit") == 0; blocks++ {
		if blocks == 1000 {
			t.Fatalf("a client with cost %v of %v is still notified", w.server.Cost(from), opts.HardCost)
		}
		told := o.notified.Load()
		w.miner.mine(1, 5)
		w.sync()
		eventually(t, "nobody is notified", func() bool { return o.notified.Load() > told || o.rejections("cost_limit") > 0 })
	}
	for line := ""; !strings.Contains(line, "excessive use"); {
		if line = payer.line(); !strings.Contains(line, "excessive use") && !strings.Contains(line, `"params":[`) {
			t.Fatalf("the connection ended with %s", line)
		}
	}
	payer.ended()
	if err := other.settled(w.miner.truth()); err != nil {
		t.Error(err)
	}
	other.Close()
	eventually(t, "a connection is still counted", func() bool { return o.connected.Load() == 0 })
	if n, used := o.rejections("cost_limit"), opts.Memory.Used(); n != 1 || used != 0 {
		t.Errorf("%d rejections, %d bytes are held", n, used)
	}
}

// Invalid arguments are refused before anything is read.
func TestInvalidArgumentsReadNothing(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), limits())
	w.miner.mine(2, 2)
	w.sync()
	conn := connect(t, w.addr)
	invalid := `{"id":1,"method":"blockchain.scripthash.get_history","params":[%q,"x"]}`
	for range 20 { // the changes of the chain are read, too
		w.store.FailAt(1)
		conn.send("["+invalid+`,{"id":2,"method":"server.ping"},{"id":3,"method":"nothing"}]`, scriptHash(w.miner.scripts[0]))
		if got := conn.line(); !strings.Contains(got, "x should be a non-negative integer") || !strings.Contains(got, `"id":2,"result":null`) {
			t.Error(got)
		}
	}
}

// A client that sends requests and reads no answer is disconnected, over TCP and TLS. The server buffers a bounded part of
// its answers.
func TestSlowReader(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: s.TLS.Certificates}
	s.Close()
	for _, over := range []func(net.Conn) net.Conn{nil, func(c net.Conn) net.Conn { return tls.Server(c, config) }} {
		slowReader(t, over)
	}
}

func slowReader(t *testing.T, over func(net.Conn) net.Conn) {
	t.Helper()
	var o observer
	opts := limits()
	opts.StallTimeout, opts.Observer = 100*time.Millisecond, &o
	w := newWorld(t, testseed.Rand(t), opts)
	w.miner.mine(30, 3)
	w.sync()
	var conn net.Conn = connect(t, w.listen(over))
	if over != nil {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	request := `{"id":1,"method":"blockchain.block.headers","params":[0,2016]}` + "\n"
	go func() {
		for {
			if _, err := fmt.Fprint(conn, request); err != nil {
				return
			}
		}
	}()
	eventually(t, "a client that does not read stays connected", func() bool { return o.rejections("stalled") == 1 })
	eventually(t, "its connection stays open", func() bool { return o.connected.Load() == 0 })
	other := connect(t, w.addr)
	other.send(`{"id":1,"method":"server.ping"}`)
	other.line()
}

// A client that sends a request byte by byte, or nothing, is disconnected.
func TestSlowWriters(t *testing.T) {
	opts := limits()
	opts.RequestTimeout, opts.IdleTimeout = 150*time.Millisecond, 300*time.Millisecond
	w := newWorld(t, testseed.Rand(t), opts)
	silent, slow, idle := connect(t, w.addr), connect(t, w.addr), connect(t, w.addr)
	_, _ = fmt.Fprintln(idle, `{"id":1,"method":"server.ping"}`) // too late if this test had to wait for a processor
	go func() {
		for range 10_000 {
			if _, err := fmt.Fprint(slow, " "); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	silent.ended()
	slow.ended()
	_ = idle.SetReadDeadline(time.Now().Add(patience))
	_, _ = idle.in.ReadString('\n') // its response
	idle.ended()
}

// Clients that subscribe, send requests and disconnect at random leave no goroutines and no subscriptions.
func TestClientsComeAndGo(t *testing.T) {
	var o observer
	opts := limits()
	opts.Observer = &o
	rng := testseed.Rand(t)
	w := newWorld(t, rng, opts)
	w.miner.mine(5, 3)
	w.sync()
	var all sync.WaitGroup
	for range 20 {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		all.Go(func() {
			for range 5 {
				c, err := net.Dial("tcp", w.addr)
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintln(c, `{"id":1,"method":"blockchain.headers.subscribe"}`)
				for range own.IntN(30) {
					s := scriptHash(w.miner.scripts[own.IntN(len(w.miner.scripts))])
					what := []string{"subscribe", "unsubscribe", "get_history"}[own.IntN(3)]
					fmt.Fprintf(c, `{"id":1,"method":"blockchain.scripthash.%s","params":[%q]}`+"\n", what, s)
				}
				time.Sleep(time.Duration(own.IntN(5)) * time.Millisecond)
				c.Close()
			}
		})
	}
	for range 10 {
		w.miner.mine(1, 4)
		w.sync()
	}
	all.Wait()
	eventually(t, "connections or subscriptions are left", func() bool { return o.connected.Load() == 0 && o.subscribed.Load() == 0 })
}
