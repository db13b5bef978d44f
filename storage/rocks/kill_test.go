package rocks_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage/rocks"
)

// After the writer is killed at any time, all families are at the same Update. With the WAL it is the last finished one
// or the next; without the WAL it is not before the last durable one.
func TestKilledWriterLeavesOneMoment(t *testing.T) {
	rounds := testrun.Amount(5, 3)
	on := func(*rand.Rand) bool { return true }
	off := func(*rand.Rand) bool { return false }
	either := func(rng *rand.Rand) bool { return rng.IntN(2) == 0 }
	for name, c := range map[string]struct {
		wal  func(*rand.Rand) bool
		bulk string
	}{
		"WAL":                     {on, "never"},
		"no WAL":                  {off, "never"},
		"now one, now other":      {either, "never"},
		"bulk":                    {on, "always"},
		"WAL, some of them bulk":  {on, "sometimes"},
		"no WAL, some of it bulk": {off, "sometimes"},
		"anything":                {either, "sometimes"},
	} {
		if testing.Short() && name != "anything" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng, dir, n := testseed.Rand(t), t.TempDir(), 0
			for round := 0; round < rounds || n == 0 && round < 20*rounds; round++ { // short runs may leave nothing
				n = killRound(t, rng, dir, c.wal(rng), c.bulk, n)
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
			if n == 0 {
				t.Errorf("nothing was written in %d rounds", 20*rounds)
			}
		})
	}
}

// killRound runs a writer on the database, which is at Update n, kills it and returns the Update of the database.
func killRound(t *testing.T, rng *rand.Rand, dir string, wal bool, bulk string, n int) int {
	t.Helper()
	w := start(t, "writer", dir, strconv.FormatBool(wal), strconv.FormatUint(rng.Uint64(), 10), "steady", bulk)
	finished, durable := n, n
	note := func(line string) {
		if text, ok := strings.CutPrefix(line, "durable "); ok {
			durable, _ = strconv.Atoi(text)
		} else if line != "ready" {
			finished, _ = strconv.Atoi(line)
		}
	}
	pause := time.Duration(rng.Int64N(int64(5 * time.Millisecond)))
	if rng.IntN(4) == 0 {
		pause *= 10 // for start, open and recovery
	} else {
		for range 1 + rng.IntN(120) {
			note(w.line())
		}
	}
	time.Sleep(pause)
	for _, line := range w.kill() {
		note(line)
	}
	if wal {
		durable = finished
	}

	s, err := rocks.Open(dir, small(rng.IntN(2) == 0))
	if err != nil {
		t.Errorf("killed after update %d: %v", finished, err)
		return 0
	}
	defer s.Close()
	if err := declare(s, families); err != nil {
		t.Error(err)
		return 0
	}
	now, _, err := moment(s, families)
	if err != nil {
		t.Errorf("killed after update %d: %v", finished, err)
	}
	if now < durable || now > finished+1 {
		t.Errorf("killed after update %d, of which %d was durable, the database is at %d", finished, durable, now)
	}
	return now
}

// A partially created database can be opened.
func TestKilledWhileMakingADatabase(t *testing.T) {
	rng := testseed.Rand(t)
	for range testrun.Amount(20, 3) {
		dir := t.TempDir()
		c := start(t, "holder", dir, "its maker")
		time.Sleep(time.Duration(rng.Int64N(int64(40 * time.Millisecond))))
		c.kill()
		left := names(t, dir)
		s, err := rocks.Open(dir, small(true))
		if err != nil {
			t.Fatalf("with the files %q: %v", left, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
