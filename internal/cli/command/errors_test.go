package command

import (
	"strings"
	"testing"

	"birthmark/internal/config"
)

// A URI can contain a password, and errors quote the URI.
func TestErrorsMaskPasswords(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	e := NewEnv(nil, new(strings.Builder), &stderr)
	e.mask(&config.Chain{Source: "http://user:hunter2@host"})
	if status := e.Fail(UsageError("x", "cannot reach http://user:hunter2@host")); status != 2 {
		t.Errorf("status %d", status)
	}
	if got := stderr.String(); got != "birthmark: cannot reach http://user:********@host\n" {
		t.Errorf("printed %q", got)
	}
}
