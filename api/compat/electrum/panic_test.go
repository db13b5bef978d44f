package electrum_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api/compat/electrum"
	"birthmark/internal/testseed"
)

// panicking is an observer that panics at one of its calls. The panic is in the code that made the call.
type panicking struct {
	mu   sync.Mutex
	what string
}

func (p *panicking) at(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.what == what {
		p.what = ""
		panic("injected at " + what)
	}
}

func (p *panicking) arm(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = what
}

func (p *panicking) Answered(method string, _ int, _ time.Duration) { p.at(method) }
func (p *panicking) Notified(method string)                         { p.at("notify " + method) }
func (p *panicking) Connected(change int) {
	if change > 0 {
		p.at("connect")
	}
}
func (p *panicking) Subscribed(int)            { p.at("subscribe") }
func (p *panicking) RejectedConnection(string) {}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A panic in a request is its error. One around a request, in a notification or at the begin of a connection ends that
// connection. Each is logged once with its stack, and does not affect other connections.
func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	observer, log := &panicking{}, new(lockedBuffer)
	w := newWorld(t, testseed.Rand(t), electrum.Options{
		Limits: electrum.Limits{}, Observer: observer, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	w.miner.mine(3, 3)
	w.sync()
	other := connect(t, w.addr)
	var result any
	other.call(&result, "server.ping") // it is connected before a connection panics
	script := scriptHash(w.miner.scripts[0])
	for n, c := range []struct{ at, method string }{
		{"connect", ""}, {"server.ping", "server.ping"}, {"blockchain.headers.subscribe", "blockchain.headers.subscribe"},
		{"subscribe", "blockchain.scripthash.subscribe"}, {"blockchain.scripthash.get_history", "blockchain.scripthash.get_history"},
		{"blockchain.estimatefee", "blockchain.estimatefee"}, {"unknown", "no.such.method"},
		{"notify blockchain.headers.subscribe", "blockchain.headers.subscribe"},
	} {
		if c.at == "connect" {
			observer.arm(c.at)
		}
		client := connect(t, w.addr)
		switch {
		case strings.HasPrefix(c.at, "notify"):
			if code := client.call(&result, c.method); code != 0 {
				t.Fatalf("%s: %d", c.method, code)
			}
			observer.arm(c.at)
			w.miner.mine(1, 1)
			w.sync()
		case c.method != "":
			observer.arm(c.at)
			params := `[]`
			if strings.Contains(c.method, "scripthash") {
				params = `["` + script + `"]`
			} else if strings.Contains(c.method, "fee") {
				params = `[2]`
			}
			client.send(`{"id":1,"method":%q,"params":%s}`, c.method, params)
		}
		_ = client.SetReadDeadline(time.Now().Add(patience))
		if c.at == "subscribe" { // within the request
			if line := client.line(); !strings.Contains(line, "-32603") {
				t.Errorf("%s: %s", c.at, line)
			}
			if code := client.call(&result, "server.ping"); code != 0 {
				t.Errorf("after a request that panicked: %d", code)
			}
			client.Close()
		}
		for {
			line, err := client.in.ReadString('\n')
			if err != nil {
				if strings.Contains(err.Error(), "timeout") {
					t.Errorf("%s: the connection does not end after %q", c.at, line)
				}
				break
			}
		}
		if code := other.call(&result, "server.ping"); code != 0 {
			t.Errorf("%s: another connection: %d", c.at, code)
		}
		text := log.String()
		for end := time.Now().Add(patience); strings.Count(text, "injected at ") <= n && time.Now().Before(end); text = log.String() {
			time.Sleep(time.Millisecond) // a connection ends before its panic is logged
		}
		if got := strings.Count(text, "injected at "); got != n+1 || !strings.Contains(text, "injected at "+c.at) || strings.Count(text, "panic_test.go") < n+1 {
			t.Errorf("%s: %d panics are logged, expected %d: %s", c.at, got, n+1, text)
		}
	}
}
