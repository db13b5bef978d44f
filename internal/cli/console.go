package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// console writes stderr: lines of a log and, if stderr is a terminal, a progress bar on the bottom line.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	term  *os.File // nil: not a terminal
	bars  int      // progress bars under way
	drawn string   // the bar on the bottom line; empty: none
}

const clearLine = "\r\x1b[K"

// Write writes lines of the log above the bar.
func (c *console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.w.Write(b)
}

func (c *console) clear() {
	if c.drawn != "" {
		io.WriteString(c.w, clearLine)
		c.drawn = ""
	}
}

// begin announces a progress bar. Until end, the bar stands for messages below warnings.
func (c *console) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bars++
}

// end removes the bar from the screen.
func (c *console) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bars--
	c.clear()
}

func (c *console) draw(what string, r reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	width, _, err := term.GetSize(int(c.term.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	if line := r.line(what, width-1); line != c.drawn { // a full line would wrap
		io.WriteString(c.w, clearLine+line)
		c.drawn = line
	}
}

// log returns the default log: lines for people if stderr is a terminal, else key=value lines.
func (c *console) log() *slog.Logger {
	if c.term != nil {
		return slog.New(&terminalLog{console: c})
	}
	return slog.New(slog.NewTextHandler(c, nil))
}

// terminalLog is the log on a terminal: one line per message, `warning: message (key value, key value)`, without time.
// While a bar shows the progress, it leaves out messages below warnings.
type terminalLog struct {
	console *console
	attrs   []slog.Attr
	group   string // the prefix of keys
}

func (l *terminalLog) Enabled(_ context.Context, level slog.Level) bool {
	if level >= slog.LevelWarn {
		return true
	}
	l.console.mu.Lock()
	defer l.console.mu.Unlock()
	return level >= slog.LevelInfo && l.console.bars == 0
}

func (l *terminalLog) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("birthmark: ")
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString("error: ")
	case r.Level >= slog.LevelWarn:
		b.WriteString("warning: ")
	}
	b.WriteString(r.Message)
	var parts []string
	for _, a := range l.attrs {
		parts = append(parts, fmt.Sprintf("%s %s", a.Key, a.Value))
	}
	r.Attrs(func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s%s %s", l.group, a.Key, a.Value))
		return true
	})
	if len(parts) > 0 {
		b.WriteString(" (" + strings.Join(parts, ", ") + ")")
	}
	b.WriteByte('\n')
	_, err := l.console.Write([]byte(b.String()))
	return err
}

func (l *terminalLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *l
	with.attrs = append([]slog.Attr(nil), l.attrs...)
	for _, a := range attrs {
		with.attrs = append(with.attrs, slog.Attr{Key: l.group + a.Key, Value: a.Value})
	}
	return &with
}

func (l *terminalLog) WithGroup(name string) slog.Handler {
	with := *l
	with.group += name + "."
	return &with
}
