package rpc

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

func TestInvalidURLs(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "rpc.cert")
	if err := os.WriteFile(cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	const expected = ": expected http://USER:PASSWORD@HOST:PORT or https://…, special characters of a password written as %XX"
	for url, says := range map[string]string{
		"http://user:%zz" + password + "@node": "invalid URL of the node" + expected,
		"http://user:1#" + password + "@node":  "the node's URL has a password with a character that must be percent-encoded" + expected,
		"https://node?cert=" + cert:            "?cert=: no certificate in " + cert + ": expected PEM, as in btcd's rpc.cert",
	} {
		_, err := New(Options{URL: url, Network: params.Networks[0]})
		if kind, code := model.KindOf(err); err == nil || kind != model.Usage || code != "bad_source" || err.Error() != says {
			t.Errorf("%s: %v, expected %s", url, err, says)
		}
	}
}

func TestTLS(t *testing.T) {
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
		"rejected the certificate of "+c.Host()+": x509: certificate signed by unknown authority (trust the node's own by ?cert=FILE in the URL; btcd's is its rpc.cert)")
	expect(t, f.client("", with(strings.Replace(f.url("user:"+password+"@"), "https", "http", 1))).Connect(t.Context()),
		"not_a_node", false, "does not answer as a Bitcoin node: it said 400 Bad Request: Client sent an HTTP request to an HTTPS server.")
}
