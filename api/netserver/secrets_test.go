package netserver_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/api/auth"
	"birthmark/api/netserver"
)

const aliceKey = "correct-horse-battery"

func TestProfilesAreNotForOtherHosts(t *testing.T) {
	l, err := netserver.ListenPprof("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- netserver.ServePprof(ctx, l, slog.New(slog.DiscardHandler)) }()
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

// Secret files that other users can read cause a warning when they are read.
func TestWarningAboutReadableSecrets(t *testing.T) {
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
		if _, err := auth.OpenKeys(keys, to); err != nil {
			t.Fatal(err)
		}
		l, err := netserver.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		o := quick()
		o.Listener, o.Cert, o.Key, o.Log = l, certFile, keyFile, to
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := netserver.Serve(ctx, o, echo); err != nil {
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
	if said := tell(0o644, fmt.Sprintf("alice:sha256:%x\n", sha256.Sum256([]byte(aliceKey)))); strings.Contains(said, keys+" ") {
		t.Errorf("a file of digests: %q", said)
	}
}
