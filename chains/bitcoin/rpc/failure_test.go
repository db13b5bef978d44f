package rpc

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"birthmark/chains/follow"
	"birthmark/model"
)

// says answers with a status and a text.
func says(status int, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		return true
	}
}

// only answers requests of JSON-RPC by another, and REST as it is.
func only(other func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodPost && other(w, r) }
}

const password = "hunter2-and-more"

// expect is an error of a code that says something, and never the password.
func expect(t *testing.T, err error, code string, temporary bool, says string) {
	t.Helper()
	kind, got := model.KindOf(err)
	switch {
	case err == nil:
		t.Errorf("no error, expected %s", code)
	case kind != model.BadSource || got != code || follow.IsTemporary(err) != temporary || !strings.Contains(err.Error(), says):
		t.Errorf("%s (temporary: %t): %v, expected %s (temporary: %t) that says %q", got, follow.IsTemporary(err), err, code, temporary, says)
	case strings.Contains(err.Error(), password) || strings.ContainsAny(err.Error(), "\r\n"):
		t.Errorf("an error with a password or of several lines: %q", err)
	}
}

// What else than an answer a node gives, or what stands in its place.
func TestAnswersThatAreNoAnswer(t *testing.T) {
	for _, q := range []struct {
		name      string
		first     func(http.ResponseWriter, *http.Request) bool
		code      string
		temporary bool
		says      string
	}{
		{"a web site", says(200, "<!DOCTYPE html>\n<html>\x07<head><title>It works!</title></head><body>and so on and so on</body></html>"),
			"not_a_node", false, "it said 200 OK: <!DOCTYPE html> <html> <head><title>It works!</title></head>…"},
		{"a web site without the page", says(404, "404 page not found"), "not_a_node", false, "it said 404 Not Found: 404 page not found"},
		{"no POST", only(says(405, "")), "not_a_node", false, "it said 405 Method Not Allowed: nothing"},
		{"a redirection", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://127.0.0.1:1/"+password, http.StatusFound)
			return true
		}, "not_a_node", false, "it said 302 Found: "},
		{"another JSON API", says(200, `{"hello":1}`), "not_a_node", false, `it said 200 OK: {"hello":1}`},
		{"a text in JSON", says(200, `"hello"`), "not_a_node", false, `it said 200 OK: "hello"`},
		{"an echo of what was sent", func(w http.ResponseWriter, r *http.Request) bool {
			_, p, _ := r.BasicAuth()
			return says(200, p+" "+r.Header.Get("Authorization"))(w, r)
		}, "not_a_node", false, "it said 200 OK: … Basic …"},
		{"rpcallowip", says(403, ""), "forbidden", false, "expected the node's rpcallowip"},
		{"the work queue", says(503, "Work queue depth exceeded"), "busy", true, "is too busy (503): Work queue depth exceeded"},
		{"the work queue of an old Core", only(says(500, "Work queue depth exceeded")), "busy", true, "is too busy (500): Work queue"},
		{"REST of a node that starts", says(503, "Service temporarily unavailable: Loading block index…"), "busy", true, "Loading block index…"},
		{"a gateway", says(502, "<html>Bad Gateway"), "busy", true, "is too busy (502): <html>Bad Gateway"},
		{"too many requests", says(429, ""), "busy", true, "is too busy (429): nothing"},
		{"a btcd that ends", says(200, ""), "unreachable", true, "it answered nothing"},
		{"no JSON", only(says(200, "[{]")), "bad_answer", false, "is not JSON-RPC: invalid character ']'"},
		{"numbers", only(says(200, "[1,2]")), "bad_answer", false, "is not JSON-RPC: json: cannot unmarshal number"},
		{"no answers", only(says(200, "[]")), "bad_answer", false, "getblockhash gave nothing"},
		{"answers without an end", only(says(200, `[{"id":0,"result":"00`)), "bad_answer", false, "ends in the middle"},
		{"a call that was not made", only(says(200, `[{"id":7,"result":1}]`)), "bad_answer", false, "a call that was not made"},
		{"no id", only(says(200, `[{"result":1}]`)), "bad_answer", false, "a call that was not made"},
		{"a hash that is none", only(says(200, `[{"id":0,"result":"00ff"},{"id":1,"result":{}}]`)), "bad_answer", false, "getblockhash gave a hash that is not 64 hex digits"},
		{"a state that is none", only(says(200, `[{"id":0,"result":"`+strings.Repeat("00", 32)+`"},{"id":1,"result":{"blocks":-1}}]`)),
			"bad_answer", false, "getblockchaininfo gave a height of -1"},
		{"an error of the batch", only(says(200, `{"id":null,"result":null,"error":{"code":-32700,"message":"Parse error"}}`)),
			"node_error", false, "getblockhash: Parse error (-32700)"},
		{"an error of the batch in it", only(says(200, `[{"id":null,"error":{"code":-32600,"message":"no batches\nhere"}}]`)),
			"node_error", false, "getblockhash: no batches here (-32600)"},
		{"an error by status", only(says(500, `{"id":0,"result":null,"error":{"code":-28,"message":"Loading block index…"}}`)),
			"starting", true, "is starting: Loading block index…"},
		{"an error that is a text", only(says(200, `[{"id":0,"result":null,"error":"no such key"}]`)), "node_error", false, `"no such key" (0)`},
		{"more than an answer has", only(func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, `[{"id":0,"result":"`)
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 1<<16)) // until nobody reads any more
			}
			return true
		}), "bad_answer", false, ""},
		{"no bytes that print", says(200, "\x00\x01\xff\xfe"), "not_a_node", false, "it said 200 OK: nothing that is text"},
	} {
		t.Run(q.name, func(t *testing.T) {
			f := newFake(t, 3)
			f.first = q.first
			c := f.client("user:"+password+"@", nil)
			expect(t, c.Connect(t.Context()), q.code, q.temporary, q.says)
			_, err := c.Tip(t.Context())
			expect(t, err, q.code, q.temporary, q.says)
		})
	}
}

func TestErrorsOfCalls(t *testing.T) {
	calls := map[string]func(*Client, []model.Point, context.Context) error{
		"getblockchaininfo": func(c *Client, _ []model.Point, ctx context.Context) error { _, err := c.Tip(ctx); return err },
		"getbestblockhash":  func(c *Client, p []model.Point, ctx context.Context) error { return c.Changed(ctx, p[0]) },
		"getblockhash":      func(c *Client, _ []model.Point, ctx context.Context) error { _, err := c.Hashes(ctx, 0, 3); return err },
		"getblock":          func(c *Client, p []model.Point, ctx context.Context) error { _, err := c.Raw(ctx, p, 1); return err },
	}
	for method, call := range calls {
		for _, q := range []struct {
			e         rpcError
			code      string
			temporary bool
			says      string
		}{
			{rpcError{-28, "Verifying blocks…"}, "starting", true, "is starting: Verifying blocks…"},
			{rpcError{-32601, "Method not found"}, "method_missing", false, "has no method " + method},
			{rpcError{-32603, "disk\nfull"}, "node_error", false, method + ": disk full (-32603)"},
		} {
			f := newFake(t, 3)
			c := f.client("", nil)
			if err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.errors[method] = q.e
			expect(t, call(c, f.points(0, 3), t.Context()), q.code, q.temporary, q.says)
		}
	}
}

// Blocks that are not the ones that were asked for are named.
func TestWrongBlocksAreNamed(t *testing.T) {
	eachFlavour(t, 20, func(t *testing.T, f *fake, c *Client) {
		bad := f.point(7)
		for what, q := range map[string]struct {
			raw  func([]byte) []byte
			says string
		}{
			"another": {func([]byte) []byte { return f.chain[8] }, "gave block " + show(f.point(8).Hash)},
			"short":   {func(b []byte) []byte { return b[:79] }, "gave 79 bytes, less than the 80 of a header"},
			"none":    {func([]byte) []byte { return nil }, "gave 0 bytes"},
		} {
			f.wrong = func(hash string, raw []byte) []byte {
				if hash == show(bad.Hash) {
					return q.raw(raw)
				}
				return raw
			}
			want := fmt.Sprintf("asked for block 7 %s, %s %s", show(bad.Hash), c.Host(), q.says)
			_, err := c.Raw(t.Context(), f.points(7, 1), 1)
			expect(t, err, "bad_answer", false, want)
			_, err = c.Raw(t.Context(), f.points(7, 5), 1<<40)
			expect(t, err, "bad_answer", false, want)
			blocks, err := c.Raw(t.Context(), f.points(4, 5), 1<<40)
			if err == nil {
				err = sameBlocks(blocks, f.chain[4:7])
			}
			if err != nil {
				t.Errorf("%s: those before: %v", what, err)
			}
		}
		for _, most := range []int{maxBlock, 3 * maxBlock} {
			f.wrong = func(hash string, raw []byte) []byte { return append(raw, make([]byte, most)...) }
			_, err := c.Raw(t.Context(), f.points(7, 2), 1)
			expect(t, err, "bad_answer", false, "more")
			expect(t, err, "bad_answer", false, "block 7 "+show(bad.Hash))
		}
	})
}

func TestHexThatIsNoneIsNamed(t *testing.T) {
	f := newFake(t, 5)
	raw := hex.EncodeToString(f.chain[3])
	for text, want := range map[string]string{
		`[{"id":0,"result":"` + raw[:len(raw)-1] + `"}]`:      "gave no hex",
		`[{"id":0,"result":"` + raw[:len(raw)-1] + `x"}]`:     "gave no hex",
		`[{"id":0,"result":{"hash":"00"}}]`:                   "gave no hex",
		`[{"id":0,"result":null,"error":null}]`:               "gave no hex",
		`[{"id":0}]`:                                          "gave no hex",
		`[]`:                                                  "gave no answer",
		`[{"id":1,"result":"` + raw + `"}]`:                   "gave no answer",
		`[{"id":0,"result":"` + raw:                           "ends in the middle",
		`[{"id":0,"result":"` + raw + `"`:                     "ends in the middle",
		`[{"id":0,"result":"` + raw + `"; "what":"is this"}]`: "is not JSON-RPC",
	} {
		c := f.client("", nil)
		f.set(func() { f.first = nil })
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.first = says(200, text) })
		_, err := c.Raw(t.Context(), f.points(3, 2), 1<<40)
		expect(t, err, "bad_answer", false, want)
		expect(t, err, "bad_answer", false, "block 3 "+show(f.point(3).Hash))
	}
}

// hijacked writes bytes as they are and closes the connection.
func hijacked(t *testing.T, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return true
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
		return true
	}
}

// A node that goes away in the middle comes back, and what it gave before is not lost.
func TestAConnectionThatBreaksIsTemporary(t *testing.T) {
	f := newFake(t, 5)
	raw := func(h int) string { return hex.EncodeToString(f.chain[h]) }
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, q := range []struct {
		text string
		want int // blocks
		says string
	}{
		{"", 0, "it closed the connection"},
		{head, 0, "it closed the connection"},
		{head + "Content-Length: 5000\r\n\r\n" + `[{"id":0,"result":"00`, 0, "it closed the connection"},
		{head + "Transfer-Encoding: chunked\r\n\r\n5\r\n" + `[{"id`, 0, "it closed the connection"},
		{head + "Connection: close\r\n\r\n" + `[{"id":0,"result":"00`, 0, "in the middle of an answer"}, // btcd
		{head + "Connection: close\r\n\r\n" + `[{"id":0,"result":"` + raw(1) + `"},{"id":1,"result":"` + raw(2) + `"},{"id`, 2, ""},
		{head + "Content-Length: 5000\r\n\r\n" + `[{"id":1,"result":"` + raw(2) + `"},{"id":0,"result":"` + raw(1) + `"}`, 2, ""},
		{head + "Content-Length: 5000\r\n\r\n" + `[{"id":1,"result":"` + raw(2) + `"}`, 0, "it closed the connection"},
	} {
		c := f.client("", nil)
		f.set(func() { f.first = nil })
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.first = hijacked(t, q.text) })
		blocks, err := c.Raw(t.Context(), f.points(1, 3), 1<<40)
		if q.want > 0 {
			if err == nil {
				err = sameBlocks(blocks, f.chain[1:1+q.want])
			}
			if err != nil {
				t.Errorf("%q: %v", q.text, err)
			}
			continue
		}
		expect(t, err, "unreachable", true, q.says)
	}
}

func TestWhoSpeaksSomethingElseIsNoNode(t *testing.T) {
	f := newFake(t, 2)
	f.first = hijacked(t, "SSH-2.0-OpenSSH_9.2p1\r\n")
	expect(t, f.client("", nil).Connect(t.Context()), "not_a_node", false, "it does not speak HTTP")
}

func TestNobodyThereIsTemporary(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	c, err := New(Options{URL: "http://user:" + password + "@" + free + "/" + password, Network: "regtest"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, c.Connect(t.Context()), "unreachable", true, free+" is unreachable: dial tcp "+free+": connect: connection refused")
}

func TestHostsWithoutAnAddress(t *testing.T) {
	f := newFake(t, 2)
	for _, q := range []struct {
		err                  net.DNSError
		connected, temporary bool
	}{
		{net.DNSError{Err: "no such host", Name: "node", IsNotFound: true}, false, false},
		{net.DNSError{Err: "no such host", Name: "node", IsNotFound: true}, true, true}, // it was there before
		{net.DNSError{Err: "server misbehaving", Name: "node", IsTemporary: true}, false, true},
		{net.DNSError{Err: "i/o timeout", Name: "node", IsTimeout: true}, false, true},
	} {
		c := f.client("", nil)
		c.connected.Store(q.connected)
		c.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &q.err}
		}
		expect(t, c.Connect(t.Context()), "unreachable", q.temporary, q.err.Err)
	}
}

// silent answers nothing, or nothing more, until the caller has left.
func silent(begin string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees the caller leave when it has all of the request
		if begin != "" {
			_, _ = io.WriteString(w, begin)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		return true
	}
}

func TestANodeThatSaysNothingIsTemporary(t *testing.T) {
	for _, begin := range []string{"", "["} {
		f := newFake(t, 2)
		f.first = only(silent(begin))
		c := f.client("", nil)
		c.headerTimeout, c.stallTimeout = 50*time.Millisecond, 50*time.Millisecond
		if begin != "" {
			c.headerTimeout = time.Hour
		}
		expect(t, c.Connect(t.Context()), "unreachable", true, "nothing has come from it for too long")
	}
}

// Whatever is waited for, the end of the context ends it, with its error.
func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	eachFlavour(t, 5, func(t *testing.T, f *fake, c *Client) {
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func(context.Context) error{
			"connect": c.Connect,
			"tip":     func(ctx context.Context) error { _, err := c.Tip(ctx); return err },
			"hashes":  func(ctx context.Context) error { _, err := c.Hashes(ctx, 1, 3); return err },
			"raw":     func(ctx context.Context) error { _, err := c.Raw(ctx, f.points(1, 3), 1<<40); return err },
			"changed": func(ctx context.Context) error { return c.Changed(ctx, f.point(4)) },
		} {
			for _, begin := range []string{"", "["} {
				ctx, cancel := context.WithCancel(t.Context())
				f.set(func() {
					f.first = func(w http.ResponseWriter, r *http.Request) bool {
						time.AfterFunc(20*time.Millisecond, cancel)
						return silent(begin)(w, r)
					}
				})
				if err := call(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
				f.set(func() { f.first = nil })
				if err := call(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, with a context that has ended: %v", name, err)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		c.poll = time.Hour
		time.AfterFunc(20*time.Millisecond, cancel)
		if err := c.Changed(ctx, f.point(4)); !errors.Is(err, context.Canceled) {
			t.Errorf("while nothing changes: %v", err)
		}
	})
}

// All is let go of: no connection stays open after Close.
func TestCloseLeavesNoConnection(t *testing.T) {
	eachFlavour(t, 50, func(t *testing.T, f *fake, c *Client) {
		open, closed := make(chan net.Conn, 100), make(chan net.Conn, 100)
		f.server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open <- conn
			case http.StateClosed:
				closed <- conn
			}
		}
		for range 3 {
			if _, err := c.Raw(t.Context(), f.points(1, 40), 1<<40); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for n := len(open); n > 0; n-- {
			<-closed
		}
	})
}

// A node that closed the connection while nothing was asked is asked again, without a word.
func TestAnIdleConnectionMayBeClosed(t *testing.T) {
	f := newFake(t, 5)
	c := f.client("", nil)
	for range 20 {
		if _, err := c.Tip(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.server.CloseClientConnections()
	}
}

func TestExcerptsAreOneLineThatPrints(t *testing.T) {
	f := newFake(t, 1)
	c := f.client("user:"+password+"@", nil)
	for text, want := range map[string]string{
		"":                                  "",
		" a\r\n\tb\x00c ":                   "a b c",
		"12345678901":                       "1234567890…",
		"ééééééééééé":                       "éééééééééé…",
		"it is " + password:                 "it is …",
		password + password + "\x1b[31mred": "…… [31mred",
	} {
		if got := c.excerpt(text, 10); got != want {
			t.Errorf("%q is told as %q, expected %q", text, got, want)
		}
	}
}
