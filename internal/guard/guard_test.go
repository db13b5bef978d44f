package guard_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"birthmark/internal/guard"
)

// A panic is an error, and its stack names the place: in the log of Do, in the error of Call, in the panic of Beside.
func TestPanicsAreErrors(t *testing.T) {
	fail := func() { panic("injected") }
	var log bytes.Buffer
	err := guard.Do(slog.New(slog.NewTextHandler(&log, nil)), "a test", fail)
	if err == nil || !strings.Contains(log.String(), "panic in a test") || !strings.Contains(log.String(), "guard_test.go") {
		t.Errorf("Do: %v, %s", err, &log)
	}
	if err := guard.Call(func() error { fail(); return nil }); err == nil || !strings.Contains(err.Error(), "guard_test.go") {
		t.Errorf("Call: %v", err)
	}
	if want := errors.New("of the function"); guard.Call(func() error { return want }) != want {
		t.Error("Call does not return the error of the function")
	}
	ran := false
	guard.Beside(func() { ran = true })()
	if !ran {
		t.Error("Beside does not wait")
	}
	wait := guard.Beside(fail)
	if err := guard.Call(func() error { wait(); return nil }); err == nil || !strings.Contains(err.Error(), "guard_test.go") {
		t.Errorf("Beside: %v", err)
	}
}
