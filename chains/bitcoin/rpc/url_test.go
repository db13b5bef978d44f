package rpc

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/model"
)

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8332":                 "http://127.0.0.1:8332 at 127.0.0.1:8332 as ",
		"http://node":                           "http://node:8332 at node:8332 as ",
		"https://node/":                         "https://node:8332/ at node:8332 as ",
		"http://user:pass@node":                 "http://node:8332 at node:8332 as user:pass",
		"http://user@node:1/wallet/a%2Fb":       "http://node:1/wallet/a%2Fb at node:1 as user",
		"http://user:p%40%3A%2F%23@[::1]:18443": "http://[::1]:18443 at [::1]:18443 as user:p%40%3A%2F%23",
		"http://:pass@node":                     "http://node:8332 at node:8332 as :pass",
	} {
		e, err := parseURL(url, "8332")
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := e.url.String() + " at " + e.host + " as " + e.user.String(); got != want {
			t.Errorf("%s is %s, expected %s", url, got, want)
		}
	}
}

// Whatever a password with a character too many makes of a URL, it is not told.
func TestURLsThatAreRefused(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "rpc.cert")
	if err := os.WriteFile(cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, says := range map[string]string{
		"":                              "names no host",
		"node:8332":                     "names no host",
		"127.0.0.1:8332":                "cannot be read",
		"user:" + password + "@node":    "names no host",
		"ftp://node":                    "names no host",
		"http://":                       "names no host",
		"http://user:" + password + "@": "names no host",
		"http:node":                     "names no host",
		"http://node:0":                 "port",
		"http://node:65536":             "port",
		"http://node:http":              "cannot be read",
		"http://user:1/" + password + "@node:8332":         "not written as %XX",
		"http://user:" + password + "/x@node:8332":         "cannot be read",
		"http://user:1#" + password + "@node:8332":         "not written as %XX",
		"http://user:1?" + password + "@node:8332":         "means nothing",
		"http://user:%zz" + password + "@node:8332":        "cannot be read",
		"http://node?user=" + password:                     "means nothing",
		"https://node?cert=a&cert=b":                       "means nothing",
		"https://node?cert=a;b":                            "means nothing",
		"https://node?cert=" + cert + "&other=" + password: "means nothing",
		"http://node?cert=" + cert:                         "no TLS",
		"https://node?cert=" + cert + ".none":              "no such file",
		"https://node?cert=":                               "no such file",
		"https://node?cert=" + cert:                        "there is no certificate in " + cert,
	} {
		_, err := New(Options{URL: url, Port: "8332"})
		kind, code := model.KindOf(err)
		if err == nil || kind != model.Usage || code != "bad_source" || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %s", url, err, says)
		}
	}
}

func TestTLS(t *testing.T) {
	plain := newFake(t, 5)
	f := newFake(t, 5)
	f.auth = "user:" + password
	f.server = httptest.NewTLSServer(f)
	t.Cleanup(f.server.Close)
	cert := filepath.Join(t.TempDir(), "rpc.cert")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
	if err := os.WriteFile(cert, block, 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(url string) func(*Options) { return func(o *Options) { o.URL = url } }
	trusted := f.client("", with(f.url("user:"+password+"@", "/?cert="+cert)))
	if tip, err := trusted.Tip(t.Context()); err != nil || tip != f.point(4) {
		t.Errorf("the tip is %v, %v", tip, err)
	}
	c := f.client("user:"+password+"@", nil)
	expect(t, c.Connect(t.Context()), "bad_certificate", false,
		"the certificate of "+c.Host()+" is refused: x509: certificate signed by unknown authority (trust the node's own by ?cert=FILE in the URL; btcd's is its rpc.cert)")

	elsewhere := strings.Replace(f.url("user:"+password+"@", "?cert="+cert), "127.0.0.1", "localhost", 1)
	expect(t, f.client("", with(elsewhere)).Connect(t.Context()), "bad_certificate", false, "not localhost")

	expect(t, f.client("", with(strings.Replace(f.url("user:"+password+"@"), "https", "http", 1))).Connect(t.Context()),
		"not_a_node", false, "it said 400 Bad Request: Client sent an HTTP request to an HTTPS server.")
	expect(t, plain.client("", with(strings.Replace(plain.url("user:"+password+"@"), "http", "https", 1))).Connect(t.Context()),
		"not_a_node", false, "it does not speak TLS (expected http://)")
}
