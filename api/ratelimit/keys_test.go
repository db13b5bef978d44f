package ratelimit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/auth"
	"birthmark/api/ratelimit"
)

const (
	aliceKey = "correct-horse-battery"
	bobKey   = "staple-of-the-world-1"
)

func keyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// digest returns the hex SHA-256 of a key.
func digest(key string) string {
	d := sha256.Sum256([]byte(key))
	return hex.EncodeToString(d[:])
}

func bearer(key string) func(*http.Request) { return header("Authorization", "Bearer "+key) }

func TestRequestsWithAKeyAreAccepted(t *testing.T) {
	// printf staple-of-the-world-1 | sha256sum
	path := keyFile(t, "# people\nalice:"+aliceKey+"\n\nbob:sha256:"+digest(bobKey)+" rate=1 burst=2\n")
	keys, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o := ratelimit.Defaults()
	o.Keys = keys
	h := ratelimit.New(o, echo)
	for name, shown := range map[string]func(*http.Request){
		"Bearer": bearer(aliceKey), "X-API-Key": header("X-API-Key", aliceKey), "bearer": header("Authorization", "bearer "+aliceKey),
		"Basic": func(r *http.Request) { r.SetBasicAuth("any", aliceKey) },
	} {
		if w := ask(h, "GET", "/v1", shown); w.Code != 200 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for name, shown := range map[string]func(*http.Request){
		"none": func(*http.Request) {}, "wrong": bearer(aliceKey + "x"), "its digest": bearer(digest(bobKey)), "empty": header("X-API-Key", ""),
		"of another kind": header("Authorization", "Digest "+aliceKey), "half": header("Authorization", "Bearer"),
	} {
		w := ask(h, "GET", "/v1", shown)
		isProblem(t, w, 401, "unauthorized")
		if len(w.Header()["Www-Authenticate"]) != 2 {
			t.Errorf("%s: headers %v", name, w.Header())
		}
	}
	if w := ask(h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("/healthz without a key: %d", w.Code)
	}
	codes := []int{}
	for range 3 {
		codes = append(codes, ask(h, "GET", "/v1", bearer(bobKey)).Code)
	}
	if fmt.Sprint(codes) != "[200 200 429]" {
		t.Errorf("a key with its own rate: %v", codes)
	}
	o.Anonymous = true
	h = ratelimit.New(o, echo)
	if w := ask(h, "GET", "/v1"); w.Code != 200 {
		t.Errorf("without a key, if that is allowed: %d", w.Code)
	}
	isProblem(t, ask(h, "GET", "/v1", bearer("wrong")), 401, "unauthorized")
}

func TestKeysAreReadAgainWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := keyFile(t, "alice:"+aliceKey+"\n")
		var log bytes.Buffer
		keys, err := auth.OpenKeys(path, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		o := ratelimit.Defaults()
		o.Keys = keys
		h := ratelimit.New(o, echo)
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second) // files are checked every two seconds
		}
		write("bob:" + bobKey + "\n")
		if a, b := ask(h, "GET", "/", bearer(aliceKey)).Code, ask(h, "GET", "/", bearer(bobKey)).Code; a != 401 || b != 200 {
			t.Errorf("after a change the old key gives %d, the new one %d", a, b)
		}
		write("bob\n")
		if b := ask(h, "GET", "/", bearer(bobKey)).Code; b != 200 || !strings.Contains(log.String(), "keys:1: expected NAME:KEY") {
			t.Errorf("after an invalid change: %d, log %s", b, &log)
		}
		if strings.Contains(log.String(), bobKey) || strings.Contains(log.String(), aliceKey) {
			t.Errorf("a key is logged: %s", &log)
		}
	})
}

// Answers of a server with keys are private: shared caches do not store them.
func TestAnswersForKeysArePrivate(t *testing.T) {
	keys, err := auth.OpenKeys(keyFile(t, "alice:"+aliceKey+"\n"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for cache, private := range map[string]string{"public, max-age=9, immutable": "private, max-age=9, immutable", "no-cache": "no-cache"} {
		for _, status := range []int{0, http.StatusOK, http.StatusNotModified} {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", cache)
				if status != 0 {
					w.WriteHeader(status)
				}
				if status != http.StatusNotModified {
					_, _ = w.Write([]byte("x"))
				}
			})
			o := ratelimit.Defaults()
			if got := ask(ratelimit.New(o, h), "GET", "/").Header().Get("Cache-Control"); got != cache {
				t.Errorf("without keys: %q, expected %q", got, cache)
			}
			o.Keys = keys
			if got := ask(ratelimit.New(o, h), "GET", "/", bearer(aliceKey)).Header().Get("Cache-Control"); got != private {
				t.Errorf("with keys: %q, expected %q", got, private)
			}
		}
	}
}
