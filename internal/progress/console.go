package progress

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

// Console writes stderr: lines of a log and, if stderr is a terminal, a progress bar on the bottom line. A bar replaces
// the messages below warnings, since it shows the phase too; a log that the settings select is written in full.
type Console struct {
	mu    sync.Mutex
	w     io.Writer
	term  *os.File // nil: not a terminal
	bars  int      // progress bars under way
	drawn string   // the bar on the bottom line; empty: none
	level slog.LevelVar
}

// NewConsole returns a console that writes to w and draws progress bars if w is a terminal.
func NewConsole(w io.Writer) *Console { return &Console{w: w, term: Terminal(w)} }

// Quiet omits progress, and messages of the log below warnings.
func (c *Console) Quiet() { c.level.Set(slog.LevelWarn) }

// Terminal returns w if it is a terminal, else nil.
func Terminal(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Columns returns the width of w if it is a terminal, else 0.
func Columns(w io.Writer) int {
	f := Terminal(w)
	if f == nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

const clearLine = "\r\x1b[K"

// Write writes lines of the log above the bar.
func (c *Console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.w.Write(b)
}

func (c *Console) clear() {
	if c.drawn != "" {
		io.WriteString(c.w, clearLine)
		c.drawn = ""
	}
}

// begin announces a progress bar. Until end, messages below warnings are omitted.
func (c *Console) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bars++
}

// end removes the bar from the screen.
func (c *Console) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bars--
	c.clear()
}

func (c *Console) draw(what string, r Reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if line := r.line(what, Columns(c.term)-1); line != c.drawn { // a full line would wrap
		io.WriteString(c.w, clearLine+line)
		c.drawn = line
	}
}

// Log returns the default log: lines for people if stderr is a terminal, else key=value lines.
func (c *Console) Log() *slog.Logger {
	if c.term != nil {
		return slog.New(&terminalLog{console: c})
	}
	return slog.New(slog.NewTextHandler(c, &slog.HandlerOptions{Level: &c.level}))
}

// terminalLog is the log on a terminal: one line per message, `warning: message (key value, key value)`, without time.
// While a bar shows the progress, it leaves out messages below warnings.
type terminalLog struct {
	console *Console
	attrs   []slog.Attr
	group   string // the prefix of keys
}

func (l *terminalLog) Enabled(_ context.Context, level slog.Level) bool {
	if level >= slog.LevelWarn {
		return true
	}
	l.console.mu.Lock()
	defer l.console.mu.Unlock()
	return level >= l.console.level.Level() && l.console.bars == 0
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
