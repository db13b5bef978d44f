// Package guard keeps a panic in one goroutine from ending the process.
package guard

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
)

// ErrPanic is wrapped by the error of a panic.
var ErrPanic = errors.New("panic")

// Do calls do. It logs a panic once, as a panic in what, with its stack, and returns it as an error.
func Do(log *slog.Logger, what string, do func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrPanic, p)
			log.Error("panic in "+what+": please report this bug", "panic", fmt.Sprint(p),
				"stack", strings.TrimSpace(string(debug.Stack())))
		}
	}()
	do()
	return nil
}

// Call runs do and returns its error. A panic is an error that contains the stack.
func Call(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	return do()
}

// Beside runs do in another goroutine. wait returns when it has ended. If do panicked, wait panics too, so that the panic
// belongs to the goroutine that waits.
func Beside(do func()) (wait func()) {
	ended := make(chan error, 1)
	go func() { ended <- Call(func() error { do(); return nil }) }()
	return func() {
		if err := <-ended; err != nil {
			panic(err)
		}
	}
}
