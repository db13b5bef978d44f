package auth_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/api/auth"
)

const (
	aliceKey = "correct-horse-battery"
	bobKey   = "staple-of-the-world-1"
)

func TestWrongKeysAreRefused(t *testing.T) {
	for text, fault := range map[string]string{
		"":                                  "has no keys, expected lines NAME:KEY",
		"alice":                             ":1: expected NAME:KEY",
		":" + aliceKey:                      ":1: expected NAME:KEY",
		"\ufeff# x\nalice:short":            ":2: a key has at least 16 characters",
		"a:" + aliceKey + " rate=x":         ":1: rate: expected requests per second, as in rate=50",
		"a:" + aliceKey + " rate=NaN":       ":1: rate: expected requests per second, as in rate=50",
		"a:" + aliceKey + " burst=3":        ":1: burst without rate",
		"a:" + aliceKey + " speed=3":        `:1: unknown word "speed" after the key, expected rate=N or burst=N`,
		"a:sha256:00":                       ":1: expected 64 digits of hex after sha256:",
		"a:" + aliceKey + "\na:" + bobKey:   ":2: duplicate name a",
		"a:" + aliceKey + "\nb:" + aliceKey: ":2: another name has the same key as b",
	} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), path+fault) && !strings.Contains(err.Error(), path+" "+fault) {
			t.Errorf("%q: %v, expected %s", text, err, fault)
		} else if strings.Contains(err.Error(), aliceKey) {
			t.Errorf("%v shows a key", err)
		}
	}
	if _, err := auth.OpenKeys(filepath.Join(t.TempDir(), "none"), slog.New(slog.DiscardHandler)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
