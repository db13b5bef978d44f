package rest

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/model"
)

type serverOptions struct{ tls, mute bool }

// httpServer is a server that is no node: it says nothing at all where it is mute.
func httpServer(t *testing.T, change func(*serverOptions)) *httptest.Server {
	t.Helper()
	var o serverOptions
	if change != nil {
		change(&o)
	}
	release := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if o.mute {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if o.tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		close(release)
		s.Close()
	})
	return s
}

func TestURLsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1":            "http://127.0.0.1:9053",
		"http://node:1234/":           "http://node:1234/",
		"https://node/ergo/api":       "https://node:9053/ergo/api",
		"http://:a%3Ab@[::1]":         "http://[::1]:9053",
		"http://:key@node:80/with/it": "http://node:80/with/it",
	} {
		e, err := parseURL(text, "9053")
		if err != nil || e.url.String() != want {
			t.Errorf("%s: %v, %v", text, e.url, err)
		}
	}
	if e, err := parseURL("http://:a%3Ab@node", "1"); err != nil || e.key != "a:b" || e.host != net.JoinHostPort("node", "1") {
		t.Errorf("the key is %q at %s, %v", e.key, e.host, err)
	}
}

func TestURLsThatMeanNothingAreRefusedWithoutTheirKey(t *testing.T) {
	pem := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(pem, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, says := range map[string]string{
		"":                                  "names no host",
		"ftp://:secret@node":                "names no host",
		"http://":                           "names no host",
		"http:node":                         "names no host",
		"http://:sec%ret@node":              "cannot be read",
		"http://:sec#ret@node":              "", // what stands before the # is read as a port
		"http://:sec/ret@node":              "",
		"http://:a@b@node/#secret":          "not written as %XX",
		"http://node/secret@node":           "not written as %XX",
		"http://user:secret@node":           "names a user",
		"http://secret@node":                "names a user",
		"http://:secret@node:0":             "1 to 65535",
		"http://:secret@node:99999":         "1 to 65535",
		"http://node?a=secret":              "a query that means nothing",
		"http://node?cert=" + pem:           "no TLS",
		"https://node?cert=" + pem:          "no certificate",
		"https://node?cert=/no/such/secret": "no such file",
	} {
		_, err := New(Options{URL: text, Port: "9053"})
		if kind, code := model.KindOf(err); err == nil || kind != model.Usage || code != "bad_source" || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
