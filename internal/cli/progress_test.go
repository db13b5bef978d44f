package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"birthmark/core"
)

var someReading = reading{
	done: 9_000, total: 14_131, left: 90*time.Second + 400*time.Millisecond, bottleneck: "resolve",
	rates: []rate{{"blocks", 3512.4}, {"txs", 3600}, {"entities", 12345}},
}

func TestBarFitsTheTerminal(t *testing.T) {
	for width := range 300 {
		line := someReading.line("sync", width)
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("a line of %d in a terminal of %d: %s", n, width, line)
		}
	}
	const want = "sync  [=========================               ]   63.7%  9,000/14,131  3,512 blocks/s  3,600 txs/s  12,345 entities/s  1m30s left  bottleneck: resolve"
	if got := someReading.line("sync", 200); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for _, r := range []reading{{}, {done: 5, total: 5}} {
		if line := r.line("check", 100); strings.Contains(line, "NaN") {
			t.Error(line)
		}
	}
}

func TestLogLineSaysHowFarASyncIs(t *testing.T) {
	got := fmt.Sprint(someReading.attrs())
	const want = "[done 9000 total 14131 percent 63.7 blocks_per_s 3512 txs_per_s 3600 entities_per_s 12345 left 1m30s bottleneck resolve]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A source that was rolled back is behind the database.
	if r := syncReading(&core.Progress{Height: 10, Target: 8}); r.percent() != 100 {
		t.Errorf("%.1f%% of %d", r.percent(), r.total)
	}
}

func TestNothingIsLoggedAtTheTipWhileNothingComes(t *testing.T) {
	var told []uint64
	tell := unlessIdle(func(r reading) { told = append(told, r.done) })
	for _, r := range []reading{{done: 7, total: 9}, {done: 7, total: 9}, {done: 9, total: 9}, {done: 9, total: 9}, {done: 9, total: 9}, {done: 10, total: 10}, {done: 10, total: 10}, {done: 10, total: 11}} {
		tell(r)
	}
	if want := []uint64{7, 7, 9, 10, 10}; !slices.Equal(told, want) {
		t.Errorf("told %d, expected %d", told, want)
	}
}

func TestPaceTellsTheTimeLeft(t *testing.T) {
	start := time.Unix(0, 0)
	p := pace{"rows", start, func() time.Time { return start.Add(10 * time.Second) }}
	r := p.reading(100, 400)
	if r.left != 30*time.Second || r.rates[0].perSecond != 10 {
		t.Errorf("%+v", r)
	}
	if r := p.reading(0, 0); r.left != 0 || r.percent() != 0 {
		t.Errorf("before it began: %+v", r)
	}
}

// What is logged while a bar is drawn stands on a line of its own.
func TestLogAndBarDoNotMix(t *testing.T) {
	var b strings.Builder
	c := &console{w: &b, drawn: "sync"}
	fmt.Fprintln(c, "a line")
	fmt.Fprintln(c, "another")
	if got, want := b.String(), clearLine+"a line\nanother\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortCommandsLogNothing(t *testing.T) {
	var b strings.Builder
	p := newProgram(nil, nil, &b)
	stop := p.watch("sync", func() reading { return someReading })
	stop()
	stop()
	if b.Len() > 0 {
		t.Errorf("logged %q", b.String())
	}
}
