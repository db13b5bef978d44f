package rpc

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// says returns a handler that responds with a status and a text.
func says(status int, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		return true
	}
}

// only replaces the response to JSON-RPC, not REST.
func only(other func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodPost && other(w, r) }
}

const password = "hunter2-and-more"

// expect checks the code and text of an error, and that it never contains the password.
func expect(t *testing.T, err error, code string, temporary bool, says string) {
	t.Helper()
	kind, got := model.KindOf(err)
	switch {
	case err == nil:
		t.Errorf("no error, expected %s", code)
	case kind != model.BadSource || got != code || blocksource.IsTemporary(err) != temporary || !strings.Contains(err.Error(), says):
		t.Errorf("%s (temporary: %t): %v, expected %s (temporary: %t) that says %q", got, blocksource.IsTemporary(err), err, code, temporary, says)
	case strings.Contains(err.Error(), password) || strings.ContainsAny(err.Error(), "\r\n"):
		t.Errorf("an error with a password or of several lines: %q", err)
	}
}

// Invalid responses of nodes and of other servers.
func TestInvalidResponses(t *testing.T) {
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
		{"rpcallowip", says(403, ""), "forbidden", false, "allow both with the node's rpcallowip"},
		{"the work queue", says(503, "Work queue depth exceeded"), "busy", true, "is too busy (503): Work queue depth exceeded"},
		{"the work queue of an old Core", only(says(500, "Work queue depth exceeded")), "busy", true, "is too busy (500): Work queue"},
		{"REST of a node that starts", says(503, "Service temporarily unavailable: Loading block index…"), "busy", true, "Loading block index…"},
		{"a gateway", says(502, "<html>Bad Gateway"), "busy", true, "is too busy (502): <html>Bad Gateway"},
		{"too many requests", says(429, ""), "busy", true, "is too busy (429): nothing"},
		{"a btcd that ends", says(200, ""), "unreachable", true, "it answered nothing"},
		{"no JSON", only(says(200, "[{]")), "bad_answer", false, "is not JSON-RPC: invalid character ']'"},
		{"numbers", only(says(200, "[1,2]")), "bad_answer", false, "is not JSON-RPC: json: cannot unmarshal number"},
		{"no answers", only(says(200, "[]")), "bad_answer", false, "getblockhash returned nothing"},
		{"answers without an end", only(says(200, `[{"id":0,"result":"00`)), "bad_answer", false, "is incomplete"},
		{"a call that was not made", only(says(200, `[{"id":7,"result":1}]`)), "bad_answer", false, "a call that was not made"},
		{"no id", only(says(200, `[{"result":1}]`)), "bad_answer", false, "a call that was not made"},
		{"an invalid hash", only(says(200, `[{"id":0,"result":"00ff"},{"id":1,"result":{}}]`)), "bad_answer", false, "getblockhash returned a hash that is not 64 hex digits"},
		{"a state that is none", only(says(200, `[{"id":0,"result":"`+strings.Repeat("00", 32)+`"},{"id":1,"result":{"blocks":-1}}]`)),
			"bad_answer", false, "getblockchaininfo returned a height of -1"},
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
				_, err = w.Write(make([]byte, 1<<16)) // until the client disconnects
			}
			return true
		}), "bad_answer", false, ""},
		{"white space without an end", only(func(w http.ResponseWriter, _ *http.Request) bool {
			for err := error(nil); err == nil; {
				_, err = w.Write(bytes.Repeat([]byte(" \n"), 1<<15)) // until the client disconnects
			}
			return true
		}), "bad_answer", false, "127.0.0.1:"},
		{"white space, then nothing", only(says(200, " \n ")), "unreachable", true, "it answered nothing"},
		{"no bytes that print", says(200, "\x00\x01\xff\xfe"), "not_a_node", false, "it said 200 OK: nothing that is text"},
	} {
		t.Run(q.name, func(t *testing.T) {
			f := newFake(t, 3)
			f.set(func() { f.first = q.first })
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
			f.set(func() { f.errors[method] = q.e })
			expect(t, call(c, f.points(0, 3), t.Context()), q.code, q.temporary, q.says)
		}
	}
}

// Blocks with a wrong hash are reported.
func TestWrongBlocksAreReported(t *testing.T) {
	eachFlavour(t, 20, func(t *testing.T, f *fake, c *Client) {
		bad := f.point(7)
		for what, q := range map[string]struct {
			raw  func([]byte) []byte
			says string
		}{
			"another": {func([]byte) []byte { return f.chain[8] }, "returned block " + block.FormatHash(f.point(8).Hash)},
			"short":   {func(b []byte) []byte { return b[:79] }, "returned 79 bytes, less than the 80 of a header"},
			"none":    {func([]byte) []byte { return nil }, "returned 0 bytes"},
		} {
			wrong := func(hash string, raw []byte) []byte {
				if hash == block.FormatHash(bad.Hash) {
					return q.raw(raw)
				}
				return raw
			}
			f.set(func() { f.wrong = wrong })
			want := fmt.Sprintf("requested block 7 %s, but %s %s", block.FormatHash(bad.Hash), c.Host(), q.says)
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
		for _, most := range []int{block.MaxSize, 2 * block.MaxSize} {
			f.set(func() { f.wrong = func(hash string, raw []byte) []byte { return append(raw, make([]byte, most)...) } })
			_, err := c.Raw(t.Context(), f.points(7, 1), 1)
			expect(t, err, "bad_answer", false, "more")
			expect(t, err, "bad_answer", false, "block 7 "+block.FormatHash(bad.Hash))
		}
	})
}

func TestInvalidHexIsReported(t *testing.T) {
	f := newFake(t, 5)
	raw := hex.EncodeToString(f.chain[3])
	for text, want := range map[string]string{
		`[{"id":0,"result":"` + raw[:len(raw)-1] + `"}]`:      "returned no hex",
		`[{"id":0,"result":"` + raw[:len(raw)-1] + `x"}]`:     "returned no hex",
		`[{"id":0,"result":{"hash":"00"}}]`:                   "returned no hex",
		`[{"id":0,"result":null,"error":null}]`:               "returned no hex",
		`[{"id":0}]`:                                          "returned no hex",
		`[]`:                                                  "returned no answer",
		`[{"id":1,"result":"` + raw + `"}]`:                   "returned no answer",
		`[{"id":0,"result":"` + raw:                           "is incomplete",
		`[{"id":0,"result":"` + raw + `"`:                     "is incomplete",
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
		expect(t, err, "bad_answer", false, "block 3 "+block.FormatHash(f.point(3).Hash))
	}
}
