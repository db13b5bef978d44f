package electrum_test

import (
	"bufio"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/compat/electrum"
	"birthmark/internal/testseed"
)

// A panic in a request ends its connection alone, over each transport, with a method alone and in a batch: another
// connection stays, and the server, which allows fewer connections than end, accepts the next one.
func TestAPanicEndsItsConnectionOverEachTransport(t *testing.T) {
	observer, log := &panicking{}, new(lockedBuffer)
	o := electrum.Options{Limits: limits().Limits, Observer: observer, Log: slog.New(slog.NewTextHandler(log, nil))}
	o.Limits.MaxConnections = 6 // fewer than the connections that end in all, more than end at the same time
	w := newWorld(t, testseed.Rand(t), o)
	overTLS := httptest.NewUnstartedServer(nil)
	overTLS.StartTLS() // for its certificate
	t.Cleanup(overTLS.Close)
	inner := httptest.NewServer(w.server.WebSocket())
	t.Cleanup(func() { w.server.Close(); inner.Close() })
	addr := listen(t, w.server, func(c net.Conn) net.Conn { return tls.Server(c, overTLS.TLS) })
	lines := func(c net.Conn, err error) (ask func(string) (string, error), end func()) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		return func(text string) (string, error) {
			_ = c.SetDeadline(time.Now().Add(patience))
			if _, err := c.Write([]byte(text + "\n")); err != nil {
				return "", err
			}
			return in.ReadString('\n')
		}, func() { c.Close() }
	}
	for name, connect := range map[string]func() (ask func(string) (string, error), end func()){
		"TCP": func() (func(string) (string, error), func()) { return lines(net.Dial("tcp", w.addr)) },
		"TLS": func() (func(string) (string, error), func()) {
			c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true}) // the certificate is that of the test
			return lines(c, err)
		},
		"WebSocket": func() (func(string) (string, error), func()) {
			c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(inner.URL, "http"), nil)
			if err != nil {
				t.Fatal(err)
			}
			return func(text string) (string, error) {
				if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
					return "", err
				}
				_, answer, err := c.Read(t.Context())
				return string(answer), err
			}, func() { _ = c.CloseNow() }
		},
	} {
		const ping = `{"id":1,"method":"server.ping"}`
		// accepted returns a connection. The server may still count one that ended.
		accepted := func() (func(string) (string, error), func()) {
			for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
				ask, end := connect()
				if _, err := ask(ping); err == nil {
					return ask, end
				} else if end(); time.Now().After(until) {
					t.Fatalf("%s: no connection is accepted: %v", name, err)
				}
			}
		}
		other, leave := accepted()
		for i, request := range []string{ping, "[" + ping + "," + ping + "]", ping} {
			if _, err := other(ping); err != nil {
				t.Fatalf("%s: another connection before panic %d: %v", name, i, err)
			}
			ask, end := accepted()
			observer.arm("server.ping")
			if answer, err := ask(request); err == nil {
				t.Errorf("%s: the answer after panic %d is %s", name, i, answer)
			}
			end()
		}
		leave()
	}
	logged := func() int { return strings.Count(log.String(), "injected at server.ping") }
	for until := time.Now().Add(patience); logged() < 9 && time.Now().Before(until); {
		time.Sleep(time.Millisecond) // a connection ends before its panic is logged
	}
	if n := logged(); n != 9 {
		t.Errorf("%d panics are logged, expected 9: %s", n, log.String())
	}
}
