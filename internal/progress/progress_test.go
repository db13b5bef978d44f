package progress

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var someReading = Reading{
	Done: 9_000, Total: 14_131, Left: 90*time.Second + 400*time.Millisecond, Bottleneck: "resolve",
	Rates: []Rate{{"blocks", 3512.4}, {"txs", 3600}, {"entities", 12345}},
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
	bySize := someReading
	bySize.Fraction = 0.25
	if got := bySize.line("sync", 200); !strings.Contains(got, "[==========                              ]   25.0%  9,000/14,131") {
		t.Error(got)
	}
	for _, r := range []Reading{{}, {Done: 5, Total: 5}} {
		if line := r.line("check", 100); strings.Contains(line, "NaN") {
			t.Error(line)
		}
	}
}

// Overflow is shown if there is some, and not at the tip.
func TestOverflowIsShown(t *testing.T) {
	r := someReading
	r.Overflow = Overflow{Bytes: 1_288_490_188, ReadsPerTx: 0.421}
	if got := r.line("sync", 200); !strings.HasSuffix(got, "  bottleneck: resolve  overflow 1.2 GiB, 0.4 reads/tx") {
		t.Error(got)
	}
	const want = " bottleneck resolve overflow_bytes 1288490188 overflow_reads_per_tx 0.42]"
	if got := fmt.Sprint(r.Attrs()); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s at its end", got, want)
	}
	r.Phase = "at the tip"
	if got := r.line("sync", 200) + fmt.Sprint(r.Attrs()); strings.Contains(got, "overflow") {
		t.Error(got)
	}
}

// A log in JSON can be graphed: figures are numbers.
func TestFiguresOfTheLogAreNumbers(t *testing.T) {
	attrs := someReading.Attrs()
	for i := 0; i < len(attrs); i += 2 {
		switch v := attrs[i+1].(type) {
		case uint64, int64, float64, time.Duration:
		default:
			if attrs[i] != "bottleneck" {
				t.Errorf("%v is %T", attrs[i], v)
			}
		}
	}
}

func TestLogLineHasSyncProgress(t *testing.T) {
	got := fmt.Sprint(someReading.Attrs())
	const want = "[done 9000 total 14131 percent 63.7 blocks_per_s 3512 txs_per_s 3600 entities_per_s 12345 left 1m30s bottleneck resolve]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNothingIsLoggedAtTheTipWhileNothingComes(t *testing.T) {
	var told []uint64
	tell := unlessIdle(func(r Reading) { told = append(told, r.Done) })
	for _, r := range []Reading{{Done: 7, Total: 9}, {Done: 7, Total: 9}, {Done: 9, Total: 9}, {Done: 9, Total: 9}, {Done: 9, Total: 9}, {Done: 10, Total: 10}, {Done: 10, Total: 10}, {Done: 10, Total: 11}} {
		tell(r)
	}
	if want := []uint64{7, 7, 9, 10, 10}; !slices.Equal(told, want) {
		t.Errorf("told %d, expected %d", told, want)
	}
}

func TestPaceEstimatesTimeLeft(t *testing.T) {
	start := time.Unix(0, 0)
	p := Pace{"rows", start, func() time.Time { return start.Add(10 * time.Second) }}
	r := p.Reading(100, 400)
	if r.Left != 30*time.Second || r.Rates[0].PerSecond != 10 {
		t.Errorf("%+v", r)
	}
	if r := p.Reading(0, 0); r.Left != 0 || r.percent() != 0 {
		t.Errorf("before it began: %+v", r)
	}
}

// Log lines are separate from the bar.
func TestLogAndBarDoNotMix(t *testing.T) {
	var b strings.Builder
	c := &Console{w: &b, drawn: "sync"}
	fmt.Fprintln(c, "a line")
	fmt.Fprintln(c, "another")
	if got, want := b.String(), clearLine+"a line\nanother\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortCommandsLogNothing(t *testing.T) {
	var b strings.Builder
	c := NewConsole(&b)
	stop := c.Watch(c.Log(), "sync", func() Reading { return someReading })
	stop()
	stop()
	if b.Len() > 0 {
		t.Errorf("logged %q", b.String())
	}
}

// A quiet console shows neither progress nor messages below warnings, on a terminal and elsewhere.
func TestAQuietConsoleShowsWarningsOnly(t *testing.T) {
	for _, term := range []*os.File{nil, os.Stderr} {
		var b strings.Builder
		con := &Console{w: &b, term: term}
		log := con.Log()
		con.Quiet()
		read := false
		con.Watch(log, "sync", func() Reading { read = true; return someReading })()
		log.Info("compacting the database")
		if b.Len() > 0 || con.bars != 0 || read {
			t.Errorf("terminal %v: %q, %d bars", term != nil, b.String(), con.bars)
		}
		log.Warn("the node is away")
		if strings.Count(b.String(), "\n") != 1 || !strings.Contains(b.String(), "the node is away") {
			t.Errorf("terminal %v: %q", term != nil, b.String())
		}
	}
}

// On a terminal the log is lines for people, above the bar, and the bar stands for everything below a warning.
func TestTheLogOnATerminalIsForPeople(t *testing.T) {
	var b strings.Builder
	con := &Console{w: &b, term: os.Stderr}
	log := con.Log()
	log.Info("the source is back", "after", 2*time.Second)
	con.begin()
	log.Info("compacting the database")
	log.With("chain", "bitcoin").WithGroup("source").Warn("the node is away", "error", errors.New("connection refused"))
	con.end()
	log.Error("the disk is full")
	log.Debug("nobody reads this")
	const want = "birthmark: the source is back (after 2s)\n" +
		"birthmark: warning: the node is away (chain bitcoin, source.error connection refused)\n" +
		"birthmark: error: the disk is full\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
