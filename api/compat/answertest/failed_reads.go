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
// exist. Then the request has its first answer again.
func FailedReads(t testing.TB, store *storetest.Faulty, answer func(string) (int, []byte), targets []string) {
	t.Helper()
	ask := func(target string) (int, []byte) {
		status, body := answer(target)
		return status, []byte(normal(string(body))) // without the current time
	}
	rng := testseed.Rand(t)
	defer store.FailAt(0)
	failed, faults := 0, 0
	for _, i := range rng.Perm(len(targets))[:min(len(targets), testrun.Amount(1500, 150))] {
		target := targets[i]
		store.FailAt(0)
		status, body := ask(target)
		steps := store.Steps()
		if steps == 0 {
			continue // the answer was in a cache
		}
		at := 1 + rng.IntN(steps)
		store.FailAt(at)
		store.Panics(rng.IntN(2) == 0)
		failedStatus, failedBody := ask(target)
		store.FailAt(0)
		againStatus, again := ask(target)
		if againStatus != status || !bytes.Equal(again, body) {
			from := DifferAt(again, body)
			t.Errorf("%s: after read %d of %d failed, the answer is %d …%.300s, before it was %d …%.300s",
				target, at, steps, againStatus, again[from:], status, body[from:])
			continue
		}
		switch {
		case failedStatus >= http.StatusInternalServerError:
			failed++
		case failedStatus != status || !bytes.Equal(failedBody, body):
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
	t.Logf("%d requests failed with their read", failed)
}

// DifferAt returns an offset before the first difference.
func DifferAt(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return max(0, n-100)
}
