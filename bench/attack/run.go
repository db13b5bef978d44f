package attack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"birthmark/bench"
)

// Result has the resources of a server and the response times of its other clients during an [Attack], in milliseconds.
type Result struct {
	Name    string  `json:"name"`
	Clients int     `json:"clients"`
	Seconds float64 `json:"seconds"`

	RSS     int64           `json:"peak_rss"` // bytes
	CPU     float64         `json:"cpu_s"`
	Health  bench.Latencies `json:"healthz_ms"`
	Quiet   bench.Latencies `json:"quiet_ms"` // of another client before the attack
	Other   bench.Latencies `json:"other_ms"` // of the same client during it
	Answers map[string]int  `json:"answers"`  // of clients that read: the number by their status
	Bytes   int64           `json:"bytes"`    // that they read

	Before Held     `json:"before"`
	After  Held     `json:"after"`
	Above  []string `json:"above"` // bounds that the attack exceeds; none: the server withstands it
}

// Bounds of an attack.
const (
	// beyondMemory is the resident memory beyond the setting memory: see docs/operations.md.
	beyondMemory = 364 << 20

	mostHealth = 100 // milliseconds of 99 of 100 requests for /healthz
	mostSlower = 5   // times the quiet latency of another client
)

// judge sets the bounds that the attack exceeds.
func (r *Result) judge(memory int64) {
	exceeds := func(name string, is, most float64) {
		if is > most {
			r.Above = append(r.Above, fmt.Sprintf("%s %.4g above %.4g", name, is, most))
		}
	}
	const MiB = 1 << 20
	exceeds("MiB", float64(r.RSS)/MiB, float64(memory+beyondMemory)/MiB)
	exceeds("healthz p99", r.Health.P99, mostHealth)
	exceeds("other p50", r.Other.P50, mostSlower*r.Quiet.P50)
}

// Times between requests of the prober and of another client, and the duration of its measurement before an attack.
const (
	proberPause = 20 * time.Millisecond
	clientPause = 50 * time.Millisecond // below the rate limit
	quietTime   = 2 * time.Second
)

// Run executes an attack for at least a time: until clients that read have all answers, or until the server has
// prepared the answers that nobody reads.
func (s *Server) Run(ctx context.Context, a Attack, least time.Duration) (r *Result, err error) {
	r = &Result{Name: a.Name, Clients: a.Clients, Answers: map[string]int{}, Above: []string{}}
	if r.Before, err = s.held(ctx, nil); err != nil {
		return nil, err
	}
	s.settle(ctx, idle)
	if err := s.resetPeak(); err != nil {
		return nil, err
	}
	quiet, stop := context.WithTimeout(ctx, quietTime)
	r.Quiet, err = s.measure(quiet, a.probe, clientPause)
	stop()
	if err != nil {
		return nil, err
	}
	began, before := time.Now(), s.usage()
	during, stop := context.WithCancel(ctx)
	defer stop()
	var probers, clients sync.WaitGroup
	var healthErr, otherErr error
	probers.Go(func() { r.Health, healthErr = s.measure(during, get("/healthz"), proberPause) })
	probers.Go(func() { r.Other, otherErr = s.measure(during, a.probe, clientPause) })

	var mu sync.Mutex
	var received atomic.Int64
	attacking, end := context.WithTimeout(during, mostAttack)
	defer end()
	for i := range a.Clients {
		clients.Go(func() {
			answer := s.attack(attacking, a, i, &received)
			mu.Lock()
			defer mu.Unlock()
			r.Answers[answer]++
		})
	}
	read := make(chan struct{})
	go func() { clients.Wait(); close(read) }()
	select {
	case <-time.After(least):
	case <-ctx.Done():
	}
	if a.Reads {
		<-read
	} else {
		s.settle(during, busy)
	}
	stop()
	clients.Wait()
	probers.Wait()
	after := s.usage()
	r.Seconds, r.CPU = time.Since(began).Seconds(), (after.cpu - before.cpu).Seconds()
	r.RSS, r.Bytes = after.peak, received.Load()
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := errors.Join(healthErr, otherErr); err != nil {
		return r, err
	}
	r.judge(s.memory)
	r.After, err = s.held(ctx, &r.Before)
	return r, err
}

// mostAttack is the longest duration of an attack.
const mostAttack = 2 * time.Minute

// measure sends a request again and again until ctx ends, and returns the latencies from when each was due.
func (s *Server) measure(ctx context.Context, q request, pause time.Duration) (bench.Latencies, error) {
	c := &client{s: s}
	defer c.close()
	var took []time.Duration
	for due := time.Now(); ctx.Err() == nil; due = due.Add(pause) {
		time.Sleep(time.Until(due))
		began := due
		if late := time.Since(due); late > pause { // the answer before took longer: it has counted
			began = time.Now()
			due = began
		}
		if err := c.ask(context.WithoutCancel(ctx), q); err != nil {
			return bench.Latencies{}, fmt.Errorf("another client: %s%.60s: %w", q.path, q.body, err)
		}
		took = append(took, time.Since(began))
	}
	return bench.Percentiles(took, time.Millisecond), nil
}

// client sends one request after the other on a connection.
type client struct {
	s    *Server
	http *http.Client
	conn net.Conn
	in   *bufio.Reader
	got  int64 // bytes of the last answer
}

// patience is the longest wait for an answer to a client that does not attack.
const patience = time.Minute

func (c *client) close() {
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	if c.conn != nil {
		c.conn.Close()
	}
}

// ask sends a request and reads its answer, which must be a successful one.
func (c *client) ask(ctx context.Context, q request) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if q.electrum {
		return c.askElectrum(q)
	}
	if q.method == "" {
		return converse(ctx, &net.Dialer{}, "ws://"+c.s.at(c.s.http)+q.path, q.body, func() {})
	}
	if c.http == nil {
		c.http = &http.Client{Transport: &http.Transport{}}
	}
	r, err := http.NewRequestWithContext(ctx, q.method, c.s.url(q.path), strings.NewReader(q.body))
	if err != nil {
		return err
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.accept != "" {
		r.Header.Set("Accept", q.accept)
	}
	a, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	all := io.Reader(a.Body)
	if q.accept == eventStream {
		all = io.LimitReader(all, 1)
	}
	text, err := io.ReadAll(all)
	c.got = int64(len(text))
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %.200s", a.Status, text)
	}
	return err
}

func (c *client) askElectrum(q request) (err error) {
	if c.conn == nil {
		if c.conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.s.electrum)); err != nil {
			return err
		}
		c.in = bufio.NewReader(c.conn)
	}
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c.conn, q.body); err != nil {
		return err
	}
	text, err := c.in.ReadString('\n')
	c.got = int64(len(text))
	if err == nil && !strings.Contains(text, `"result"`) {
		err = fmt.Errorf("%.200s", text)
	}
	return err
}

// receiveBuffer of clients that do not read, so that they take as little of an answer as they can.
const receiveBuffer = 4 << 10

// overHTTP returns the bytes of the request to a host. header is empty, or a line of its header.
func (q request) overHTTP(host, header string) string {
	if q.accept != "" {
		header += "Accept: " + q.accept + "\r\n"
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		q.method, q.path, host, header, len(q.body), q.body)
}

// clientAt returns the loopback address of the i-th client. The limits of a client apply to each address.
func clientAt(i int) *net.TCPAddr {
	return &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}
}

// attack sends the request of an attack as the i-th client. It returns the status of the answer after it has read it,
// or waits until ctx ends.
func (s *Server) attack(ctx context.Context, a Attack, i int, received *atomic.Int64) (answer string) {
	q, host, port := a.request, "127.0.0.1", s.http
	d := net.Dialer{LocalAddr: clientAt(i)}
	if a.Outside && s.outside != "" {
		host, d.LocalAddr = s.outside, nil
	}
	if q.electrum {
		port = s.electrum
	}
	at := fmt.Sprintf("%s:%d", host, port)
	if !a.Reads {
		d.Control = func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) {
				_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer)
			})
		}
	}
	if !q.electrum && q.method == "" {
		return attackSocket(ctx, &d, "ws://"+at+q.path, q.body)
	}
	conn, err := d.DialContext(ctx, "tcp", at)
	if err != nil {
		return "not connected"
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	text := q.body
	if !q.electrum {
		text = q.overHTTP(at, "Connection: close\r\n")
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return "not sent"
	}
	if !a.Reads {
		<-ctx.Done()
		return "not read"
	}
	in := bufio.NewReader(io.TeeReader(conn, counting{received}))
	if q.electrum {
		return statusOfLine(in)
	}
	line, err := in.ReadString('\n')
	if err != nil {
		return "no answer"
	}
	_, err = io.Copy(io.Discard, in)
	if status := strings.Fields(line); err == nil && len(status) > 1 {
		return status[1]
	}
	return "cut"
}

// statusOfLine reads a line of the Electrum protocol.
func statusOfLine(in *bufio.Reader) string {
	start, err := in.Peek(64)
	for err == nil {
		if _, err = in.ReadSlice('\n'); errors.Is(err, bufio.ErrBufferFull) {
			err = nil
			continue
		}
		break
	}
	switch {
	case len(start) == 0:
		return "no answer"
	case err != nil:
		return "cut"
	case strings.Contains(string(start), `"error"`):
		return "error"
	}
	return "answered"
}

// dialSocket connects to a WebSocket.
func dialSocket(ctx context.Context, d *net.Dialer, url string) (*websocket.Conn, error) {
	over := &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}
	c, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: over})
	if err == nil {
		c.SetReadLimit(-1)
	}
	return c, err
}

// noNode is a part of the error of requests that need the node of Cardano.
const noNode = "no-node.socket"

// converse sends messages over a WebSocket, reads an answer to each, and calls answered before it leaves.
func converse(ctx context.Context, d *net.Dialer, url, messages string, answered func()) error {
	c, err := dialSocket(ctx, d, url)
	if err != nil {
		return err
	}
	defer func() { _ = c.CloseNow() }()
	for message := range strings.SplitSeq(messages, "\n") {
		if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
		if _, text, err := c.Read(ctx); err != nil || strings.Contains(string(text), `"error"`) &&
			!strings.Contains(string(text), noNode) {
			return fmt.Errorf("%.200s: %w", text, err)
		}
	}
	answered()
	return nil
}

func attackSocket(ctx context.Context, d *net.Dialer, url, messages string) string {
	c, err := dialSocket(ctx, d, url)
	if err != nil {
		return "not connected"
	}
	defer func() { _ = c.CloseNow() }()
	for message := range strings.SplitSeq(messages, "\n") {
		if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return "not sent"
		}
	}
	<-ctx.Done()
	return "not read"
}

// counting counts the bytes that are written.
type counting struct{ n *atomic.Int64 }

func (c counting) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
