package electrum_test

import (
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"birthmark/internal/testseed"
)

// overWebSocket connects to the server over WebSocket, until the test ends.
func (w *world) overWebSocket() *websocket.Conn {
	w.t.Helper()
	h := httptest.NewServer(w.server.WebSocket())
	conn, _, err := websocket.Dial(w.t.Context(), "ws"+strings.TrimPrefix(h.URL, "http"), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		conn.CloseNow()
		w.server.Close()
		h.Close()
	})
	return conn
}

// Messages over WebSocket are the lines of TCP, without the end of line.
func TestWebSocket(t *testing.T) {
	opts := limits()
	opts.MaxRequest = 1 << 16
	w := newWorld(t, testseed.Rand(t), opts)
	w.miner.mine(600, 0)
	w.sync()
	conn := w.overWebSocket()
	conn.SetReadLimit(-1)
	ask := func(text string) string {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		kind, answer, err := conn.Read(t.Context())
		if err != nil || kind != websocket.MessageText {
			t.Fatal(kind, err)
		}
		return string(answer)
	}
	if got := ask(`{"id":1,"method":"server.ping"}`); got != `{"jsonrpc":"2.0","id":1,"result":null}` {
		t.Error(got)
	}
	// A long answer is sent in parts, and is one message.
	var parts []string
	for _, script := range w.miner.scripts {
		parts = append(parts, fmt.Sprintf(`{"id":1,"method":"blockchain.scripthash.get_history","params":[%q]}`, scriptHash(script)))
	}
	over := ask("[" + strings.Join(parts, ",") + "]")
	line := connect(t, w.addr)
	line.send("[%s]", strings.Join(parts, ","))
	if want := line.line(); over != want || len(want) < 50_000 {
		t.Errorf("%d bytes over WebSocket, %d over TCP", len(over), len(want))
	}
	ask(`{"id":1,"method":"blockchain.headers.subscribe"}`)
	w.miner.mine(1, 0)
	w.sync()
	if _, told, err := conn.Read(t.Context()); err != nil || !strings.HasPrefix(string(told), `{"jsonrpc":"2.0","method":"blockchain.headers.subscribe","params":[{"hex":"`) {
		t.Errorf("%s %v", told, err)
	}
	// The server reads all of it: a connection that is closed before that can lose the answer.
	if got := ask(strings.Repeat("x", opts.MaxRequest+1)); !strings.Contains(got, "electrum.max_request") {
		t.Error(got)
	}
}

// A client over WebSocket that sends requests and reads no answer is disconnected.
func TestSlowReaderOverWebSocket(t *testing.T) {
	var o observer
	opts := limits()
	opts.StallTimeout, opts.Observer = 100*time.Millisecond, &o
	w := newWorld(t, testseed.Rand(t), opts)
	w.miner.mine(30, 3)
	w.sync()
	conn := w.overWebSocket()
	go func() {
		request := []byte(`{"id":1,"method":"blockchain.block.headers","params":[0,2016]}`)
		for conn.Write(t.Context(), websocket.MessageText, request) == nil {
		}
	}()
	eventually(t, "a client that does not read stays connected", func() bool { return o.rejections("stalled") == 1 })
	eventually(t, "its connection stays open", func() bool { return o.connected.Load() == 0 })
}

// unread is a connection whose client reads nothing after the handshake. A write ends when the connection is closed, and
// reports success.
type unread struct {
	net.Conn
	greeted bool
	closed  chan struct{}
	close   func() error
}

func (u *unread) Write(p []byte) (int, error) {
	if !u.greeted {
		u.greeted = true
		return u.Conn.Write(p)
	}
	<-u.closed
	return len(p), nil
}

func (u *unread) Close() error { return u.close() }

// A client that does not receive a part in time is counted as stalled, also if its last write succeeded.
func TestStallsThatEndWithSuccess(t *testing.T) {
	var o observer
	opts := limits()
	opts.StallTimeout, opts.Observer = 50*time.Millisecond, &o
	w := newWorld(t, testseed.Rand(t), opts)
	h := httptest.NewUnstartedServer(w.server.WebSocket())
	h.Listener = wrapping{h.Listener, func(c net.Conn) net.Conn {
		closed := make(chan struct{})
		return &unread{Conn: c, closed: closed, close: sync.OnceValue(func() error {
			close(closed)
			return c.Close()
		})}
	}}
	h.Start()
	t.Cleanup(h.Close)
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(h.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"server.ping"}`)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a client that does not read is not counted", func() bool { return o.rejections("stalled") == 1 })
	eventually(t, "its connection stays open", func() bool { return o.connected.Load() == 0 })
}
