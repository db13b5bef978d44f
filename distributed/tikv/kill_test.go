package tikv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"birthmark/distributed/cluster"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage"
)

// kills returns BIRTHMARK_KILLS, the number of kills of a test, or usual if it is not set.
func kills(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("BIRTHMARK_KILLS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("BIRTHMARK_KILLS: %v", err)
	}
	return n
}

// startGenerations creates a database of generation 1.
func startGenerations(t *testing.T, c *cluster.Cluster) (url string) {
	t.Helper()
	url = c.URL()
	s, err := openGenerations(t.Context(), url, Options{Purpose: t.Name()}, func(*Config) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGeneration(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return url
}

// events are the numbers of the moments of an update at which a test stops it: all of a transaction, and with -short or
// in parts a random choice.
func events(t *testing.T, mode string) (at []int) {
	last := 10
	if mode == "in parts" {
		last = 100 // about 12 parts of the log, as many of the update, seal and publish: a prewrite and a commit each
	}
	rng := testseed.Rand(t)
	for _, i := range rng.Perm(last)[:min(last, kills(t, testrun.Amount(12, 4)))] {
		at = append(at, i+1)
	}
	return at
}

// A writer that is killed at any request of an update leaves the generation before or after it. Readers and the next
// writer see that generation.
func TestWriterKilledAtEveryRequest(t *testing.T) {
	c := cluster.Shared(t)
	for _, mode := range []string{"one transaction", "in parts"} {
		for _, at := range events(t, mode) {
			t.Run(fmt.Sprintf("%s, event %d", mode, at), func(t *testing.T) {
				t.Parallel()
				url := startGenerations(t, c)
				w := startWriter(t, url, mode, at, syscall.SIGKILL)
				written := 1
				for line := range w.lines {
					if strings.HasPrefix(line, "written") {
						written = 2
					} else if !strings.HasPrefix(line, "opened") {
						t.Errorf("the writer printed %q", line)
					}
				}
				_ = w.wait()
				wantGeneration(t, url, Options{ReadOnly: true}, written, 2)
				n := wantGeneration(t, url, Options{Purpose: t.Name()}, written, 2)
				wantGeneration(t, url, Options{ReadOnly: true}, n, n)
			})
		}
	}
}

// wantGeneration opens the database, wants a generation between min and max, and returns it. A writer writes the next.
func wantGeneration(t *testing.T, url string, o Options, minimum, maximum int) int {
	t.Helper()
	s, err := openGenerations(t.Context(), url, o, func(*Config) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, err := viewGeneration(t.Context(), s)
	if err != nil || n < minimum || n > maximum {
		t.Fatalf("generation %d, %v, want %d to %d", n, err, minimum, maximum)
	}
	if o.ReadOnly {
		return n
	}
	if err := writeGeneration(t.Context(), s, n+1); err != nil {
		t.Fatal(err)
	}
	return n + 1
}

// A writer is stopped at any request of an update, while another writer takes over and writes. When it continues, it
// changes nothing and reports the writer that took over.
func TestStoppedWriterIsFenced(t *testing.T) {
	c := cluster.Shared(t)
	for _, mode := range []string{"one transaction", "in parts"} {
		for _, at := range events(t, mode) {
			t.Run(fmt.Sprintf("%s, event %d", mode, at), func(t *testing.T) {
				t.Parallel()
				url := startGenerations(t, c)
				old := startWriter(t, url, mode, at, syscall.SIGSTOP)
				if !old.stopped(t) {
					wantGeneration(t, url, Options{ReadOnly: true}, 2, 2) // the update has fewer events
					return
				}
				s, err := openGenerations(t.Context(), url, Options{Purpose: "the new writer"}, func(c *Config) { c.TakeOver = true })
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				n, err := viewGeneration(t.Context(), s)
				if err != nil || n != 1 && n != 2 {
					t.Fatalf("generation %d, %v, want 1 or 2", n, err)
				}
				n++
				if err := writeGeneration(t.Context(), s, n); err != nil {
					t.Fatal(err)
				}
				if err := old.cmd.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				last := ""
				for line := range old.lines {
					last = line
				}
				_ = old.wait()
				fenced := strings.HasPrefix(last, "locked: ") && strings.Contains(last, "the new writer")
				if written := last == "written 2"; !fenced && !(written && n == 3) {
					// A pause longer than the client's retries ends the request before the store rejects it.
					if !strings.HasPrefix(last, "failed: ") || !strings.Contains(last, "unavailable") {
						t.Errorf("the old writer ended with %q; the new one wrote generation %d", last, n)
					}
					t.Logf("the old writer ended with %q", last)
				}
				if again, err := viewGeneration(t.Context(), s); err != nil || again != n {
					t.Errorf("generation %d, %v, want %d", again, err, n)
				}
				if err := writeGeneration(t.Context(), s, n+1); err != nil {
					t.Error(err)
				}
				wantGeneration(t, url, Options{ReadOnly: true}, n+1, n+1)
			})
		}
	}
}

// reading runs readers until stop is called, which returns the number of complete reads. Torn states and older states
// are errors.
func reading(t *testing.T, url string, readers int) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var reads atomic.Int64
	var wg sync.WaitGroup
	for range readers {
		s, err := openGenerations(t.Context(), url, Options{ReadOnly: true}, func(*Config) {})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer s.Close()
			for last := 0; ctx.Err() == nil; {
				err := s.poll(ctx)
				n := 0
				if err == nil {
					n, err = viewGeneration(ctx, s)
				}
				if ctx.Err() != nil {
					return
				}
				if err != nil && strings.Contains(err.Error(), "unavailable") {
					continue // the cluster was away for longer than the client retries
				}
				if err != nil || n < last {
					t.Errorf("a reader sees generation %d after %d, %v", n, last, err)
					return
				}
				last = n
				reads.Add(1)
			}
		})
	}
	return func() int {
		cancel()
		wg.Wait()
		return int(reads.Load())
	}
}

// Writers are killed at random, and every third time another one takes over during an update. Readers see complete
// generations in order. No generation that a writer reported is lost.
func TestWritersKilledAtRandom(t *testing.T) {
	testrun.Slow(t)
	c := cluster.Shared(t)
	url, rng := startGenerations(t, c), testseed.Rand(t)
	stop := reading(t, url, 3)
	known, fenced, killed := 1, 0, 0
	for round := range kills(t, 6) {
		mode := []string{"in parts", "one transaction"}[rng.IntN(4)/3]
		w := startWriter(t, url, mode, 0, 0)
		heard, opened := make(chan int, 1), make(chan struct{})
		go func() {
			open := sync.OnceFunc(func() { close(opened) })
			defer open()
			last := 0
			for line := range w.lines {
				what, text, _ := strings.Cut(line, " ")
				n, _ := strconv.Atoi(text)
				switch open(); what {
				case "opened", "written":
					last = n
				case "locked:":
					last = -1 - last // fenced after that generation
				default:
					t.Errorf("round %d: the writer printed %q", round, line)
				}
			}
			heard <- last
		}()
		time.Sleep(time.Duration(50+rng.IntN(1750)) * time.Millisecond)
		if round%3 == 2 {
			<-opened // a writer that opens later takes over from the other
			other := takeOverAndWrite(t, url)
			n := <-heard // the fenced writer ends
			_ = w.wait()
			if n < 0 {
				fenced++
				n = -1 - n
			} else if n != 0 {
				t.Errorf("round %d: the writer that was replaced ended without an error", round)
			}
			if n >= other {
				t.Errorf("round %d: the old writer reported generation %d, the new one wrote %d", round, n, other)
			}
			known = max(known, other)
			continue
		}
		killed++
		w.kill()
		if n := <-heard; n != 0 && n < known {
			t.Errorf("round %d: the writer had generation %d, another one had reported %d", round, n, known)
		} else {
			known = max(known, n)
		}
	}
	last := wantGeneration(t, url, Options{Purpose: t.Name()}, known, known+1)
	reads := stop()
	t.Logf("%d kills, %d writers fenced, %d generations, %d whole reads", killed, fenced, last, reads)
	if reads == 0 {
		t.Error("no read completed")
	}
}

// takeOverAndWrite takes over from a writer at work and writes a generation, which it returns.
func takeOverAndWrite(t *testing.T, url string) int {
	t.Helper()
	s, err := openGenerations(t.Context(), url, Options{Purpose: t.Name()}, func(c *Config) { c.TakeOver = true })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, err := viewGeneration(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGeneration(t.Context(), s, n+1); err != nil {
		t.Fatal(err)
	}
	return n + 1
}

// The placement driver and the store are killed while a writer and readers use them. These continue without a restart.
func TestClusterKilled(t *testing.T) {
	testrun.Slow(t)
	c := cluster.Own(t, 1<<20)
	url, rng := startGenerations(t, c), testseed.Rand(t)
	stop := reading(t, url, 2)
	s, err := openGenerations(t.Context(), url, Options{Purpose: t.Name()}, inPieces)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan int, 1)
	go func() {
		n := 1
		for ctx.Err() == nil {
			if err := writeGeneration(ctx, s, n+1); err != nil {
				// A write that was canceled while the cluster was unavailable may have been applied.
				if ctx.Err() == nil {
					t.Errorf("writing generation %d: %v", n+1, err)
				}
				break
			}
			n++
		}
		written <- n
	}()
	for round := range max(2, kills(t, 30)/10) { // each takes up to half a minute
		time.Sleep(time.Duration(200+rng.IntN(1500)) * time.Millisecond)
		kill, what := c.KillStore, "the store"
		if round%2 == 1 {
			kill, what = c.KillPD, "the placement driver"
		}
		if err := kill(time.Duration(rng.IntN(1500)) * time.Millisecond); err != nil {
			t.Fatalf("restarting %s: %v", what, err)
		}
	}
	cancel()
	n := <-written
	reads := stop()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	last := wantGeneration(t, url, Options{Purpose: t.Name()}, n, n+1)
	t.Logf("%d generations, %d whole reads", last, reads)
	if n < 2 || reads == 0 {
		t.Errorf("%d generations were written, %d read", n, reads)
	}
}

// A second process cannot replace a writer by accident.
func TestSecondWriterIsRefused(t *testing.T) {
	c := cluster.Shared(t)
	url := startGenerations(t, c)
	s := open(t, url, func(*Config) {})
	_, err := openGenerations(t.Context(), url, Options{Purpose: "second"}, func(*Config) {})
	var locked *storage.LockedError
	if !errors.As(err, &locked) || !strings.Contains(locked.Holder, t.Name()) {
		t.Errorf("a second writer: %v, want an error that names the first", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantGeneration(t, url, Options{Purpose: "third"}, 1, 1)
}
