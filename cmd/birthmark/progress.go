package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// How often a person at a terminal and a log are told how far a command is.
const (
	drawEvery = 200 * time.Millisecond
	logEvery  = 5 * time.Second
)

// reading is how far a command is.
type reading struct {
	done, total uint64
	rates       []rate
	left        time.Duration // 0: unknown
	bottleneck  string        // the stage the others wait for, "" where there are no stages
}

// rate is how much of something is done in a second.
type rate struct {
	name      string
	perSecond float64
}

func (r reading) percent() float64 {
	if r.total == 0 {
		return 0
	}
	return 100 * float64(r.done) / float64(r.total)
}

// attrs are the reading for a log.
func (r reading) attrs() []any {
	attrs := []any{"done", r.done, "total", r.total, "percent", fmt.Sprintf("%.1f", r.percent())}
	for _, rate := range r.rates {
		attrs = append(attrs, rate.name+"_per_s", fmt.Sprintf("%.0f", rate.perSecond))
	}
	if r.left > 0 {
		attrs = append(attrs, "left", r.left.Round(time.Second).String())
	}
	if r.bottleneck != "" {
		attrs = append(attrs, "bottleneck", r.bottleneck)
	}
	return attrs
}

// line is the reading as one line of a terminal, with a bar as long as width leaves room for.
func (r reading) line(what string, width int) string {
	parts := []string{fmt.Sprintf("%5.1f%%", r.percent()), count(r.done) + "/" + count(r.total)}
	for _, rate := range r.rates {
		parts = append(parts, fmt.Sprintf("%s %s/s", count(uint64(rate.perSecond)), rate.name))
	}
	if r.left > 0 {
		parts = append(parts, r.left.Round(time.Second).String()+" left")
	}
	if r.bottleneck != "" {
		parts = append(parts, "waits for "+r.bottleneck)
	}
	const shortest, longest = 8, 40
	tail := strings.Join(parts, "  ")
	room := width - utf8.RuneCountInString(what) - utf8.RuneCountInString(tail) - len("  []  ")
	if room < shortest {
		return cut(what+"  "+tail, width)
	}
	room = min(room, longest)
	full := min(room, int(float64(room)*r.percent()/100))
	return what + "  [" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "]  " + tail
}

// cut is s without what does not fit into width.
func cut(s string, width int) string {
	if runes := []rune(s); len(runes) > width {
		return string(runes[:max(0, width)])
	}
	return s
}

// console is stderr: lines of a log, and where it is a terminal one line at the bottom that is drawn again and again.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	term  *os.File // nil: no terminal
	drawn bool
}

const clearLine = "\r\x1b[K"

// Write writes lines of the log above what is drawn.
func (c *console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.w.Write(b)
}

func (c *console) clear() {
	if c.drawn {
		io.WriteString(c.w, clearLine)
		c.drawn = false
	}
}

func (c *console) draw(what string, r reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	width, _, err := term.GetSize(int(c.term.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	io.WriteString(c.w, clearLine+r.line(what, width-1)) // a full line would wrap
	c.drawn = true
}

// unlessIdle hands on readings but those at the end that say again that all is done: a sync may stay at the tip for
// months.
func unlessIdle(tell func(reading)) func(reading) {
	var last reading
	return func(now reading) {
		if now.done < now.total || now.done != last.done {
			tell(now)
		}
		last = now
	}
}

// watch tells how far a command is until stop is called: a bar where stderr is a terminal, elsewhere lines in the log.
func (p *program) watch(what string, read func() reading) (stop func()) {
	con := p.console
	if con.term == nil {
		return p.report(what, read)
	}
	stop = repeat(drawEvery, func() { con.draw(what, read()) })
	return sync.OnceFunc(func() {
		stop()
		con.mu.Lock()
		defer con.mu.Unlock()
		con.clear()
	})
}

// report tells how far something is in lines in the log, until stop is called.
func (p *program) report(what string, read func() reading) (stop func()) {
	tell := unlessIdle(func(r reading) { p.log.Info(what, r.attrs()...) })
	return repeat(logEvery, func() { tell(read()) })
}

// repeat does something now and then until stop is called.
func repeat(every time.Duration, do func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				do()
			case <-quit:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-done
	})
}

// pace guesses the time left and the rate of a command that does one thing at an even pace.
type pace struct {
	name    string
	started time.Time
	now     func() time.Time
}

func (p pace) reading(done, total uint64) reading {
	r := reading{done: done, total: total}
	if s := p.now().Sub(p.started).Seconds(); s > 0 && done > 0 {
		perSecond := float64(done) / s
		r.rates = []rate{{p.name, perSecond}}
		if total > done {
			r.left = time.Duration(float64(total-done) / perSecond * float64(time.Second))
		}
	}
	return r
}
