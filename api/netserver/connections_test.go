package netserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/internal/testrun"
)

func TestWaitingConnectionsAreEvicted(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Rejected = 10, refused.add
	var most atomic.Int64
	o.Open = func(open int) { most.Store(max(most.Load(), int64(open))) } // the lock of the connections is held
	s := serve(t, o, echo)
	for range 35 { // each sends an incomplete request
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "GET / HTT")
		if got := get(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}, "http://"+s.addr+"/x"); got != "GET /x 0" {
			t.Fatal(got)
		}
	}
	if n := refused.of("evicted"); n < 20 || refused.of("connection_limit") > 0 {
		t.Errorf("%v", refused.by)
	}
	if n := most.Load(); n != 10 {
		t.Errorf("%d connections were open, expected 10", n)
	}
}

func TestBusyConnectionsAreNotEvicted(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Rejected = 3, refused.add
	begun, end := make(chan struct{}), make(chan struct{})
	s := serve(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-end
	}))
	var asking sync.WaitGroup
	for range o.Connections {
		c := client(t)
		asking.Go(func() { get(t, c, "http://"+s.addr+"/") })
		<-begun
	}
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 503 || !strings.Contains(string(text), `"code":"connection_limit"`) || !resp.Close {
		t.Errorf("a connection beyond the limit: %d %s %v", resp.StatusCode, text, err)
	}
	close(end)
	asking.Wait()
	if refused.of("connection_limit") == 0 || refused.of("evicted") > 0 {
		t.Errorf("%v", refused.by)
	}
}

// At the limit of connections the server still accepts connections and serves health checks.
func TestHealthChecksAtTheLimitOfConnections(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Rejected = 3, refused.add
	begun, end := make(chan struct{}), make(chan struct{})
	s := serve(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			begun <- struct{}{}
			<-end
		}
	}))
	var asking sync.WaitGroup
	for range o.Connections {
		c := client(t)
		asking.Go(func() { get(t, c, "http://"+s.addr+"/") })
		<-begun
	}
	health := func(when string) {
		t.Helper()
		c := client(t)
		for range 3 {
			resp, err := c.Get("http://" + s.addr + "/healthz")
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			resp.Body.Close()
			if resp.StatusCode != 200 || !resp.Close {
				t.Errorf("%s: %d, the connection is kept: %t", when, resp.StatusCode, !resp.Close)
			}
		}
	}
	health("all connections are busy")
	for _, sent := range []string{"", "GET / HTT", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
		for range 100 {
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			io.WriteString(conn, sent)
		}
		health(fmt.Sprintf("100 more send %q", sent))
	}
	// Of 300 connections at most 128 are spare. The counts are read before busy connections become idle: after that,
	// requests that wait may replace idle connections.
	if n, evicted := refused.of("connection_limit"), refused.of("evicted"); n < 300-128-48 || evicted > 0 {
		t.Errorf("%d connections rejected, %d evicted", n, evicted)
	}
	close(end)
	asking.Wait()
	for deadline := time.Now().Add(testrun.Patience); ; time.Sleep(10 * time.Millisecond) {
		resp, err := client(t).Get("http://" + s.addr + "/healthz")
		if err == nil {
			if resp.Body.Close(); resp.StatusCode == 200 {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("afterwards: %+v %v", resp, err)
		}
	}
}
