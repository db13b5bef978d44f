package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// How often the bar on a terminal is redrawn, and how often a log gets a line of progress.
const (
	drawEvery = 200 * time.Millisecond
	logEvery  = 5 * time.Second
)

// reading is the progress of a command at one moment.
type reading struct {
	done, total uint64
	rates       []rate
	left        time.Duration // 0: unknown
	bottleneck  string        // the slowest stage; empty if the command has no stages
	phase       string        // replaces rates, time left and bottleneck, if not empty
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

// attrs returns the reading as attributes of a log line.
func (r reading) attrs() []any {
	attrs := []any{"done", r.done, "total", r.total, "percent", fmt.Sprintf("%.1f", r.percent())}
	if r.phase != "" {
		return append(attrs, "phase", r.phase)
	}
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

// line returns the reading as one line of at most width characters, with a bar if there is room for one.
func (r reading) line(what string, width int) string {
	parts := []string{fmt.Sprintf("%5.1f%%", r.percent()), count(r.done) + "/" + count(r.total)}
	if r.phase != "" {
		parts = append(parts, r.phase)
	} else {
		parts = append(parts, r.pace()...)
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

// pace is the rates, the time left and the bottleneck, as parts of a line.
func (r reading) pace() (parts []string) {
	for _, rate := range r.rates {
		parts = append(parts, fmt.Sprintf("%s %s/s", count(uint64(rate.perSecond)), rate.name))
	}
	if r.left > 0 {
		parts = append(parts, r.left.Round(time.Second).String()+" left")
	}
	if r.bottleneck != "" {
		parts = append(parts, "bottleneck: "+r.bottleneck)
	}
	return parts
}

// cut returns the first width characters of s.
func cut(s string, width int) string {
	if runes := []rune(s); len(runes) > width {
		return string(runes[:max(0, width)])
	}
	return s
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

// watch reports the progress of a command until stop is called: as a bar if stderr is a terminal, else as lines in the log.
func (p *program) watch(what string, read func() reading) (stop func()) {
	con := p.console
	if con.term == nil {
		return p.report(what, read)
	}
	con.begin()
	end := repeat(drawEvery, func() { con.draw(what, read()) })
	return sync.OnceFunc(func() {
		end()
		con.end()
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
