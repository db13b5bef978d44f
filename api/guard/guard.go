// Package guard keeps a panic in one goroutine of a server from ending the process.
package guard

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
)

// Do runs do. A panic is logged once with its stack, as one of what, and returned as an error.
func Do(log *slog.Logger, what string, do func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			log.Error("panic in "+what+": please report this bug", "panic", fmt.Sprint(p),
				"stack", strings.TrimSpace(string(debug.Stack())))
		}
	}()
	do()
	return nil
}
