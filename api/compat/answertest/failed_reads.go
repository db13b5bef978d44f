package answertest

import (
	"bytes"
	"net/http"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage/storetest"
)

// FailedReads repeats a sample of requests while one read of the store fails or panics. The answer must be the same,
// because the read was not needed, or an error of the server: never a shorter list, and never that something does not
// exist. Then the request has its first answer again. The sample has as many requests of each kind, so that it has the rare
// ones.
func FailedReads(t testing.TB, store *storetest.Faulty, answer func(string) (int, []byte), targets []string) {
	t.Helper()
	rng := testseed.Rand(t)
	defer store.FailAt(0)
	kinds := map[string]int{}
	asked, failed, faults := 0, 0, 0
	for _, i := range rng.Perm(len(targets)) {
		target := targets[i]
		kind := kindOf(target)
		if asked == testrun.Amount(1500, 150) || kinds[kind] == testrun.Amount(40, 10) {
			continue
		}
		store.FailAt(0)
		status, body := answer(target)
		steps := store.Steps()
		if steps == 0 {
			continue // the answer was in a cache
		}
		asked++
		kinds[kind]++
		at := 1 + rng.IntN(steps)
		store.FailAt(at)
		store.Panics(rng.IntN(2) == 0)
		failedStatus, failedBody := answer(target)
		store.FailAt(0)
		againStatus, again := answer(target)
		if againStatus != status || !sameAnswer(again, body) {
			from := DifferAt(again, body)
			t.Errorf("%s: after read %d of %d failed, the answer is %d …%.300s, before it was %d …%.300s",
				target, at, steps, againStatus, again[from:], status, body[from:])
			continue
		}
		switch {
		case failedStatus >= http.StatusInternalServerError:
			failed++
		case failedStatus != status || !sameAnswer(failedBody, body):
			if faults++; faults <= shown {
				from := DifferAt(failedBody, body)
				t.Errorf("%s: if read %d of %d fails, the answer is %d …%.300s, otherwise %d …%.300s",
					target, at, steps, failedStatus, failedBody[from:], status, body[from:])
			}
		}
	}
	if failed == 0 {
		t.Error("no read failed")
	}
	if faults > shown {
		t.Errorf("%d answers hide that a read failed", faults)
	}
	t.Logf("%d requests of %d kinds, %d failed with their read", asked, len(kinds), failed)
}

// sameAnswer reports whether two answers are equal except for the current time.
func sameAnswer(a, b []byte) bool { return bytes.Equal(a, b) || normal(string(a)) == normal(string(b)) }

// DifferAt returns an offset before the first difference.
func DifferAt(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return max(0, n-100)
}
