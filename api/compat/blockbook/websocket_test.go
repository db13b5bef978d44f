package blockbook_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/coder/websocket"

	"birthmark/api/compat/blockbook"
	"birthmark/api/ratelimit"
	"birthmark/core/meter"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// A panic ends its request alone: the client gets an error, and the connection stays. So it is with REST.
func TestAPanicEndsARequestAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 3, 2, false)
	s := w.limited(t, nil)
	c := dial(t, s)
	w.store.Panics(true)
	// A read in the background can take the failure of a request, which then succeeds.
	failed := func(what string, ask func() string) {
		t.Helper()
		for range 100 {
			w.store.FailAt(1)
			if strings.Contains(ask(), "nternal error") {
				return
			}
		}
		t.Errorf("%s: no request failed", what)
	}
	for range 2 {
		failed("WebSocket", func() string {
			_, answer := c.call("getBlock", object{"id": "2"})
			return answer
		})
		failed("REST", func() string {
			a, err := s.Client().Get(s.URL + prefix + "/api/v2/block/2")
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			body, err := io.ReadAll(a.Body)
			if err != nil {
				t.Fatal(err)
			}
			if (a.StatusCode == http.StatusInternalServerError) != strings.Contains(string(body), "nternal error") {
				t.Errorf("REST: %d %s", a.StatusCode, body)
			}
			return string(body)
		})
		w.store.FailAt(0)
		if _, block := c.call("getBlock", object{"id": "2"}); !strings.Contains(block, `"height":2`) {
			t.Errorf("after a panic: %s", block)
		}
	}
}

// Every method returns the same answer as REST.
func TestMethodsAnswerAsTheNaiveModel(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 40, 5, false)
	w.arrive(t, 15)
	n := w.naive()
	c := dial(t, w.limited(t, nil))
	tip := n.blocks[n.tip()].BlockHash().String()
	c.expect("getInfo", object{}, object{
		"name": "Regtest", "shortcut": "rBTC", "network": "rBTC", "decimals": 8, "version": "v1.2.3", "bestHeight": n.tip(), "bestHash": tip,
		"block0Hash": n.blocks[0].BlockHash().String(), "testnet": true,
		"backend": object{"version": "280000", "subversion": "/Satoshi:28.0.0/"},
	})
	c.expect("ping", nil, object{})
	c.expect("getBlockHash", object{"height": n.tip()}, object{"hash": tip})
	c.fails("getBlockHash", object{"height": n.tip() + 1}, "Block not found")
	c.fails("getBlockHash", object{"height": -1}, "Block not found")
	c.fails("getBlockHash", object{"height": "x"}, "getBlockHash: invalid params: json: cannot unmarshal string into Go struct field .height of type int64")
	c.expect("getBlock", object{"id": tip}, n.block(n.tip(), 1, 1000))
	c.expect("getBlock", object{"id": fmt.Sprint(n.tip()), "page": 2, "pageSize": 2}, n.block(n.tip(), 2, 2))
	for _, q := range w.questions(t, n) {
		q.details, q.tokens, q.pageSize = "txs", "derived", 25
		c.expect("getAccountInfo", object{"descriptor": q.name, "details": "txs"}, n.info(&q))
		q.details, q.tokens, q.page, q.pageSize = "txids", "used", 2, 3
		c.expect("getAccountInfo", object{"descriptor": q.name, "details": "txids", "tokens": "used", "page": 2, "pageSize": 3}, n.info(&q))
		q.details, q.tokens = "basic", "derived"
		c.expect("getAccountInfo", object{"descriptor": q.name}, n.info(&q))
		c.expect("getBalanceHistory", object{"descriptor": q.name, "groupBy": 7200}, n.balances(q.scripts(), 0, 0, 7200))
		_, utxos := c.call("getAccountUtxo", object{"descriptor": q.name})
		if _, rest := w.ask(t, q.path("utxo"), ""); rest != utxos {
			t.Errorf("unspent outputs of %s: %s by WebSocket, %s by REST", q.name, utxos, rest)
		}
	}
	for _, p := range []place{n.all[len(n.all)-1], n.all[w.rng.IntN(len(n.all))]} {
		id := p.tx.TxHash().String()
		c.expect("getTransaction", object{"txid": id}, n.tx(p, false, false, nil))
		_, specific := c.call("getTransactionSpecific", object{"txid": id})
		if _, rest := w.ask(t, "/api/v2/tx-specific/"+id, ""); rest != specific {
			t.Errorf("tx-specific: %s by WebSocket, %s by REST", specific, rest)
		}
	}
	unknown := strings.Repeat("00", 32)
	c.fails("getTransaction", object{"txid": unknown}, "Transaction '"+unknown+"' not found")
	w.node.fees = map[int]float64{1: 20_000, 6: 10_000.5}
	c.expect("estimateFee", object{"blocks": []int{1, 6}}, []object{{"feePerUnit": "20000"}, {"feePerUnit": "10001"}})
	c.expect("estimateFee", object{"blocks": []int{1}, "specific": object{"conservative": false, "txsize": 141}},
		[]object{{"feePerUnit": "10000", "feePerTx": "1410"}})
	c.fails("estimateFee", object{"blocks": []int{2}}, "the node has no fee estimate for 2 blocks")
	c.fails("estimateFee", object{"blocks": make([]int, 33)}, "blocks max 32")
	tx := w.spendAny(t)
	c.expect("sendTransaction", object{"hex": hex.EncodeToString(serialize(tx))}, object{"result": tx.TxHash().String()})
	c.fails("sendTransaction", object{"hex": "00"}, "-25: bad-txns-inputs-missingorspent")
	c.fails("getCurrentFiatRates", object{"currencies": []string{"usd"}}, "not supported: this server has no fiat rates, tokens or block filters")
	c.fails("getEverything", nil, `unknown method "getEverything"`)
}

func TestSubscriptions(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 20, 4, false)
	s := w.limited(t, nil)
	all, blocks, other := dial(t, s), dial(t, s), dial(t, s)
	mine := w.scripts[w.rng.IntN(8)]
	foreign := w.scripts[8+w.rng.IntN(8)]
	w.payee = []byte{0x51}
	yes, no := object{"subscribed": true}, object{"subscribed": false}
	ofBlocks := blocks.expect("subscribeNewBlock", nil, yes)
	ofMine := all.expect("subscribeAddresses", object{"addresses": []string{address(mine)}, "newBlockTxs": true}, yes)
	other.expect("subscribeAddresses", object{"addresses": []string{address(foreign)}}, yes)

	pay := func(script []byte) *wire.MsgTx {
		tx := w.spendAny(t)
		for i := range tx.TxOut {
			tx.TxOut[i].PkScript = []byte{0x51}
		}
		tx.TxOut[0].PkScript = script
		for i := range tx.TxIn { // only outputs outside of the account
			if o := w.naive().prevout(tx.TxIn[i]); address(o.PkScript) == address(mine) || address(o.PkScript) == address(foreign) {
				return nil
			}
		}
		w.node.set(model.Point{}, append(w.node.txs(), tx))
		return tx
	}
	arrived := func(script []byte) *wire.MsgTx {
		for {
			if tx := pay(script); tx != nil {
				w.settle(t)
				return tx
			}
		}
	}
	expectTx := func(c *client, id string, tx *wire.MsgTx) {
		t.Helper()
		n := w.naive()
		for _, p := range n.all {
			if p.tx.TxHash() == tx.TxHash() {
				m := c.notification()
				if m.ID != id {
					t.Fatalf("notification of %s, expected %s", m.ID, id)
				}
				sameJSON(t, "notification", string(m.Data), object{"address": address(mine), "tx": n.tx(p, false, false, nil)})
			}
		}
	}
	tx := arrived(mine)
	expectTx(all, ofMine, tx)
	arrived([]byte{0x51})
	other.silent()
	blocks.silent()

	w.mine(t, 1, 0, true)
	expectTx(all, ofMine, tx) // confirmed
	m := blocks.notification()
	n := w.naive()
	if m.ID != ofBlocks {
		t.Errorf("a block for subscription %s, expected %s", m.ID, ofBlocks)
	}
	sameJSON(t, "block", string(m.Data), object{"height": n.tip(), "hash": n.blocks[n.tip()].BlockHash().String()})
	all.silent()
	other.silent()
	expectTx(all, ofMine, arrived(mine))
	blocks.silent() // the tip is the same

	all.expect("unsubscribeAddresses", nil, no)
	blocks.expect("unsubscribeNewBlock", nil, no)
	arrived(mine)
	w.mine(t, 1, 0, true)
	all.silent()
	blocks.silent()
	other.fails("subscribeAddresses", object{"addresses": []string{"x"}}, `Invalid address "x", `+invalid(t, w, "x"))
	other.fails("subscribeAddresses", object{"addresses": make([]string, 10_001)}, "addresses max 10000")
}

// invalid returns the error of an address.
func invalid(t *testing.T, w *world, address string) string {
	t.Helper()
	_, body := w.ask(t, "/api/v2/address/"+address, "")
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(body, `{"error":"Invalid address, `), `"}`), `\"`, `"`)
}

// Clients that send garbage or too much are disconnected.
func TestGarbageEndsTheConnection(t *testing.T) {
	w := newWorld(t, nil)
	s := w.limited(t, nil)
	for _, text := range []string{"", "x", "[]", `{"id":"1","method":5}`, `"getInfo"`} {
		c := dial(t, s)
		c.send(text)
		c.ended(websocket.StatusUnsupportedData)
	}
	c := dial(t, s)
	if err := c.socket.Write(t.Context(), websocket.MessageBinary, []byte(`{"id":"1","method":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	c.ended(websocket.StatusUnsupportedData)

	c = dial(t, s)
	c.expect("ping", object{"padding": strings.Repeat("x", 1<<20-100)}, object{})
	c.send(`{"id":"1","method":"ping","params":"` + strings.Repeat("x", 1<<20) + `"}`)
	c.ended(websocket.StatusMessageTooBig)

	c = dial(t, s)
	c.send(`{"method":"ping"}`) // without an id
	if m, err := c.read(); err != nil || string(m.Data) != "{}" {
		t.Errorf("%+v %v", m, err)
	}
	if r, err := http.Get(s.URL + prefix + "/websocket"); err != nil || r.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a plain request: %v %v", r, err)
	}
}

// If a client reads nothing, the server stops reading its requests when the answers fill the connection.
func TestSlowReaders(t *testing.T) {
	testrun.Slow(t)
	var connected, left atomic.Int64
	w := newWorld(t, func(o *blockbook.Options) {
		o.Connected = func() func() { connected.Add(1); return func() { left.Add(1) } }
	})
	w.mine(t, 30, 6, false)
	s := w.limited(t, nil)
	slow, fast := dial(t, s), dial(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	sent := 0
	for ctx.Err() == nil { // answers of 100 kB and more
		request := fmt.Sprintf(`{"id":"%d","method":"getBlock","params":{"id":"20"},"padding":"%s"}`, sent, strings.Repeat("x", 1000))
		if slow.socket.Write(ctx, websocket.MessageText, []byte(request)) == nil {
			sent++
		}
	}
	fast.expect("ping", nil, object{}) // others are answered
	slow.socket.CloseNow()
	for range 60_000 {
		if left.Load() == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if connected.Load() != 2 || left.Load() != 1 {
		t.Errorf("%d connected, %d left", connected.Load(), left.Load())
	}
}

// Messages count against the rate of the client.
func TestMessagesHaveTheRateOfTheClient(t *testing.T) {
	w := newWorld(t, nil)
	s := w.limited(t, func(o *ratelimit.Options) {
		o.Rate = ratelimit.Rate{PerSecond: 0.001, Burst: 5}
		o.Submit = 1
	})
	c := dial(t, s) // costs one
	for range 4 {
		c.expect("ping", nil, object{})
	}
	_, data := c.call("ping", nil)
	if !strings.Contains(data, "rate limit exceeded (0.001 requests/s, burst 5)") {
		t.Errorf("the sixth request: %s", data)
	}
	s = w.limited(t, func(o *ratelimit.Options) { o.Submit = 1 })
	c = dial(t, s)
	c.fails("sendTransaction", object{"hex": "00"}, "-25: bad-txns-inputs-missingorspent")
	if _, data := c.call("sendTransaction", object{"hex": "00"}); !strings.Contains(data, "submit_limit: 1 per minute") {
		t.Errorf("the second transaction: %s", data)
	}
}

// A client pays for the work of its notifications, and not for that of others.
func TestNotificationsHaveTheirCost(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 20, 4, false)
	var addresses []string
	for _, script := range w.scripts {
		if a := address(script); a != "" {
			addresses = append(addresses, a)
		}
	}
	log := &lockedLog{}
	s := w.limited(t, func(o *ratelimit.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	blocks, watching := dial(t, s), dial(t, s)
	blocks.expect("subscribeNewBlock", nil, object{"subscribed": true})
	watching.expect("subscribeAddresses", object{"addresses": addresses, "newBlockTxs": true}, object{"subscribed": true})
	w.mine(t, 3, 8, false)
	var points []int
	line := regexp.MustCompile(`msg=request .*/websocket .*points=(\d+)`)
	for i, c := range []*client{blocks, watching} {
		if _, err := c.read(); err != nil {
			t.Fatal(err)
		}
		c.socket.CloseNow()
		for end := time.Now().Add(patience); len(points) == i; time.Sleep(time.Millisecond) {
			if found := line.FindAllStringSubmatch(log.String(), -1); len(found) > i {
				n, err := strconv.Atoi(found[i][1])
				if err != nil {
					t.Fatal(err)
				}
				points = append(points, n)
			} else if time.Now().After(end) {
				t.Fatalf("the log is %s", log)
			}
		}
	}
	if points[0] > 0 || points[1] == 0 {
		t.Errorf("notifications of blocks cost %d points, expected 0, and those of addresses %d", points[0], points[1])
	}
}

// Connections are streams, which are limited, and end when the server ends.
func TestConnectionsAreLimitedAndEnd(t *testing.T) {
	done := make(chan struct{})
	w := newWorld(t, func(o *blockbook.Options) { o.Done = done })
	s := w.limited(t, func(o *ratelimit.Options) { o.Streams = 3 })
	var open []*client
	for range 3 {
		c := dial(t, s)
		c.expect("subscribeNewBlock", nil, object{"subscribed": true})
		open = append(open, c)
	}
	if _, r, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+prefix+"/websocket", nil); err == nil || r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the fourth connection: %v %v", r, err)
	}
	close(done)
	for _, c := range open {
		c.ended(websocket.StatusGoingAway)
	}
}

func TestOrigins(t *testing.T) {
	w := newWorld(t, func(o *blockbook.Options) { o.Origins = []string{"https://wallet.example"} })
	s := w.limited(t, nil)
	for origin, ok := range map[string]bool{
		"https://node.trezor.io": true, "https://suite.trezor.io": true, "https://wallet.example": true,
		"https://evil.example": false, "http://wallet.example": false,
	} {
		socket, _, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+prefix+"/websocket",
			&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
		if err == nil {
			socket.CloseNow()
		}
	}
}

// Many clients subscribe, send requests and disconnect at the same time, while the chain changes.
func TestManyClientsDuringChanges(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 10, 3, false)
	s := w.limited(t, nil)
	var addresses []string
	for _, script := range w.scripts[:30] {
		addresses = append(addresses, address(script))
	}
	ended := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				c := dial(t, s)
				c.expect("subscribeNewBlock", nil, object{"subscribed": true})
				c.expect("subscribeAddresses", object{"addresses": addresses}, object{"subscribed": true})
				c.call("getAccountInfo", object{"descriptor": accountKey, "details": "txs"})
				c.expect("unsubscribeAddresses", nil, object{"subscribed": false})
				c.socket.CloseNow()
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	for range 5 {
		w.arrive(t, 3)
		w.mine(t, 1, 3, true)
		w.fork(t, 1)
	}
	close(ended)
	clients.Wait()
}

// A panic in a request ends this request alone, whatever its method, and is logged once with its stack.
func TestAPanicEndsItsRequestAlone(t *testing.T) {
	log := new(lockedLog)
	w := newWorld(t, func(o *blockbook.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	w.mine(t, 3, 2, false)
	w.node.fees = map[int]float64{1: 20_000}
	c := dial(t, w.limited(t, func(o *ratelimit.Options) { o.Submit = 100 }))
	id := w.chain.Tip().Transactions[0].TxHash().String()
	params := object{
		"descriptor": accountKey, "txid": id, "id": "1", "height": 1, "hex": w.payment(), "blocks": []int{1},
		"addresses": []string{address(w.scripts[0])},
	}
	other := dial(t, w.limited(t, nil))
	_, methods := blockbook.Operations()
	panicked := 0
	for _, method := range methods {
		w.panics.Store(true)
		w.node.panics.Store(true)
		_, failed := c.call(method, params)
		w.panics.Store(false)
		w.node.panics.Store(false)
		other.expect("ping", nil, object{})
		_, again := c.call(method, params)
		if failed == again { // it neither reads the chain nor asks the node
			continue
		}
		panicked++
		sameJSON(t, method, failed, object{"error": object{"message": "Internal error"}})
		if strings.Contains(again, `"error":`) {
			t.Errorf("%s after the panic: %s", method, again)
		}
		// The sender of changes, which runs while there are subscriptions, panics at times too.
		if text := log.String(); strings.Count(text, "panic in a Blockbook request") != panicked || !strings.Contains(text, "_test.go") {
			t.Errorf("%s: the log is %s", method, text)
		}
	}
	if panicked != 12 {
		t.Errorf("%d of %d methods panicked", panicked, len(methods))
	}
}

// The same holds for REST.
func TestAPanicEndsItsRESTRequestAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 3, 2, false)
	s := w.limited(t, func(o *ratelimit.Options) { o.Log = slog.New(slog.DiscardHandler) })
	c := dial(t, s)
	status := func(path string) int {
		t.Helper()
		r, err := s.Client().Get(s.URL + prefix + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Fatal(err)
		}
		return r.StatusCode
	}
	id := w.chain.Tip().Transactions[0].TxHash().String()
	for _, path := range []string{
		"", "/block-index/", "/block/1", "/rawblock/1", "/tx/" + id, "/tx-specific/" + id, "/rawtx/" + id,
		"/address/" + address(w.scripts[0]), "/xpub/" + accountKey, "/utxo/" + accountKey, "/balancehistory/" + accountKey,
		"/feestats/1",
	} {
		for _, version := range []string{"/api", "/api/v1", "/api/v2"} {
			w.panics.Store(true)
			failed := status(version + path)
			w.panics.Store(false)
			if again := status(version + path); failed != http.StatusInternalServerError || again != http.StatusOK {
				t.Errorf("%s%s: %d, and %d after the panic", version, path, failed, again)
			}
		}
	}
	c.expect("ping", nil, object{})
}

// A panic while changes are sent delays them. Subscriptions stay.
func TestAPanicLeavesSubscriptions(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 20, 4, false)
	c := dial(t, w.limited(t, nil))
	var addresses []string
	for _, script := range w.scripts {
		if a := address(script); a != "" {
			addresses = append(addresses, a)
		}
	}
	c.expect("subscribeAddresses", object{"addresses": addresses, "newBlockTxs": true}, object{"subscribed": true})
	missing := map[string]bool{}
	expect := func(txs []*wire.MsgTx) {
		for _, tx := range txs {
			for _, out := range tx.TxOut {
				if a := address(out.PkScript); slices.Contains(addresses, a) {
					missing[a+" "+tx.TxHash().String()] = true
				}
			}
		}
	}
	w.panics.Store(true)
	expect(w.arrive(t, 5))
	w.panics.Store(false)
	expect(w.arrive(t, 5))
	for len(missing) > 0 {
		var n struct {
			Address string
			Tx      struct{ TxID string }
		}
		if err := json.Unmarshal(c.notification().Data, &n); err != nil {
			t.Fatal(err)
		}
		delete(missing, n.Address+" "+n.Tx.TxID)
	}
	c.expect("ping", nil, object{})
}

// A panic about one address keeps nothing from the subscribers of others.
func TestAPanicOfAnAddressLeavesTheOthers(t *testing.T) {
	log := new(lockedLog)
	w := newWorld(t, func(o *blockbook.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	w.mine(t, 3, 2, false)
	s := w.limited(t, nil)
	c, broken := dial(t, s), dial(t, s)
	scripts := slices.SortedFunc(slices.Values(w.scripts[:20]), bytes.Compare)
	scripts = slices.CompactFunc(scripts, bytes.Equal) // they are random
	var addresses []string
	for _, script := range scripts[1:] {
		addresses = append(addresses, address(script))
	}
	c.expect("subscribeAddresses", object{"addresses": addresses}, object{"subscribed": true})
	broken.expect("subscribeAddresses", object{"addresses": []string{address(scripts[0])}}, object{"subscribed": true})
	w.BreakSubscription(scripts[0])
	tx := w.spendAny(t)
	tx.TxOut = nil
	for _, script := range scripts {
		tx.AddTxOut(wire.NewTxOut(1, script))
	}
	w.node.set(model.Point{}, append(w.node.txs(), tx))
	notified := map[string]bool{}
	for range addresses {
		var n struct{ Address string }
		if err := json.Unmarshal(c.notification().Data, &n); err != nil {
			t.Fatal(err)
		}
		notified[n.Address] = true
	}
	if len(notified) != len(addresses) {
		t.Errorf("%d of %d addresses", len(notified), len(addresses))
	}
	w.settle(t)
	w.mine(t, 1, 0, true)
	c.silent()
	if text := log.String(); strings.Contains(text, "panic in the changes for Blockbook clients") {
		t.Errorf("the log is %s", text)
	}
}

// lockedLog is a log that several goroutines write.
type lockedLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A client that sends requests, or has subscribed, and does not read is disconnected. Its answers and notifications are no
// longer held then.
func TestSlowReaderOverWebSocket(t *testing.T) {
	defer blockbook.SetWriteTimeout(100 * time.Millisecond)()
	var open atomic.Int32
	w := newWorld(t, func(o *blockbook.Options) {
		o.Connected = func() func() { open.Add(1); return func() { open.Add(-1) } }
	})
	w.mine(t, 20, 10, false)
	memory := meter.NewBudget(64 << 20)
	c := dial(t, w.limited(t, func(o *ratelimit.Options) { o.Memory = memory }))
	c.call("subscribeNewBlock", object{})
	request := []byte(`{"id":"1","method":"getBlock","params":{"id":"10"}}`)
	for c.socket.Write(t.Context(), websocket.MessageText, request) == nil {
	}
	for end := time.Now().Add(patience); open.Load() > 0 || memory.Used() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are open, and %d bytes are held", open.Load(), memory.Used())
		}
	}
}
