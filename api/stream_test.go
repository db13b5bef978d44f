package api_test

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
)

const allBlocks = "/v1/bitcoin/blocks"

// streamed requests a stream and returns the number of its entries and its last line.
func streamed(t *testing.T, h http.Handler, target string) (entries int, end api.StreamEnding) {
	t.Helper()
	w := ask(h, "GET", target, "", "Accept", "application/x-ndjson")
	list, end, err := readStream(w.Body.Bytes())
	if err != nil || w.Code != 200 {
		t.Fatalf("%s: %d, %v", target, w.Code, err)
	}
	return len(list), end
}

func TestStreamedListIsCompleteOrHasACursor(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	h, _ := handler(t, api.Options{Done: closed}, map[string]*core.DB{"bitcoin": real(t)})
	n, end := streamed(t, h, allBlocks)
	if n == 0 || n >= 14_132 || end.Complete || end.Reason != "shutdown" || end.Next == nil {
		t.Fatalf("%d blocks, then %+v", n, end)
	}
	rest, last := streamed(t, bitcoinAPI(t), allBlocks+"?after="+*end.Next)
	if n+rest != 14_132 || !last.Complete {
		t.Errorf("%d blocks and %d, then %+v", n, rest, last)
	}
}

// A list that takes long is whole, also if each page is read from another snapshot.
func TestALongListReleasesItsSnapshots(t *testing.T) {
	c, opened := reopening(busy(t), func(int) {})
	h, _ := handler(t, api.Options{Chains: []*served.Chain{c}, StreamTime: time.Nanosecond}, nil)
	at, _ := handler(t, api.Options{}, map[string]*core.DB{"test": busy(t)})
	for _, path := range []string{"history/address/" + busyValue, "history/address/" + busyValue + "?order=desc", "find/address/" + busyValue,
		"find/address/" + busyValue + "?unspent=true&limit=9000", "history/address/" + busyValue + "?group_by=hour", "blocks"} {
		for _, kind := range []string{"application/x-ndjson", "text/csv"} {
			*opened = 0
			got, want := ask(h, "GET", "/v1/test/"+path, "", "Accept", kind), ask(at, "GET", "/v1/test/"+path, "", "Accept", kind)
			if got.Code != http.StatusOK || got.Body.String() != want.Body.String() {
				t.Errorf("%s as %s: %d, %d bytes, expected %d", path, kind, got.Code, got.Body.Len(), want.Body.Len())
			}
			if single := kind == "text/csv" && strings.Contains(path, "limit"); want.Body.Len() > 100_000 && *opened < 3 && !single {
				t.Errorf("%s as %s: %d snapshots", path, kind, *opened)
			}
		}
	}
}

// reopening returns a chain, and the number of snapshots that were opened. It calls before with the number of each.
func reopening(db *core.DB, before func(n int)) (c *served.Chain, opened *int) {
	c, opened = of("test", db), new(int)
	view := c.View
	c.View = func(ctx context.Context, fn func(*query.View) error) error {
		*opened++
		before(*opened)
		return view(ctx, fn)
	}
	return c, opened
}

// Blocks that arrive while a list is sent neither repeat nor lose an entry: an ascending list has their entries too.
func TestBlocksArriveDuringAList(t *testing.T) {
	for order, more := range map[string]int{"asc": busyBlock, "desc": 0} {
		db := busy(t)
		c, _ := reopening(db, func(n int) {
			if n == 2 {
				if err := db.Append(t.Context(), busyBlocks(busyTxs/busyBlock, busyTxs/busyBlock+1, db.Tip().Hash, 1)); err != nil {
					t.Error(err)
				}
			}
		})
		h, _ := handler(t, api.Options{Chains: []*served.Chain{c}, StreamTime: time.Nanosecond}, nil)
		w := ask(h, "GET", busyCSV+"?order="+order, "", "Accept", "application/x-ndjson")
		list, end, err := readStream(w.Body.Bytes())
		if err != nil || len(list) != busyTxs+more || !end.Complete || end.Tip == nil || int(end.Tip.Height) != busyTxs/busyBlock {
			t.Errorf("%s: %d entries, then %+v, %v", order, len(list), end, err)
		}
		seen := map[string]bool{}
		for _, line := range list {
			seen[string(line)] = true
		}
		if len(seen) != len(list) {
			t.Errorf("%s: %d of %d entries are different", order, len(seen), len(list))
		}
	}
}

// A list ends if a reorganization removes the block at which it began: it does not mix branches.
func TestAReorganizationEndsAList(t *testing.T) {
	for order, kind := range map[string]string{"asc": "application/x-ndjson", "desc": "text/csv"} {
		db := busy(t)
		c, _ := reopening(db, func(n int) {
			if n == 2 {
				parent := model.Point{Height: 40, Hash: busyHash(1, 40, -1)}
				err := db.Rollback(t.Context(), parent)
				if err = cmp.Or(err, db.Append(t.Context(), busyBlocks(41, 60, parent.Hash, 2))); err != nil {
					t.Error(err)
				}
			}
		})
		h, _ := handler(t, api.Options{Chains: []*served.Chain{c}, StreamTime: time.Nanosecond}, nil)
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", busyCSV+"?order="+order, nil)
		r.Header.Set("Accept", kind)
		func() {
			defer func() { _ = recover() }() // cuts the connection
			h.ServeHTTP(w, r)
		}()
		body := w.Body.String()
		if strings.Contains(body, `"hash":"02`) || strings.Contains(body, "\n02") {
			t.Errorf("%s: the list has entries of both branches", order)
		}
		if kind == "text/csv" {
			if !strings.HasSuffix(body, "(problem): request the list again\n") {
				t.Errorf("%s ends with %q", kind, body[max(0, len(body)-200):])
			}
			continue
		}
		if _, end, err := readStream(w.Body.Bytes()); err != nil || end.Complete || end.Next != nil || end.Problem == nil || end.Problem.Code != "cursor_rolled_back" {
			t.Errorf("%s ends with %+v, %v", kind, end, err)
		}
	}
}

// The last line of a failed stream has the error and the cursor of the last entry.
func TestFailedStreamReportsItsError(t *testing.T) {
	h := bitcoinAPI(t)
	ctx, cancel := context.WithCancel(t.Context())
	w := &cutting{ResponseRecorder: httptest.NewRecorder(), after: 1, cut: cancel}
	r := httptest.NewRequestWithContext(ctx, "GET", allBlocks, nil)
	r.Header.Set("Accept", "application/x-ndjson")
	h.ServeHTTP(w, r)
	list, end, err := readStream(w.Body.Bytes())
	if err != nil || len(list) == 0 || end.Complete || end.Reason != "problem" || end.Problem == nil || end.Problem.Code != "shutting_down" || end.Next == nil {
		t.Errorf("%d entries, then %+v, %v", len(list), end, err)
	}
}

// cutting calls cut at the write of the number after.
type cutting struct {
	*httptest.ResponseRecorder
	after int
	cut   func()
}

func (w *cutting) Write(b []byte) (int, error) {
	if w.after--; w.after == 0 {
		w.cut()
	}
	return w.ResponseRecorder.Write(b)
}

// A problem before the first line is a normal response.
func TestProblemBeforeAStream(t *testing.T) {
	h := bitcoinAPI(t)
	wantProblem(t, ask(h, "GET", "/v1/bitcoin/values/colour", "", "Accept", "application/x-ndjson"), 400, "unknown_index", "colour")
	wantProblem(t, ask(h, "GET", allBlocks+"?after=zz", "", "Accept", "application/x-ndjson"), 400, "bad_cursor", "zz")
	if w := ask(h, "HEAD", allBlocks, "", "Accept", "application/x-ndjson"); w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

// opened returns a chain and the number of its open snapshots.
func opened(t *testing.T) (c *served.Chain, held *atomic.Int32) {
	t.Helper()
	c, held = openedOf(real(t))
	c.Name = "bitcoin"
	return c, held
}

func openedOf(db *core.DB) (c *served.Chain, held *atomic.Int32) {
	held = new(atomic.Int32)
	c = of("test", db)
	view := c.View
	c.View = func(ctx context.Context, fn func(*query.View) error) error {
		held.Add(1)
		defer held.Add(-1)
		return view(ctx, fn)
	}
	return c, held
}

// A client that does not read is disconnected, so that its snapshot is released.
func TestStreamDropsAClientThatDoesNotRead(t *testing.T) {
	c, held := opened(t)
	h, _ := handler(t, api.Options{Chains: []*served.Chain{c}, WriteTimeout: 20 * time.Millisecond}, nil)
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		c.(*net.TCPConn).SetWriteBuffer(4096)
		return ctx
	}
	server.Start()
	defer server.Close()
	client, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.(*net.TCPConn).SetReadBuffer(4096)
	if _, err := io.WriteString(client, "GET "+allBlocks+" HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	if _, err := client.Read(one); err != nil { // the stream has started
		t.Fatal(err)
	}
	for held.Load() > 0 { // ends at the latest with the test's deadline
		time.Sleep(time.Millisecond)
	}
	if rest, _ := io.ReadAll(client); strings.Contains(string(rest), `{"end":`) {
		t.Errorf("the client received all %d bytes", len(rest))
	}
}

// When a client disconnects, its query is canceled and its snapshot released.
func TestAStreamEndsWithItsClient(t *testing.T) {
	c, held := opened(t)
	h, _ := handler(t, api.Options{Chains: []*served.Chain{c}}, nil)
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/v1/bitcoin/values/address", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/x-ndjson")
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"value":`) {
		t.Fatalf("%q, %v", line, err)
	}
	cancel()
	for held.Load() > 0 { // ends at the latest with the test's deadline
		time.Sleep(time.Millisecond)
	}
}
