package guard_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/api/guard"
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

func bearer(key string) func(*http.Request) { return header("Authorization", "Bearer "+key) }

func TestWhoShowsAKeyIsAnswered(t *testing.T) {
	// printf staple-of-the-world-1 | sha256sum
	path := keyFile(t, "# people\nalice:"+aliceKey+"\n\nbob:sha256:"+guard.Digest(bobKey)+" rate=1 burst=2\n")
	keys, err := guard.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o := guard.Defaults()
	o.Keys = keys
	h := guard.New(o, says)
	for name, shown := range map[string]func(*http.Request){
		"Bearer": bearer(aliceKey), "X-API-Key": header("X-API-Key", aliceKey), "bearer": header("Authorization", "bearer "+aliceKey),
		"Basic": func(r *http.Request) { r.SetBasicAuth("any", aliceKey) },
	} {
		if w := ask(h, "GET", "/v1", shown); w.Code != 200 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for name, shown := range map[string]func(*http.Request){
		"none": func(*http.Request) {}, "wrong": bearer(aliceKey + "x"), "its digest": bearer(guard.Digest(bobKey)), "empty": header("X-API-Key", ""),
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
		t.Errorf("a key with a rate of its own: %v", codes)
	}
	o.Anonymous = true
	h = guard.New(o, says)
	if w := ask(h, "GET", "/v1"); w.Code != 200 {
		t.Errorf("without a key, where that is allowed: %d", w.Code)
	}
	isProblem(t, ask(h, "GET", "/v1", bearer("wrong")), 401, "unauthorized")
}

func TestKeysAreReadAgainWhenTheyChange(t *testing.T) {
	path := keyFile(t, "alice:"+aliceKey+"\n")
	var log bytes.Buffer
	keys, err := guard.OpenKeys(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	o := guard.Defaults()
	o.Keys = keys
	h := guard.New(o, says)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys.LookNow()
	}
	write("bob:" + bobKey + "\n")
	if a, b := ask(h, "GET", "/", bearer(aliceKey)).Code, ask(h, "GET", "/", bearer(bobKey)).Code; a != 401 || b != 200 {
		t.Errorf("after a change the old key gives %d, the new one %d", a, b)
	}
	write("bob\n")
	if b := ask(h, "GET", "/", bearer(bobKey)).Code; b != 200 || !strings.Contains(log.String(), "keys:1: expected NAME:KEY") {
		t.Errorf("after a change that is wrong: %d, log %s", b, &log)
	}
	if strings.Contains(log.String(), bobKey) || strings.Contains(log.String(), aliceKey) {
		t.Errorf("a key is logged: %s", &log)
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	for text, fault := range map[string]string{
		"":                                  "holds none, expected lines NAME:KEY",
		"alice":                             ":1: expected NAME:KEY",
		":" + aliceKey:                      ":1: expected NAME:KEY",
		"# x\nalice:short":                  ":2: a key has at least 16 characters",
		"a:" + aliceKey + " rate=x":         ":1: rate: expected requests in a second, as in rate=50",
		"a:" + aliceKey + " rate=NaN":       ":1: rate: expected requests in a second, as in rate=50",
		"a:" + aliceKey + " burst=3":        ":1: burst without rate",
		"a:" + aliceKey + " speed=3":        `:1: unknown word "speed" behind the key, expected rate=N or burst=N`,
		"a:sha256:00":                       ":1: expected 64 digits of hex after sha256:",
		"a:" + aliceKey + "\na:" + bobKey:   ":2: the name a stands before",
		"a:" + aliceKey + "\nb:" + aliceKey: ":2: the key of b is that of another name",
	} {
		path := keyFile(t, text)
		_, err := guard.OpenKeys(path, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), path+fault) && !strings.Contains(err.Error(), path+" "+fault) {
			t.Errorf("%q: %v, expected %s", text, err, fault)
		} else if strings.Contains(err.Error(), aliceKey) {
			t.Errorf("%v shows a key", err)
		}
	}
	if _, err := guard.OpenKeys(filepath.Join(t.TempDir(), "none"), slog.New(slog.DiscardHandler)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
