package nodehttp

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// expect checks the code of an error and that it names the node, and never the secret.
func expect(t *testing.T, c *Client, err error, code string, temporary bool, says string) {
	t.Helper()
	kind, got := model.KindOf(err)
	switch {
	case err == nil:
		t.Errorf("no error, expected %s", code)
	case kind != model.BadSource || got != code || blocksource.IsTemporary(err) != temporary || !strings.Contains(err.Error(), says):
		t.Errorf("%s (temporary: %t): %v, expected %s (temporary: %t) that says %q", got, blocksource.IsTemporary(err), err, code, temporary, says)
	case !strings.Contains(err.Error(), c.Host()) || strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\r\n"):
		t.Errorf("an error without the node, with a secret, or of several lines: %q", err)
	}
}

// hijacked writes raw bytes and closes the connection.
func hijacked(t *testing.T, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// silent sends nothing, or nothing more, until the client disconnects.
func silent(begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if begin != "" {
			_, _ = io.WriteString(w, begin)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func TestAConnectionThatBreaksIsTemporary(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, text := range []string{
		"", head, head + "Content-Length: 5000\r\n\r\n[{", head + "Transfer-Encoding: chunked\r\n\r\n5\r\n[{", head + "Transfer-Encoding: chunked\r\n\r\n2\r\n[{\r\n",
	} {
		c := client(t, withUsers, serve(t, false, hijacked(t, text)).URL)
		_, err := ask(t.Context(), c, Request{})
		expect(t, c, err, "unreachable", true, c.Host()+" is unreachable: it closed the connection")
	}
}

func TestServersOfOtherProtocolsAreRejected(t *testing.T) {
	for _, kind := range []*Kind{withUsers, withKeys} {
		c := client(t, kind, serve(t, false, hijacked(t, "SSH-2.0-OpenSSH_9.2p1\r\n")).URL)
		_, err := ask(t.Context(), c, Request{})
		expect(t, c, err, "not_a_node", false, c.Host()+" does not answer as "+kind.Node+": it does not use HTTP (expected https://")
	}
}

func TestUnreachableNodeIsTemporary(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	c := client(t, withUsers, "http://user:"+secret+"@"+free+"/"+secret)
	_, err = ask(t.Context(), c, Request{})
	expect(t, c, err, "unreachable", true, free+" is unreachable: connection refused (is the node running? the default port of ")
}

func TestHostsWithoutAnAddress(t *testing.T) {
	for _, q := range []struct {
		err                  net.DNSError
		connected, temporary bool
	}{
		{net.DNSError{Err: "no such host", Name: "node", IsNotFound: true}, false, false},
		{net.DNSError{Err: "no such host", Name: "node", IsNotFound: true}, true, true}, // it answered before
		{net.DNSError{Err: "server misbehaving", Name: "node", IsTemporary: true}, false, true},
		{net.DNSError{Err: "i/o timeout", Name: "node", IsTimeout: true}, false, true},
	} {
		c := client(t, withUsers, "http://node")
		c.Connected.Store(q.connected)
		c.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &q.err}
		}
		_, err := ask(t.Context(), c, Request{})
		expect(t, c, err, "unreachable", q.temporary, q.err.Err)
	}
}

func TestSilentNodeIsTemporary(t *testing.T) {
	for _, begin := range []string{"", "["} {
		c := client(t, withUsers, serve(t, false, silent(begin)).URL)
		c.HeaderTimeout, c.StallTimeout = 50*time.Millisecond, 50*time.Millisecond
		if begin != "" {
			c.HeaderTimeout = time.Hour
		}
		_, err := ask(t.Context(), c, Request{})
		expect(t, c, err, "unreachable", true, "it sent no data for too long")
	}
}

// A node that sends its response slowly but steadily is waited for, and so is a call that is known to take long.
func TestSlowResponsesAreRead(t *testing.T) { synctest.Test(t, testSlowResponsesAreRead) }

// pipes listens without sockets, so that a server and its clients can be in a bubble of synctest.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

func testSlowResponsesAreRead(t *testing.T) {
	listener := make(pipes)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 25 {
			time.Sleep(50 * time.Millisecond)
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
		}
	})}
	go s.Serve(listener)
	t.Cleanup(func() { s.Close() })
	c := client(t, withUsers, "http://node")
	c.transport.DialContext = listener.dial
	c.HeaderTimeout, c.StallTimeout = 1, time.Second // less than the whole response takes
	_, err := ask(t.Context(), c, Request{})
	expect(t, c, err, "unreachable", true, "it sent no data for too long")
	if got, err := ask(t.Context(), c, Request{Waits: true}); err != nil || got != strings.Repeat("x", 25) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTLS(t *testing.T) {
	secure := serve(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	plain := serve(t, false, func(http.ResponseWriter, *http.Request) {})
	cert := filepath.Join(t.TempDir(), "test.cert")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(cert, block, 0o600); err != nil {
		t.Fatal(err)
	}
	withSecret := strings.Replace(secure.URL, "://", "://:"+secret+"@", 1)
	for _, q := range []struct {
		kind            *Kind
		uri, code, says string
	}{
		{withUsers, withSecret + "/?cert=" + cert, "", ""},
		{withUsers, withSecret, "bad_certificate", "x509: certificate signed by unknown authority (trust the node's own by ?cert=FILE in the URL; testd's is its test.cert)"},
		{withKeys, withSecret, "bad_certificate", "x509: certificate signed by unknown authority (trust the node's own by ?cert=FILE in the URL)"},
		{withUsers, strings.Replace(withSecret, "127.0.0.1", "localhost", 1) + "?cert=" + cert, "bad_certificate", "not localhost"},
		{withUsers, strings.Replace(plain.URL, "http", "https", 1), "not_a_node", "it does not use TLS (expected http://)"},
	} {
		c := client(t, q.kind, q.uri)
		got, err := ask(t.Context(), c, Request{})
		if q.code != "" {
			expect(t, c, err, q.code, false, q.says)
		} else if err != nil || got != "hello" {
			t.Errorf("%s: %q, %v", q.uri, got, err)
		}
	}
}

func TestBusyStatuses(t *testing.T) {
	for status, want := range map[int]bool{200: false, 404: false, 429: true, 500: false, 501: false, 502: true, 503: true, 504: true} {
		if got := IsBusy(status); got != want {
			t.Errorf("%d: %t", status, got)
		}
	}
}

func TestExcerptsAreOnePrintableLine(t *testing.T) {
	c := client(t, withUsers, "http://node")
	c.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "…") }
	for text, want := range map[string]string{
		"":                              "nothing",
		" \x00\x01\xff\xfe":             "nothing that is text",
		" a\r\n\tb\x00c ":               "a b c",
		"12345678901":                   "1234567890…",
		"ééééééééééé":                   "éééééééééé…",
		"it is " + secret:               "it is …",
		secret + secret + "\x1b[31mred": "…… [31mred",
	} {
		if got := c.Said([]byte(text), 10); got != want {
			t.Errorf("error for %q: %q, expected %q", text, got, want)
		}
	}
	c.Redact = nil
	if got := c.Excerpt("a\nb", 10); got != "a b" {
		t.Errorf("without a secret: %q", got)
	}
}

func TestAddressesOfTorNeedAProxy(t *testing.T) {
	_, err := ask(t.Context(), client(t, withUsers, "http://node.onion"), Request{})
	if err == nil || !strings.Contains(err.Error(), "set proxy to a SOCKS5 proxy") {
		t.Errorf("%v", err)
	}
	if _, err := New(withUsers, "http://node", "9000", "127.0.0.1:9050"); err == nil || !strings.Contains(err.Error(), "invalid proxy") {
		t.Errorf("an invalid proxy: %v", err)
	}
}
