package rpc

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

// hijacked writes raw bytes and closes the connection.
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

// If a node disconnects in the middle of a response, the blocks received before are returned.
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

// silent sends nothing, or nothing more, until the client disconnects.
func silent(begin string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the disconnect after reading the whole request
		if begin != "" {
			_, _ = io.WriteString(w, begin)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		return true
	}
}

// When the context ends, every wait ends with its error.
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
					t.Errorf("%s, with a canceled context: %v", name, err)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		c.poll = time.Hour
		time.AfterFunc(20*time.Millisecond, cancel)
		if err := c.Changed(ctx, f.point(4)); !errors.Is(err, context.Canceled) {
			t.Errorf("Changed without a change: %v", err)
		}
	})
}
