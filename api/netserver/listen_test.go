package netserver_test

import (
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
	"strings"
	"testing"
	"time"

	"birthmark/api/netserver"
	"birthmark/api/ratelimit"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// certificate creates a self-signed certificate for this machine with a common name.
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
		t.Errorf("the protocol is %s", proto)
	}
	cert, key, pool = certificate(t, "second")
	write(cert, key)
	for end := time.Now().Add(testrun.Patience); ; time.Sleep(50 * time.Millisecond) {
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
	l, err := netserver.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Listener = l
	err = netserver.Serve(t.Context(), o, echo)
	if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_tls" || !strings.Contains(err.Error(), o.Cert) {
		t.Errorf("a file without a certificate: %v", err)
	}
}

func TestUnusableAddresses(t *testing.T) {
	taken, err := netserver.Listen("127.0.0.1:0")
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
		l, err := netserver.Listen(addr)
		if err == nil {
			l.Close()
		}
		if _, got := model.KindOf(err); got != code || !strings.Contains(err.Error(), strings.TrimPrefix(addr, "unix:")) {
			t.Errorf("%s: %v, expected %s", addr, err, code)
		}
	}
	if _, err := netserver.ListenPprof("0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("profiles for all: %v", err)
	}
}

func TestSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "of.sock")
	dead, err := net.Listen("unix", path) // left by a killed server
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	o := quick()
	if o.Listener, err = netserver.Listen("unix:" + path); err != nil {
		t.Fatal(err)
	}
	serve(t, o, ratelimit.New(ratelimit.Defaults(), echo))
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
	defer c.CloseIdleConnections()
	if got := get(t, c, "http://any/x"); got != "GET /x 0" {
		t.Error(got)
	}
	if _, err := netserver.Listen("unix:" + path); err == nil || !strings.Contains(err.Error(), "in use by another program") {
		t.Errorf("a socket that is in use: %v", err)
	}
}

func TestWarningWhenOtherMachinesCanConnect(t *testing.T) {
	for _, c := range []struct {
		addr    string
		guarded bool
		told    string
	}{
		{"127.0.0.1:0", false, ""},
		{"[::1]:0", false, ""},
		{"0.0.0.0:0", false, "without TLS and API keys"},
		{"0.0.0.0:0", true, "without TLS, which exposes API keys"},
	} {
		l, err := netserver.Listen(c.addr)
		if err != nil {
			if c.addr == "[::1]:0" {
				continue // IPv6 is not available
			}
			t.Fatal(err)
		}
		var log bytes.Buffer
		o := quick()
		o.Listener, o.Guarded, o.Log = l, c.guarded, slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := netserver.Serve(ctx, o, echo); err != nil {
			t.Fatal(err)
		}
		if (c.told == "") != (log.Len() == 0) || !strings.Contains(log.String(), c.told) {
			t.Errorf("%s, guarded %t: %q, expected %q", c.addr, c.guarded, &log, c.told)
		}
	}
}

func TestProfiles(t *testing.T) {
	l, err := netserver.ListenPprof("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- netserver.ServePprof(ctx, l, slog.New(slog.DiscardHandler)) }()
	if got := get(t, client(t), fmt.Sprintf("http://%s/debug/pprof/goroutine?debug=1", l.Addr())); !strings.Contains(got, "goroutine profile") {
		t.Errorf("%.100s", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
