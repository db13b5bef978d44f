package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"birthmark/internal/daemon"
)

// certificate writes a certificate for this machine, and returns a pool that trusts it.
func certificate(t *testing.T, dir string) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	write(t, cert, string(text))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})))
	trust = x509.NewCertPool()
	trust.AppendCertsFromPEM(text)
	return cert, key, trust
}

// The settings of the server take effect: TLS, keys, rates, origins, profiles, the log.
func TestServerSettingsTakeEffect(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "db")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "10")
	cert, key, trust := certificate(t, dir)
	keys, file := filepath.Join(dir, "keys"), filepath.Join(dir, "birthmark.yaml")
	write(t, keys, "someone:0123456789abcdef0123456789abcdef\nslow:fedcba9876543210 rate=0.001 burst=1\n")
	profiles, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	profiles.Close()
	write(t, file, fmt.Sprintf("chain: bitcoin\ndb: %s\ntls: { cert: %s, key: %s }\napi_keys_file: %s\ncors_origins: [https://example.org]\npprof: %s\nlog: json\nlog_level: debug\n",
		db, cert, key, keys, profiles.Addr()))
	s := startServer(t, "--config", file)
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}}
	if !strings.HasPrefix(s.URL, "https://127.0.0.1:") {
		t.Errorf("the server listens at %s", s.URL)
	}
	for _, c := range []struct {
		key    string
		status int
	}{{"", 401}, {"nobody's", 401}, {"0123456789abcdef0123456789abcdef", 200}, {"fedcba9876543210", 200}, {"fedcba9876543210", 429}, {"0123456789abcdef0123456789abcdef", 200}} {
		r := s.get(t, "v1/bitcoin/block/3", "X-API-Key", c.key, "Origin", "https://example.org")
		if r.status != c.status || c.status == 200 && r.header.Get("Access-Control-Allow-Origin") != "https://example.org" {
			t.Errorf("key %q: %d %s %v", c.key, r.status, r.body, r.header)
		}
	}
	if r := s.get(t, "healthz"); r.status != 200 {
		t.Errorf("healthz without a key: %d", r.status)
	}
	of := &serverProcess{Address: daemon.Address{URL: "http://" + profiles.Addr().String() + "/"}, client: s.client}
	if r := of.get(t, "debug/pprof/cmdline"); r.status != 200 || !bytes.Contains(r.body, []byte("--config")) {
		t.Errorf("profiles: %d %s", r.status, r.body)
	}
	// A request with another host name that resolves to this machine is rejected.
	for _, url := range []string{s.URL + "v1", of.URL + "debug/pprof/cmdline"} {
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		if resp, err := s.client.Do(r); err != nil || resp.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s for another host: %v, %v", url, resp, err)
		} else {
			resp.Body.Close()
		}
	}
	s.stop(t)
	if log := s.stderr.String(); !strings.Contains(log, `"msg":"request"`) || !strings.Contains(log, `"client":"key someone"`) || strings.Contains(log, "0123456789abcdef") {
		t.Errorf("the log: %s", log)
	}
}

func TestServerAnswersOnASocket(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "10")
	folder, err := os.MkdirTemp("", "birthmark") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "http.sock")
	s := startServer(t, "--db", db, "--listen", "unix:"+path)
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	if h, _ := s.tip(t, "bitcoin"); h != 10 || s.Listen != "unix:"+path {
		t.Errorf("%s has the tip %d", s.Listen, h)
	}
	s.stop(t)
}
