// Package testrun has helpers for tests that write databases or take long. [Main] is for TestMain.
package testrun

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gcPercent replaces Go's default of 100. The heaps of tests are small, so that a collection every few megabytes took a
// fifth of the CPU time.
const gcPercent = 400

// reserve counts as heap, so that a process collects garbage at gcPercent of it at the earliest. It is not touched and
// takes no memory.
//
//lint:ignore U1000 it only has to exist
var reserve []byte

// Programs of tests that import this package collect garbage less often, as do the processes that they start. GOGC
// replaces this setting. Without -memprofile they take no samples of the heap, which took 4% of the CPU time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		os.Setenv("GOGC", strconv.Itoa(gcPercent))
		reserve = make([]byte, 32<<20)
	}
	if !slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.memprofile") }) {
		runtime.MemProfileRate = 0
	}
}

// Main runs the tests and ends the process. Temporary folders of the tests are in memory if there is enough room: on a
// disk, databases spend most of their time in fsync. TMPDIR replaces this setting. The functions in after run when the
// tests have ended.
func Main(m *testing.M, after ...func()) {
	dir := memoryDir()
	if dir != "" {
		os.Setenv("TMPDIR", dir)
	}
	code := m.Run()
	for _, end := range after {
		end()
	}
	if dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// Slow skips a slow test in the inner loop, go test -short.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: not with -short")
	}
}

// Amount returns how many rounds, blocks or rows a test uses: full, and with -short the smaller number.
func Amount(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

// Rounds returns BIRTHMARK_ROUNDS, how many rounds a random test has, or usual if it is not set.
func Rounds(t testing.TB, usual int) int {
	t.Helper()
	return variable(t, "BIRTHMARK_ROUNDS", usual, strconv.Atoi)
}

// Requests returns BIRTHMARK_REQUESTS, how many requests a test that follows the texts of answers sends at most, or usual
// if it is not set. With a million, tests of real blocks send all of them.
func Requests(t testing.TB, usual int) int {
	t.Helper()
	return variable(t, "BIRTHMARK_REQUESTS", usual, strconv.Atoi)
}

// Soak returns BIRTHMARK_SOAK, how long a test repeats that can run for long: 1h. It returns 0 if it is not set.
func Soak(t testing.TB) time.Duration {
	t.Helper()
	return variable(t, "BIRTHMARK_SOAK", 0, time.ParseDuration)
}

// variable returns an environment variable, or usual if it is not set. The test ends if it is not a positive value.
func variable[N int | time.Duration](t testing.TB, name string, usual N, parse func(string) (N, error)) N {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := parse(text)
	if err == nil && n <= 0 {
		err = strconv.ErrRange
	}
	if err != nil {
		t.Fatalf("%s %q: %v", name, text, err)
	}
	return n
}

// TempDir returns a folder for a test, as [testing.TB.TempDir] does, in memory if there is enough room.
func TempDir(t testing.TB) string {
	t.Helper()
	dir := memoryDir()
	if dir == "" {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// memoryDir creates a folder in memory. It returns "" if TMPDIR is set or if there is no file system with enough room.
func memoryDir() string {
	const shm, least = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(shm, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < least {
		return ""
	}
	dir, err := os.MkdirTemp(shm, "birthmark-test-")
	if err != nil {
		return ""
	}
	return dir
}
