// Package progress shows how far a long command is: as a bar on a terminal, elsewhere as lines in the log.
package progress

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"birthmark/internal/guard"
	"birthmark/internal/humanize"
)

// How often the bar on a terminal is redrawn, and how often a log gets a line of progress.
const (
	drawEvery = 200 * time.Millisecond
	LogEvery  = 5 * time.Second
)

// Reading is the progress of a command at one moment.
type Reading struct {
	Done, Total uint64
	Fraction    float64 // done, from 0 to 1; 0: Done of Total
	Rates       []Rate
	Left        time.Duration // 0: unknown
	Bottleneck  string        // the slowest stage; empty if the command has no stages
	Overflow    Overflow
	Phase       string // replaces rates, time left, bottleneck and overflow, if not empty
}

// Overflow is the use of files for caches that exceed the memory.
type Overflow struct {
	Bytes      int64 // of the files; 0: the caches fit into memory
	ReadsPerTx float64
}

// Rate is a throughput.
type Rate struct {
	Name      string
	PerSecond float64
}

func (r Reading) percent() float64 {
	switch {
	case r.Fraction > 0:
		return 100 * r.Fraction
	case r.Total == 0:
		return 0
	}
	return 100 * float64(r.Done) / float64(r.Total)
}

// Attrs returns the reading as attributes of a log line.
func (r Reading) Attrs() []any {
	attrs := []any{"done", r.Done, "total", r.Total, "percent", rounded(r.percent(), 1)}
	if r.Phase != "" {
		return append(attrs, "phase", r.Phase)
	}
	for _, rate := range r.Rates {
		attrs = append(attrs, rate.Name+"_per_s", rounded(rate.PerSecond, 0))
	}
	if r.Left > 0 {
		attrs = append(attrs, "left", r.Left.Round(time.Second))
	}
	if r.Bottleneck != "" {
		attrs = append(attrs, "bottleneck", r.Bottleneck)
	}
	if o := r.Overflow; o.Bytes > 0 {
		attrs = append(attrs, "overflow_bytes", o.Bytes, "overflow_reads_per_tx", rounded(o.ReadsPerTx, 2))
	}
	return attrs
}

// rounded returns a number with at most digits decimals.
func rounded(f float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(f*scale) / scale
}

// line returns the reading as one line of at most width characters, with a bar if there is room for one.
func (r Reading) line(what string, width int) string {
	if r.Total == 0 && r.Phase != "" { // nothing to measure yet
		return cut(what+"  "+r.Phase, width)
	}
	parts := []string{fmt.Sprintf("%5.1f%%", r.percent()), humanize.Count(r.Done) + "/" + humanize.Count(r.Total)}
	if r.Phase != "" {
		parts = append(parts, r.Phase)
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

// pace returns the rates, the time left, the bottleneck and the overflow, as parts of a line.
func (r Reading) pace() (parts []string) {
	for _, rate := range r.Rates {
		parts = append(parts, fmt.Sprintf("%s %s/s", humanize.Count(uint64(rate.PerSecond)), rate.Name))
	}
	if r.Left > 0 {
		parts = append(parts, r.Left.Round(time.Second).String()+" left")
	}
	if r.Bottleneck != "" {
		parts = append(parts, "bottleneck: "+r.Bottleneck)
	}
	if o := r.Overflow; o.Bytes > 0 {
		parts = append(parts, fmt.Sprintf("overflow %s, %.1f reads/tx", humanize.Bytes(o.Bytes), o.ReadsPerTx))
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

// unlessIdle returns a function that calls report, except for readings that repeat a finished state: a sync can stay at
// the tip for months.
func unlessIdle(report func(Reading)) func(Reading) {
	var last Reading
	return func(now Reading) {
		if now.Done < now.Total || now.Done != last.Done || now.Total == 0 && now.Phase != last.Phase {
			report(now)
		}
		last = now
	}
}

// Watch reports progress until stop is called: as a bar if the console is a terminal, else as lines in the log.
func (c *Console) Watch(log *slog.Logger, what string, read func() Reading) (stop func()) {
	if c.level.Level() > slog.LevelInfo {
		return func() {}
	}
	if c.term == nil {
		return Report(log, what, read)
	}
	c.begin()
	end := repeat(drawEvery, func() { c.draw(what, read()) })
	return sync.OnceFunc(func() {
		end()
		c.end()
	})
}

// Report writes progress as lines in the log until stop is called.
func Report(log *slog.Logger, what string, read func() Reading) (stop func()) {
	report := unlessIdle(func(r Reading) { log.Info(what, r.Attrs()...) })
	return repeat(LogEvery, func() { report(read()) })
}

// repeat calls do at an interval until stop is called.
func repeat(every time.Duration, do func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if guard.Do(slog.Default(), "the display of progress", do) != nil {
					return
				}
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

// Pace estimates the rate and the time left of a command that advances evenly.
type Pace struct {
	name    string
	started time.Time
	now     func() time.Time
}

// NewPace returns the pace of a command that starts now. Name is the plural of what it counts.
func NewPace(name string, now func() time.Time) Pace { return Pace{name, now(), now} }

// Reading returns the progress after done of total things.
func (p Pace) Reading(done, total uint64) Reading {
	r := Reading{Done: done, Total: total}
	if s := p.now().Sub(p.started).Seconds(); s > 0 && done > 0 {
		perSecond := float64(done) / s
		r.Rates = []Rate{{p.name, perSecond}}
		if total > done {
			r.Left = time.Duration(float64(total-done) / perSecond * float64(time.Second))
		}
	}
	return r
}
