package guard_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api/guard"
	"birthmark/model"
)

// running is a server that runs until stop.
type running struct {
	addr string
	stop func()
	err  chan error
}

// serve starts a server on a free port.
func serve(t *testing.T, o guard.ServerOptions, h http.Handler) *running {
	t.Helper()
	if o.Listener == nil {
		l, err := guard.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		o.Listener = l
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &running{addr: o.Listener.Addr().String(), stop: cancel, err: make(chan error, 1)}
	go func() { s.err <- guard.Serve(ctx, o, h) }()
	t.Cleanup(func() {
		cancel()
		if err := s.ended(t); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ended waits until the server has ended.
func (s *running) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.err:
		s.err <- err
		return err
	case <-time.After(time.Minute):
		t.Fatal("the server does not end")
		return nil
	}
}

// client is one that keeps no connections beyond the test.
func client(t *testing.T) *http.Client {
	c := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// get is the body of an answer of status 200.
func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d %s %v", url, resp.StatusCode, body, err)
	}
	return string(body)
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		now := runtime.NumGoroutine()
		if now <= before {
			return
		}
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func quick() guard.ServerOptions {
	o := guard.ServerDefaults()
	o.Grace = 300 * time.Millisecond
	return o
}

func TestAnswersUnderWayAreFinished(t *testing.T) {
	before := runtime.NumGoroutine()
	begun, end := make(chan struct{}), make(chan struct{})
	o := guard.ServerDefaults()
	s := serve(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-end
		io.WriteString(w, "finished")
	}))
	answer := make(chan string)
	c := client(t)
	go func() { answer <- get(t, c, "http://"+s.addr+"/") }()
	<-begun
	s.stop()
	for { // until nobody is accepted any more
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			break
		}
		conn.Close()
	}
	close(end)
	if got := <-answer; got != "finished" {
		t.Errorf("%q", got)
	}
	if err := s.ended(t); err != nil {
		t.Error(err)
	}
	c.CloseIdleConnections()
	settled(t, before)
}

func TestWhatGoesOnTooLongIsCut(t *testing.T) {
	before := runtime.NumGoroutine()
	begun := make(chan struct{})
	s := serve(t, quick(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
		io.WriteString(w, "last words")
	}))
	c := client(t)
	resp, err := c.Get("http://" + s.addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-begun
	s.stop()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "last words" {
		t.Errorf("%q %v", body, err)
	}
	if err := s.ended(t); err != nil {
		t.Error(err)
	}
	c.CloseIdleConnections()
	settled(t, before)
}

func TestConnectionsThatWaitMakeRoom(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Refused = 10, refused.add
	s := serve(t, o, says)
	for range 35 { // say nothing, or begin to
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
	if n := refused.of("evicted"); n < 20 || refused.of("no_room") > 0 {
		t.Errorf("%v", refused.by)
	}
}

func TestConnectionsThatAreAnsweredStay(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Refused = 3, refused.add
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
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("one more than there may be is answered")
	}
	close(end)
	asking.Wait()
	if refused.of("no_room") == 0 || refused.of("evicted") > 0 {
		t.Errorf("%v", refused.by)
	}
}

// A body that trickles holds its connection for a second, where there are others who want it.
func TestABodyThatDoesNotComeMakesRoom(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Refused = 3, refused.add
	l := guard.Defaults()
	l.Stall = time.Minute
	begun := make(chan struct{})
	s := serve(t, o, guard.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 {
			begun <- struct{}{}
		}
		says(w, r)
	})))
	for range o.Connections {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
		<-begun
	}
	if got := get(t, client(t), "http://"+s.addr+"/y"); got != "GET /y 0" {
		t.Error(got)
	}
	if refused.of("evicted") != 1 || refused.of("no_room") != 0 {
		t.Errorf("%v", refused.by)
	}
}

func TestABodyHasToComeInTime(t *testing.T) {
	l := guard.Defaults()
	l.Stall = 100 * time.Millisecond
	came := make(chan error, 1)
	s := serve(t, quick(), guard.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		came <- err
	})))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
	if err := <-came; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the body ends with %v", err)
	}
}

// The time that a body may take is not that of its answer.
func TestABodyThatCameLeavesItsAnswerTime(t *testing.T) {
	l := guard.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, time.Minute
	s := serve(t, quick(), guard.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
			t.Error("the request ends when its body has had its time")
		case <-time.After(3 * l.Stall):
		}
	})))
	resp, err := client(t).Post("http://"+s.addr+"/", "text/plain", strings.NewReader("all of it"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// Who takes nothing of an answer is let go.
func TestAClientThatDoesNotReadIsLetGo(t *testing.T) {
	l := guard.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, 100*time.Millisecond
	came := make(chan error, 1)
	s := serve(t, quick(), guard.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				came <- err
				return
			}
		}
	})))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /v1/bitcoin/events HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-came; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing ends with %v", err)
	}
}

// certificate makes a certificate for this machine; name tells one from another.
func certificate(t *testing.T, name string) (cert, key []byte, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), pool
}

func TestTLSFromFiles(t *testing.T) {
	dir := t.TempDir()
	o := quick()
	o.Cert, o.Key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(cert, key []byte) {
		t.Helper()
		if err := errors.Join(os.WriteFile(o.Cert, cert, 0o600), os.WriteFile(o.Key, key, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cert, key, pool := certificate(t, "first")
	write(cert, key)
	s := serve(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	secure := func(pool *x509.CertPool) *http.Client {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}, Timeout: time.Minute}
		t.Cleanup(c.CloseIdleConnections)
		return c
	}
	if proto := get(t, secure(pool), "https://"+s.addr+"/"); proto != "HTTP/2.0" {
		t.Errorf("answered by %s", proto)
	}
	cert, key, pool = certificate(t, "second")
	write(cert, key)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		resp, err := secure(pool).Get("https://" + s.addr + "/")
		if err == nil {
			resp.Body.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the new certificate is not used: %v", err)
		}
	}

	write([]byte("no certificate"), key)
	l, err := guard.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Listener = l
	err = guard.Serve(t.Context(), o, says)
	if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_tls" || !strings.Contains(err.Error(), o.Cert) {
		t.Errorf("with a file that holds no certificate: %v", err)
	}
}

// A stream says nothing for longer than a client may take nothing, by either protocol.
func TestStreamsMayBeSilent(t *testing.T) {
	l := guard.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, 100*time.Millisecond
	h := guard.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "%s %d\n", r.Proto, i)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			time.Sleep(3 * l.Stall)
		}
	}))
	cert, key, pool := certificate(t, "any")
	o := quick()
	o.Cert, o.Key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.WriteFile(o.Cert, cert, 0o600), os.WriteFile(o.Key, key, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := serve(t, o, h)
	for proto, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: two}, Timeout: time.Minute}
		defer c.CloseIdleConnections()
		if got, want := get(t, c, "https://"+s.addr+"/v1/bitcoin/events"), fmt.Sprintf("%[1]s 0\n%[1]s 1\n%[1]s 2\n", proto); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestAddressesThatCannotBeHad(t *testing.T) {
	taken, err := guard.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for addr, code := range map[string]string{
		taken.Addr().String(): "address_in_use",
		"unix:" + file:        "address_in_use",
		"127.0.0.1":           "bad_value",
		"127.0.0.1:http80":    "bad_value",
		"192.0.2.1:0":         "bad_value",
		"unix:":               "bad_value",
	} {
		l, err := guard.Listen(addr)
		if err == nil {
			l.Close()
		}
		if _, got := model.KindOf(err); got != code || !strings.Contains(err.Error(), strings.TrimPrefix(addr, "unix:")) {
			t.Errorf("%s: %v, expected %s", addr, err, code)
		}
	}
	if _, err := guard.ListenProfiles("0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("profiles for all: %v", err)
	}
}

func TestSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "of.sock")
	dead, err := net.Listen("unix", path) // of a server that was killed
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	o := quick()
	if o.Listener, err = guard.Listen("unix:" + path); err != nil {
		t.Fatal(err)
	}
	serve(t, o, guard.New(guard.Defaults(), says))
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
	defer c.CloseIdleConnections()
	if got := get(t, c, "http://any/x"); got != "GET /x 0" {
		t.Error(got)
	}
	if _, err := guard.Listen("unix:" + path); err == nil || !strings.Contains(err.Error(), "another program listens") {
		t.Errorf("a socket that is in use: %v", err)
	}
}

func TestListeningToOthersIsTold(t *testing.T) {
	for _, c := range []struct {
		addr    string
		guarded bool
		told    string
	}{
		{"127.0.0.1:0", false, ""},
		{"[::1]:0", false, ""},
		{"0.0.0.0:0", false, "without TLS and without keys"},
		{"0.0.0.0:0", true, "without TLS: keys can be read"},
	} {
		l, err := guard.Listen(c.addr)
		if err != nil {
			if c.addr == "[::1]:0" {
				continue // a machine without IPv6
			}
			t.Fatal(err)
		}
		var log bytes.Buffer
		o := quick()
		o.Listener, o.Guarded, o.Log = l, c.guarded, slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := guard.Serve(ctx, o, says); err != nil {
			t.Fatal(err)
		}
		if (c.told == "") != (log.Len() == 0) || !strings.Contains(log.String(), c.told) {
			t.Errorf("%s, guarded %t: %q, expected %q", c.addr, c.guarded, &log, c.told)
		}
	}
}

func TestProfiles(t *testing.T) {
	l, err := guard.ListenProfiles("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- guard.ServeProfiles(ctx, l, slog.New(slog.DiscardHandler)) }()
	if got := get(t, client(t), fmt.Sprintf("http://%s/debug/pprof/goroutine?debug=1", l.Addr())); !strings.Contains(got, "goroutine profile") {
		t.Errorf("%.100s", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Headers that never end are the server's own limit, before there is a request.
func TestHeadersAreBounded(t *testing.T) {
	s := serve(t, quick(), guard.New(guard.Defaults(), says))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
		for {
			if _, err := io.WriteString(conn, "X-Long: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
				return
			}
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%d", resp.StatusCode)
	}
}
