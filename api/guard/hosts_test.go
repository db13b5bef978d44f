package guard_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/guard"
)

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// A server that only this machine can reach does not answer pages whose own name leads to it (DNS rebinding).
func TestOtherHostsAreRefusedOnThisMachine(t *testing.T) {
	var refused counted
	o := guard.Defaults()
	o.CheckHost, o.Hosts, o.Refused = true, []string{"explorer.example.org"}, refused.add
	o.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	h := guard.New(o, says)
	for _, name := range []string{
		"127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "192.0.2.1:80", "localhost", "LocalHost:8080", "localhost.",
		"a.localhost:1", "explorer.example.org", "Explorer.Example.Org:8080", "",
	} {
		if w := ask(h, "GET", "/v1", host(name)); w.Code != 200 {
			t.Errorf("host %q: %d %s", name, w.Code, w.Body)
		}
	}
	for _, name := range []string{
		"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "notlocalhost", "1.2.3",
		"x.explorer.example.org",
	} {
		for _, path := range []string{"/v1", "/healthz"} {
			isProblem(t, ask(h, "GET", path, host(name)), 421, "wrong_host")
		}
	}
	if refused.of("wrong_host") != 14 {
		t.Errorf("%v", refused.by)
	}
	if w := ask(h, "GET", "/v1", host("any.example"), from("10.0.0.1:1")); w.Code != 200 {
		t.Errorf("by a proxy: %d", w.Code)
	}
	if w := ask(guard.New(guard.Defaults(), says), "GET", "/v1", host("evil.example")); w.Code != 200 {
		t.Errorf("of a server for others: %d", w.Code)
	}
}

func TestProfilesAreNotForOtherHosts(t *testing.T) {
	l, err := guard.ListenProfiles("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- guard.ServeProfiles(ctx, l, slog.New(slog.DiscardHandler)) }()
	for name, status := range map[string]int{"evil.example": 421, "localhost": 200, l.Addr().String(): 200} {
		r, err := http.NewRequest("GET", "http://"+l.Addr().String()+"/debug/pprof/cmdline", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = name
		resp, err := client(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("host %s: %d, expected %d", name, resp.StatusCode, status)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Files of secrets that other users can read are told of, when they are read first and when they have changed.
func TestFilesThatOthersCanReadAreToldOf(t *testing.T) {
	dir := t.TempDir()
	cert, key, _ := certificate(t, "any")
	certFile, keyFile, keys := filepath.Join(dir, "cert"), filepath.Join(dir, "key"), filepath.Join(dir, "keys")
	if err := errors.Join(os.WriteFile(certFile, cert, 0o644), os.WriteFile(keyFile, key, 0o600)); err != nil {
		t.Fatal(err)
	}
	tell := func(mode os.FileMode, text string) (said string) {
		t.Helper()
		err := errors.Join(os.WriteFile(keys, []byte(text), 0o600), os.Chmod(keys, mode), os.Chmod(keyFile, mode))
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		to := slog.New(slog.NewTextHandler(&log, nil))
		if _, err := guard.OpenKeys(keys, to); err != nil {
			t.Fatal(err)
		}
		l, err := guard.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		o := quick()
		o.Listener, o.Cert, o.Key, o.Log = l, certFile, keyFile, to
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := guard.Serve(ctx, o, says); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), aliceKey) || strings.Contains(log.String(), certFile) {
			t.Errorf("the log: %s", &log)
		}
		return log.String()
	}
	for mode, told := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o644: true, 0o604: true} {
		said := tell(mode, "alice:"+aliceKey+"\n")
		if strings.Contains(said, keys+" ") != told || strings.Contains(said, keyFile+" ") != told {
			t.Errorf("mode %o: %q", mode, said)
		}
	}
	if said := tell(0o644, "alice:sha256:"+guard.Digest(aliceKey)+"\n"); strings.Contains(said, keys+" ") {
		t.Errorf("a file of digests: %q", said)
	}
}

// Answers of 503 are one line in ten seconds, which says how many were left out; others that fail are not among them.
func TestAnswersOf503DoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := guard.Defaults()
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		mux := http.NewServeMux()
		mux.HandleFunc("/busy", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
		mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
		h := guard.New(o, mux)
		for range 2 {
			for range 100 {
				ask(h, "GET", "/busy")
			}
			ask(h, "GET", "/broken")
			time.Sleep(10 * time.Second)
		}
		text := log.String()
		busy, broken := strings.Count(text, "status=503"), strings.Count(text, "status=500")
		if busy != 2 || broken != 2 || !strings.Contains(text, "left_out=99") {
			t.Errorf("%d lines of 503 and %d of 500:\n%s", busy, broken, text)
		}
	})
}
